"""A release of strings: pseudo-strings, and what was checked of them; see `shoal.release`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from shoal.check.guarantee import Guarantee
from shoal.check.strings.folder import asked_of
from shoal.check.strings.near import NEAR_COPIES, near_originals
from shoal.check.strings.verify import StringEvidence, verify_strings
from shoal.data.ragged import count_codes
from shoal.data.strings.files import read_strings_back, string_file_name, write_strings
from shoal.data.strings.on_disk import StringsOnDisk
from shoal.data.strings.strings import Strings, StringSource
from shoal.errors import NotVerified
from shoal.held_out import HeldOut
from shoal.kinds.strings.manifest import StringManifest
from shoal.kinds.strings.policy import StringPolicy
from shoal.kinds.strings.suppression import refuse_none, refuse_suppressed, suppressed_of, suppressed_sentence
from shoal.manifest import Manifest
from shoal.progress import Progress
from shoal.release import Pages, Release
from shoal.secrets import write_groups, write_lengths, write_published_groups
from shoal.stage import CheckedFile, checked_file, refuse_failed
from shoal.strings.condense import SUPPRESSED_BECAUSE, Condensation, Segment
from shoal.strings.homology import refuse_unaligned

if TYPE_CHECKING:
    from shoal.attack.strings.case import StringCase
    from shoal.check.strings.verbatim import Verbatim
    from shoal.kinds.strings.baselines import Baseline
    from shoal.strings.in_blocks import CondensationOnDisk
    from shoal.strings.statistics import GroupStatistics
    from shoal.utility.strings.classification import Accuracy
    from shoal.utility.strings.measure import StringUtility

STATISTICS_FILE = "statistics.npz"
N_ROUNDS = 20  # of drawing a few near copies again
NO_NEARER = 0.95  # of the distance to the middle of a random group
MANY_COPIES = 0.01  # of the draws: then what is missing, or stands there, tells of members
NEARLY_COPIES = 0.5  # of a string stands verbatim in an original
MOST_ORIGINAL_SYMBOLS, MOST_PUBLISHED_SYMBOLS = 20_000_000, 5_000_000  # about half a minute
LONG = 5000  # symbols; strings as long as that are alike over long runs, of which each takes its time
MOST_SYMBOLS_OF_LONG, CONTROL_SYMBOLS, FEWEST_CONTROL = 1_000_000, 300_000, 10


@dataclass(frozen=True)
class PublishedFacts:
    """What is counted of published strings.

    Attributes
    ----------
    alphabet : tuple of str
    counts : int64 array
        How often each symbol occurs.
    lengths, labels, classes, is_tokens, source
        As of `Strings`.
    """

    alphabet: tuple[str, ...]
    counts: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]
    labels: npt.NDArray[np.int32] | None
    classes: tuple[str, ...]
    is_tokens: bool
    source: StringSource

    @classmethod
    def of(cls, strings: Strings | StringsOnDisk) -> PublishedFacts:
        """Of strings with nothing but what occurs in their alphabet."""
        counts = (
            strings.counts()
            if isinstance(strings, StringsOnDisk)
            else count_codes(strings.symbols, len(strings.alphabet))
        )
        return cls(
            strings.alphabet,
            counts,
            np.asarray(strings.lengths),
            strings.labels,
            strings.classes,
            strings.is_tokens,
            strings.source,
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class StringRelease(Release[Strings]):
    """What `anonymize` gives back for strings. Nothing is on disk before `save`.

    Why strings were left out: "empty", "rare_symbols", "small_class", "length", or "copies" where every draw equalled
    an original, or was one of a few near copies.

    Attributes
    ----------
    n_groups : int
        Number of groups that pseudo-strings were drawn from.
    n_rejected : int
        How many draws equalled an original, or were one of a few near copies, and were made again.
    """

    kind: ClassVar[str] = "strings"
    noun: ClassVar[str] = "strings"
    keepable: ClassVar[tuple[str, ...]] = ("groups", "statistics")
    pages: ClassVar[Pages] = Pages.of("strings")

    n_groups: int
    n_rejected: int
    _evidence: StringEvidence = field(repr=False)
    _reasons: npt.NDArray[np.int8] = field(repr=False)
    _statistics: GroupStatistics = field(repr=False)

    @property
    def strings(self) -> Strings:
        """What would be published, as it was read back from the bytes that would be written."""
        return self.published

    @property
    def data(self) -> Any:
        """The pseudo-strings as the kind that came in: `Strings`, a frame, or a list of str or of lists of tokens."""
        if isinstance(self._like, Strings):
            return self.strings
        if self.strings.source.format == "matrix" and self._like is not None:
            from shoal.data.strings.formats.matrix import matrix_table
            from shoal.data.tables.frames import to_frame

            return to_frame(matrix_table(self.strings), self._like)
        return self.strings.texts()

    @property
    def case(self) -> StringCase:
        """What attacks work on; for the owner alone."""
        from shoal.attack.strings.case import StringCase

        return StringCase(self.strings, self._original, self._control, partial(drawn_again, self.policy))

    @cached_property
    def utility(self) -> StringUtility:
        """What the protection cost; see `shoal.utility.strings`."""
        from shoal.utility.strings.measure import measure_strings

        groups, original_groups = self._evidence.published_groups, self._evidence.original_groups
        assert groups is not None
        assert original_groups is not None
        return measure_strings(self._original, original_groups, self.strings, groups)

    @cached_property
    def baselines(self) -> tuple[Baseline, ...]:
        """The release beside other originals, a Markov chain and independent symbols; () where strings are few."""
        from shoal.kinds.strings.baselines import compare_with_baselines

        return compare_with_baselines(self._original, self.strings, self.policy.k, self.policy.method.support)

    @cached_property
    def learning(self) -> tuple[Accuracy, ...]:
        """How well classifiers tell the classes; () where there are none, or too few strings to hold some out."""
        from shoal.kinds.strings.learning import learn_classes

        return learn_classes(self._original, self.policy)

    @cached_property
    def verbatim(self) -> Verbatim:
        """How long the runs are that stand verbatim in an original, beside originals against one another.

        Of very large data, and of long strings, on samples of both, as `Verbatim` then tells by its numbers of strings.
        """
        from shoal.check.strings.verbatim import N_CONTROL, verbatim
        from shoal.utility.strings.measure import sample

        rng = np.random.default_rng(0)
        mean = len(self._original.symbols) / max(len(self._original), 1)
        most, n_control = (MOST_ORIGINAL_SYMBOLS, MOST_PUBLISHED_SYMBOLS), N_CONTROL
        if mean >= LONG:
            most, n_control = (MOST_SYMBOLS_OF_LONG,) * 2, max(int(CONTROL_SYMBOLS / mean), FEWEST_CONTROL)
        original = sample(self._original, most[0], rng)
        return verbatim(sample(self.strings, most[1], rng), original, n_control=n_control)

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
        return np.asarray(self._original.lengths)

    @cached_property
    def facts(self) -> PublishedFacts:
        """What is told of all that would be published."""
        return PublishedFacts.of(self.strings)

    @property
    def suppressed_sentence(self) -> str:
        """What was suppressed and why, in plain words."""
        return suppressed_sentence(self.suppressed, self.records["in"], self.policy)

    @property
    def suppressed_lengths(self) -> tuple[int, int] | None:
        """The range of the lengths of strings that were left out for their length; for the owner alone."""
        reason = SUPPRESSED_BECAUSE.index("length")
        lengths = self.original_lengths[self._reasons == reason]
        return (int(lengths.min()), int(lengths.max())) if len(lengths) else None

    def _told(self) -> dict[str, Any]:
        return {"groups": self.n_groups, "copies_drawn_again": self.n_rejected}

    def _measured(self) -> dict[str, Any]:
        return {**super()._measured(), "verbatim": self.verbatim.to_dict()}

    def _write_and_check(self) -> tuple[CheckedFile, tuple[Guarantee, ...]]:
        file, (_, guarantees) = _write_and_check(self.strings, self.policy, self._evidence)
        return file, guarantees

    def _manifest(self, **told: Any) -> Manifest:
        return StringManifest(
            **told,
            **StringManifest.reading(self.strings.source),
            classes=self.strings.labels is not None,
            require=tuple(r.model_dump() for r in self.policy.require),
            guarantees=StringManifest.claims(self.guarantees),
            method=self.policy.told(),
            suppressed_because=self.told_counts[1],
            near_copies=next(int(g.achieved) for g in self.guarantees if g.model == NEAR_COPIES),
        )

    def _keep(self, folder: Path, keep: Sequence[str]) -> None:
        if "groups" in keep:
            groups, original_groups = self._evidence.published_groups, self._evidence.original_groups
            lengths = self._evidence.template_lengths
            assert groups is not None
            assert original_groups is not None
            assert lengths is not None
            write_groups(folder, original_groups)
            write_published_groups(folder, groups)
            write_lengths(folder, lengths[groups])
        if "statistics" in keep:
            self._statistics.save(folder / STATISTICS_FILE)


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
    original = replace(original, source=_published_source(original))
    if policy.method.unaligned == "refuse" and policy.method.generator != "markov":
        refuse_unaligned(original, original.labels)
    condensation = condensation_of(policy, seed)
    if progress is not None:
        progress("grouping strings", 0, 0)
    condensation.fit_transform(original, executor=executor, progress=progress, note=notes.append)
    made, groups, n_near = _without_few_near_copies(condensation, original, policy, executor, notes.append)
    refuse_none(len(made))
    suppressed = suppressed_of(condensation.suppressed_, condensation.pseudo_.n_dropped + n_near)
    refuse_suppressed(suppressed, len(original), policy)
    if progress is not None:
        progress("checking the release", 0, 0)
    pseudo = condensation.pseudo_
    evidence = StringEvidence(
        original=original,
        original_groups=condensation.labels_.astype(np.int64),
        published_groups=groups.astype(np.int64),
        template_lengths=template_lengths(condensation.segments_),
    )
    file, (published, guarantees) = _write_and_check(made, policy, evidence)
    return StringRelease(
        published=published,
        guarantees=guarantees,
        policy=policy,
        notes=(
            *notes,
            *notes_of(condensation, policy, is_tokens=original.is_tokens, is_named=bool(original.source.sites)),
        ),
        suppressed=suppressed,
        n_groups=condensation.n_groups_,
        n_rejected=pseudo.n_rejected,
        _original=original,
        _evidence=evidence,
        _reasons=condensation.suppressed_,
        _statistics=condensation.statistics_,
        _file=file,
        _like=like,
        _held_out=held_out,
    )


def drawn_again(policy: StringPolicy, strings: Strings, seed: int) -> Strings:
    """Pseudo-strings of some strings as the policy asks, unchecked: what attackers make for themselves."""
    drawn: Strings = condensation_of(policy, seed).fit_transform(strings)
    return drawn


def condensation_of(policy: StringPolicy, seed: int | None) -> Condensation:
    """The method as the policy asks for it."""
    how = policy.method.model_dump(exclude={"rare", "unaligned", "suppression"})
    return Condensation(k=policy.k, rare=policy.rare, seed=seed, workers=1, **how)


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
        is_near = near_originals(strings, original, policy.rare, policy.k)
        return is_near if is_near.sum() < policy.k else np.zeros(len(strings), bool)

    made: Strings = condensation.pseudo_.strings
    is_near = few(made)
    for _ in range(N_ROUNDS):
        if not is_near.any():
            break
        made = condensation.draw_without(made.take(np.flatnonzero(is_near)), executor=executor, note=note)
        is_near = few(made)
    if not is_near.any():
        return made, condensation.pseudo_.groups, 0
    rows = np.flatnonzero(~is_near)
    return made.take(rows), condensation.pseudo_.groups[rows], int(is_near.sum())


def notes_of(
    condensation: Condensation | CondensationOnDisk, policy: StringPolicy, *, is_tokens: bool, is_named: bool
) -> list[str]:
    """Notes of the method."""
    notes = []
    n = condensation.n_rare_symbols_
    if n:
        which = "1 symbol" if n == 1 else f"{n:,} symbols"
        does = "taken out" if is_tokens else "replaced by a neighbour"
        if is_named:
            does = "replaced by the commonest of the same place"
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
    if condensation.nearness_ > NO_NEARER and policy.method.generator != "markov":
        notes.append(
            f"groups are hardly nearer than random ones (their strings lie {100 * condensation.nearness_:.0f} % as far "
            "from the middle): a release keeps what the strings of a class have in common, and little of what "
            "groups have"
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


def template_lengths(segments: Sequence[Segment]) -> npt.NDArray[np.int64]:
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


def _write_and_check(
    made: Strings, policy: StringPolicy, evidence: StringEvidence
) -> tuple[CheckedFile, tuple[Strings, tuple[Guarantee, ...]]]:
    """Write strings, and run the checker on the file as any reader would see it."""

    def write(path: Path) -> None:
        write_strings(made, path)

    def check(path: Path) -> tuple[Strings, tuple[Guarantee, ...]]:
        written, whole = read_strings_back(path, made.source).compact(), made.compact()
        if not _is_same(written, whole):
            raise NotVerified(
                "the written file does not read back as the strings that were made; nothing was published"
            )
        written = replace(written, symbols=whole.symbols)  # which are the same, and need not be there twice
        verdict = verify_strings(written, asked_of(policy), evidence)
        refuse_failed(verdict)
        return replace(written, source=made.source), verdict.guarantees

    return checked_file(string_file_name(made), write, check)


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
