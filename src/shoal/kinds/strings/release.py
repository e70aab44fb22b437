"""A release of strings: pseudo-strings, what was checked of them, and the folder that appears whole or not at all.

::

    out/
      publish/    the strings in the format they came in, manifest.json, datasheet.html
      private/    report.json, report.html, attacks.json; on request groups, and the statistics that strings were
                  drawn from
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from shoal._version import __version__
from shoal.check.guarantee import Guarantee
from shoal.check.strings.folder import asked_of, groups_files
from shoal.check.strings.near import NEAR_COPIES, near_originals
from shoal.check.strings.verify import StringEvidence, verify_strings
from shoal.data.strings.files import read_strings_back, string_file_name, write_strings
from shoal.data.strings.strings import Strings, StringSource
from shoal.errors import Infeasible, NotVerified
from shoal.held_out import HeldOut
from shoal.kernels.compile import has_compiled
from shoal.kinds.strings.manifest import StringManifest
from shoal.kinds.strings.policy import StringPolicy
from shoal.kinds.tables.manifest import FILE_NAME, checksum, checksums
from shoal.progress import Progress
from shoal.scratch import scratch_folder
from shoal.stage import refuse_failed, secrets_to_keep, staged
from shoal.strings.condense import SUPPRESSED_BECAUSE, Condensation, Segment
from shoal.told_counts import Count, public_reasons

if TYPE_CHECKING:
    from shoal.attack.attack import Attacked
    from shoal.attack.cases import StringCase
    from shoal.check.strings.verbatim import Verbatim
    from shoal.strings.statistics import GroupStatistics
    from shoal.utility.strings.classification import Accuracy
    from shoal.utility.strings.measure import StringUtility

KEEPABLE = ("groups", "statistics")
STATISTICS_FILE = "statistics.npz"
COPIES = "copies"
N_ROUNDS = 20  # of drawing a few near copies again
MANY_COPIES = 0.01  # of the draws: then what is missing, or stands there, tells of members
ATTACK_SECONDS, ATTACK_SEED = 60.0, 0
NEARLY_COPIES = 0.5  # of a string stands verbatim in an original
MOST_ORIGINAL_SYMBOLS, MOST_PUBLISHED_SYMBOLS = 20_000_000, 5_000_000  # about half a minute
REASONS = dict(
    zip(SUPPRESSED_BECAUSE, ("kept", "empty", "rare_symbols", "small_class", "length"), strict=True),
)


@dataclass(frozen=True)
class StringRelease:
    """What `anonymize` gives back for strings. Nothing is on disk before `save`.

    Attributes
    ----------
    strings : Strings
        What would be published, as it was read back from the bytes that would be written.
    guarantees : tuple of Guarantee
        Recomputed from those bytes, the original and the groups, by the independent checker; all hold.
    policy : StringPolicy
        What was asked for.
    notes : tuple of str
        What the user should know, a sentence each.
    suppressed : mapping of str to int
        How many strings were left out, by the reason: "empty", "rare_symbols", "small_class", "length", or "copies"
        where every draw equalled an original, or was one of a few near copies. Reasons that did not occur are not
        there.
    n_groups : int
        Number of groups that pseudo-strings were drawn from.
    n_rejected : int
        How many draws equalled an original, or were one of a few near copies, and were made again.
    """

    strings: Strings
    guarantees: tuple[Guarantee, ...]
    policy: StringPolicy
    notes: tuple[str, ...]
    suppressed: Mapping[str, int]
    n_groups: int
    n_rejected: int
    _original: Strings = field(repr=False)
    _evidence: StringEvidence = field(repr=False)
    _reasons: npt.NDArray[np.int8] = field(repr=False)
    _segments: tuple[Segment, ...] = field(repr=False)
    _statistics: GroupStatistics = field(repr=False)
    _checksum: str = field(repr=False)
    _like: Any = field(default=None, repr=False)
    _held_out: HeldOut[Strings] | None = field(default=None, repr=False)

    @property
    def data(self) -> Any:
        """The pseudo-strings as the kind that came in: `Strings`, or a list of str or of lists of tokens."""
        return self.strings if isinstance(self._like, Strings) else self.strings.texts()

    @property
    def records(self) -> dict[str, int]:
        """How many strings came in, went out and were suppressed, and how many were held out before."""
        n_in, n_out = len(self._original), len(self.strings)
        held = {} if self._held_out is None else self._held_out.counts
        return {"in": n_in, "out": n_out, "suppressed": n_in - n_out, **held}

    @property
    def case(self) -> StringCase:
        """What attacks work on; for the owner alone."""
        from shoal.attack.cases import StringCase

        control = None if self._held_out is None else self._held_out.records
        return StringCase(self.strings, self._original, control)

    @cached_property
    def attacked(self) -> Attacked[StringCase] | None:
        """What attacks get out of the release, if strings were held out to compare with."""
        from shoal.attack.folder import attack_case

        if self._held_out is None:
            return None
        return attack_case("strings", self.case, seed=ATTACK_SEED, seconds=ATTACK_SECONDS)

    @cached_property
    def utility(self) -> StringUtility:
        """What the protection cost; see `shoal.utility.strings`."""
        from shoal.utility.strings.measure import measure_strings

        groups, original_groups = self._evidence.published_groups, self._evidence.original_groups
        assert groups is not None
        assert original_groups is not None
        return measure_strings(self._original, original_groups, self.strings, groups)

    @cached_property
    def learning(self) -> tuple[Accuracy, ...]:
        """How well classifiers tell the classes; () where there are none, or too few strings to hold some out."""
        from shoal.kinds.strings.learning import learn_classes

        return learn_classes(self._original, self.policy)

    @cached_property
    def verbatim(self) -> Verbatim:
        """How long the runs are that stand verbatim in an original, beside originals against one another.

        Of very large data on samples of both, as `Verbatim` then tells by its numbers of strings.
        """
        from shoal.check.strings.verbatim import verbatim
        from shoal.utility.strings.measure import sample

        rng = np.random.default_rng(0)
        original = sample(self._original, MOST_ORIGINAL_SYMBOLS, rng)
        return verbatim(sample(self.strings, MOST_PUBLISHED_SYMBOLS, rng), original)

    @property
    def verbatim_sentence(self) -> str:
        """The same in plain words."""
        ours, control = self.verbatim.published, self.verbatim.control
        told = (
            f"The longest run that a pseudo-string shares with an original is {ours.mean:.1f} symbols on average, "
            f"{ours.percentile_95:.0f} or less in 95 of 100, {ours.longest:,} at most; originals among themselves: "
            f"{control.mean:.1f}, {control.percentile_95:.0f} and {control.longest:,}."
        )
        if not self.verbatim.is_no_worse:
            return f"{told} That is more than originals share with one another: raise support, or lower the order."
        if ours.longest_share > NEARLY_COPIES:
            return (
                f"{told} That is {100 * ours.longest_share:.0f} % of a string on average: the originals are so much "
                "alike that pseudo-strings are near copies of them."
            )
        return told

    @property
    def original_lengths(self) -> npt.NDArray[np.int64]:
        """The lengths of the originals; for the owner alone."""
        return self._original.lengths

    @property
    def told_counts(self) -> tuple[dict[str, Count], dict[str, Count]]:
        """The numbers of records, and those of suppressed ones by the reason, as they are told in public."""
        return public_reasons(self.records, self.suppressed, self.policy.k)

    @property
    def suppressed_sentence(self) -> str:
        """What was suppressed and why, in plain words."""
        return suppressed_sentence(self.suppressed, self.records["in"], self.policy)

    @property
    def suppressed_lengths(self) -> tuple[int, int] | None:
        """The range of the lengths of strings that were left out for their length; for the owner alone."""
        reason = SUPPRESSED_BECAUSE.index("length")
        lengths = self._original.lengths[self._reasons == reason]
        return (int(lengths.min()), int(lengths.max())) if len(lengths) else None

    def save(self, out: str | Path, keep: Sequence[str] = (), *, report: bool = True) -> Path:
        """Write `publish/` and `private/`.

        Parameters
        ----------
        out : path
            A folder that does not exist yet, or is empty.
        keep : sequence of {"groups", "statistics"}
            Secrets to keep in `private/`: which strings stood together, and the statistics, to draw again from.
        report : bool
            Whether to measure what the protection cost and to write report.json and report.html into `private/`; else
            nothing is measured, drawn or attacked, and `publish/` is the same.
        """
        from shoal.attack.kept import keep_first
        from shoal.report.content import write_report
        from shoal.report.strings.report import report_content

        keep = secrets_to_keep(keep, KEEPABLE)
        with staged(Path(out)) as stage:
            self._write_publish(stage / "publish")
            self._write_private(stage / "private", keep)
            if report and self.attacked is not None:
                keep_first(stage, self.attacked, self.case.granted, ATTACK_SEED)
            if report:
                write_report(stage / "private", report_content(self))
        return Path(out)

    def _write_publish(self, folder: Path) -> None:
        from shoal.report.strings.datasheet import render_string_datasheet

        folder.mkdir()
        data = string_file_name(self.strings)
        write_strings(self.strings, folder / data)
        if checksum(folder / data) != self._checksum:  # not the bytes that were checked, so they are checked now
            _verify_file(folder / data, self.strings, self.policy, self._evidence)
        (folder / "datasheet.html").write_text(render_string_datasheet(self), encoding="utf-8")
        told, reasons = self.told_counts
        manifest = StringManifest(
            version=__version__,
            data=data,
            source=self.strings.source,
            has_classes=self.strings.labels is not None,
            policy=self.policy,
            records=told,
            suppressed=reasons,
            guarantees=tuple(g.to_dict() for g in self.guarantees),
            checksums=checksums(folder, [data, "datasheet.html"]),
            near_copies=next(int(g.achieved) for g in self.guarantees if g.model == NEAR_COPIES),
        )
        (folder / FILE_NAME).write_text(manifest.to_json(), encoding="utf-8")

    def _write_private(self, folder: Path, keep: Sequence[str]) -> None:
        folder.mkdir(mode=0o700)
        if "groups" in keep:
            for name, text in groups_files(self._evidence).items():
                (folder / name).write_text(text, encoding="utf-8")
        if "statistics" in keep:
            self._statistics.save(folder / STATISTICS_FILE)
        if self._held_out is not None:
            self._held_out.keep(folder)
        for path in folder.iterdir():
            path.chmod(0o600)

    def _repr_html_(self) -> str:
        rows = "".join(f"<li>{escape(g.sentence)}</li>" for g in self.guarantees)
        return f"<p><b>Release</b> of {len(self.strings):,} strings</p><ul>{rows}</ul>"


def release_strings(
    original: Strings,
    policy: StringPolicy,
    *,
    seed: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    like: Any = None,
    held_out: HeldOut[Strings] | None = None,
) -> StringRelease:
    """Condense strings, write them to a file of no name, and check what is read back from it.

    Raises
    ------
    Infeasible
        If no release of these strings has groups of k.
    NotVerified
        If the check does not confirm everything; then nothing is left of it.
    """
    notes = list(original.source.notes)
    method = policy.method
    original = replace(original, source=_published_source(original))
    condensation = Condensation(
        k=policy.k,
        eps=method.eps,
        order=method.order,
        support=method.support,
        lengths=method.lengths,
        seed=seed,
        homogenize=method.homogenize,
        rare=policy.rare,
        workers=1,
        copies=method.copies,
    )
    if progress is not None:
        progress(
            "grouping strings" if has_compiled() else "compiling (on the first run only), then grouping strings", 0, 0
        )
    condensation.fit_transform(original, executor=executor, progress=progress, note=notes.append)
    made, groups, n_near = _without_few_near_copies(condensation, original, policy, executor, notes.append)
    if not len(made):
        raise Infeasible(
            "every pseudo-string that was drawn equals an original, so nothing can be published; the strings are too "
            'much alike for their groups: lower the order, raise support or k, or ask for copies = "allow"'
        )
    if progress is not None:
        progress("checking the release", 0, 0)
    pseudo = condensation.pseudo_
    evidence = StringEvidence(
        original=original,
        original_groups=condensation.labels_.astype(np.int64),
        published_groups=groups.astype(np.int64),
        template_lengths=_lengths(condensation.segments_),
    )
    with scratch_folder() as scratch:
        path = scratch / string_file_name(made)
        write_strings(made, path)
        published, guarantees = _verify_file(path, made, policy, evidence)
        digest = checksum(path)
    counts = np.bincount(condensation.suppressed_, minlength=len(SUPPRESSED_BECAUSE)).tolist()
    suppressed = {name: n for name, n in zip(REASONS.values(), counts, strict=True) if n and name != "kept"}
    if pseudo.n_dropped + n_near:
        suppressed[COPIES] = pseudo.n_dropped + n_near
    return StringRelease(
        strings=published,
        guarantees=guarantees,
        policy=policy,
        notes=(*notes, *_told(condensation, policy)),
        suppressed=suppressed,
        n_groups=condensation.n_groups_,
        n_rejected=pseudo.n_rejected,
        _original=original,
        _evidence=evidence,
        _reasons=condensation.suppressed_,
        _segments=condensation.segments_,
        _statistics=condensation.statistics_,
        _checksum=digest,
        _like=like,
        _held_out=held_out,
    )


def _without_few_near_copies(
    condensation: Condensation,
    original: Strings,
    policy: StringPolicy,
    executor: Executor | None,
    note: Callable[[str], None],
) -> tuple[Strings, npt.NDArray[np.int32], int]:
    """Draw near copies again as long as they are fewer than k; the strings, their groups, and how many were left out.

    Where near copies are few they are accidents, each of which points at an original, and their number must not be
    told. Where they are many, strings are much alike; then they are left as they are drawn, since a whole neighbourhood
    kept clear around every original would tell who is in the data even better than a hole does.
    """

    def few(strings: Strings) -> npt.NDArray[np.bool_]:
        if policy.method.copies == "allow" or not len(strings):
            return np.zeros(len(strings), bool)
        is_near = near_originals(strings, original, policy.rare)
        return is_near if is_near.sum() < policy.k else np.zeros(len(strings), bool)

    made: Strings = condensation.pseudo_.strings
    is_near = few(made)
    for _ in range(N_ROUNDS):
        if not is_near.any():
            break
        made = condensation.draw_without(made.take(np.flatnonzero(is_near)), executor=executor, note=note)
        is_near = few(made)
    rows = np.flatnonzero(~is_near)
    return made.take(rows), condensation.pseudo_.groups[rows], int(is_near.sum())


def suppressed_sentence(suppressed: Mapping[str, int], n_in: int, policy: StringPolicy) -> str:
    """What was suppressed and why.

    >>> suppressed_sentence({"length": 3, "empty": 1}, 500, StringPolicy())
    '4 of 500 strings were suppressed: 1 is empty; 3 have lengths that fewer than 20 strings come near to (a factor \
of 2.5 is allowed).'
    """
    if not suppressed:
        return f"No string was suppressed: all {n_in:,} stand in a group."

    def told(name: str, one: str, many: str) -> str:
        n = suppressed.get(name, 0)
        return f"{n:,} {one if n == 1 else many}" if n else ""

    k, rare = policy.k, policy.rare
    near = f"that fewer than {k} strings come near to (a factor of {1 + policy.method.eps:g} is allowed)"
    parts = [
        told("empty", "is empty", "are empty"),
        told("small_class", f"is of a class of fewer than {k}", f"are of classes of fewer than {k}"),
        told(
            "rare_symbols",
            f"has only symbols that fewer than {rare} strings hold",
            f"have only symbols that fewer than {rare} strings hold",
        ),
        told("length", f"has a length {near}", f"have lengths {near}"),
        told(
            COPIES,
            "has no pseudo-string in its place, as every draw equalled an original or nearly did",
            "have no pseudo-strings in their place, as every draw equalled an original or nearly did",
        ),
    ]
    total = sum(suppressed.values())
    verb = "string was" if total == 1 else "strings were"
    return f"{total:,} of {n_in:,} {verb} suppressed: {'; '.join(filter(None, parts))}."


def _told(condensation: Condensation, policy: StringPolicy) -> list[str]:
    """Notes of the method."""
    notes = []
    n = condensation.n_rare_symbols_
    if n:
        which = "1 symbol" if n == 1 else f"{n:,} symbols"
        does = "taken out" if condensation.statistics_.is_tokens else "replaced by a neighbour"
        notes.append(
            f"{which} that fewer than {policy.rare} strings of a class hold, {does} before grouping, in "
            f"{condensation.n_rare_places_:,} places"
        )
    split = [s for s in condensation.segments_ if s.n_blocks > 1]
    if split:
        cost = max((s.split_cost or 0.0) for s in split)
        notes.append(
            f"{sum(s.n_strings for s in split):,} strings were split by nearness before grouping; by a sample, "
            f"distances to the middle of a group grew by about {100 * cost:.1f} % or less"
        )
    pseudo = condensation.pseudo_
    share = pseudo.n_rejected / max(pseudo.n_rejected + len(pseudo.strings), 1)
    if share > MANY_COPIES:
        notes.append(
            f"{100 * share:.0f} % of the draws equalled an original and were made again, as strings are much alike; a "
            "string that is missing among many near it was then probably in the data: raise k, look at the attack "
            '"holes", or ask for copies = "allow" if being in the data is the secret'
        )
    if policy.method.copies == "allow":
        notes.append(
            "copies are allowed: a pseudo-string may equal an original, also one that a single person holds; look at "
            'the attacks "copies" and "echoes"'
        )
    if policy.method.support == 1 and policy.method.order > 1:
        notes.append(
            "support = 1 lets a pseudo-string follow a single original for as long as it is alone; "
            "see the longest runs in the report, and consider support = 3"
        )
    return notes


def _lengths(segments: Sequence[Segment]) -> npt.NDArray[np.int64]:
    """The template length of each group."""
    return np.repeat(
        np.array([s.length for s in segments], dtype=np.int64), np.array([s.n_groups for s in segments], dtype=np.int64)
    )


def _published_source(strings: Strings) -> StringSource:
    """How strings are written that came from no file: as lines, or as a table's column where they have classes."""
    source = replace(strings.source, name="data", notes=())
    if source.format != "list":
        return source
    if strings.labels is None:
        return replace(source, format="tokens" if strings.is_tokens else "lines")
    return replace(
        source, format="column", column="string", class_column="class", delimiter=" " if strings.is_tokens else None
    )


def _verify_file(
    path: Path, made: Strings, policy: StringPolicy, evidence: StringEvidence
) -> tuple[Strings, tuple[Guarantee, ...]]:
    """Run the checker on the file as any reader would see it."""
    written = read_strings_back(path, made.source)
    if not _is_same(written.compact(), made.compact()):
        raise NotVerified("the written file does not read back as the strings that were made; nothing was published")
    verdict = verify_strings(written, asked_of(policy), evidence)
    refuse_failed(verdict)
    return replace(written.compact(), source=made.source), verdict.guarantees


def _is_same(one: Strings, other: Strings) -> bool:
    """Whether two sets of strings, both compact, agree in everything."""
    arrays = ((one.starts, other.starts), (one.symbols, other.symbols), (_labels(one), _labels(other)))
    return (
        (one.is_tokens, one.alphabet, one.classes) == (other.is_tokens, other.alphabet, other.classes)
        and (one.labels is None) == (other.labels is None)
        and all(np.array_equal(a, b) for a, b in arrays)
    )


def _labels(strings: Strings) -> npt.NDArray[np.int32]:
    return np.zeros(0, np.int32) if strings.labels is None else strings.labels
