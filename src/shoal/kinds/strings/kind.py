"""Strings as a kind of data: proteins, DNA, sequences of events."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from shoal.data.strings.sites import at_sites, only_carried
from shoal.data.strings.strings import Strings
from shoal.errors import DataError, PolicyError, did_you_mean
from shoal.kind import SMALL, Kind, Run
from shoal.kinds.strings.policy import StringInput, StringPolicy
from shoal.shown import Grid

if TYPE_CHECKING:
    from shoal.attack.attack import Attack
    from shoal.attack.strings.case import StringCase
    from shoal.check.folder import FolderCheck, PublishedFolder
    from shoal.held_out import HeldOut
    from shoal.kinds.strings.harden import StringLadder
    from shoal.kinds.strings.manifest import StringManifest
    from shoal.kinds.strings.profile import StringProfile
    from shoal.kinds.strings.release import StringRelease
    from shoal.kinds.strings.sweep import StringTrials
    from shoal.progress import Progress
    from shoal.report.board.facts import BoardFacts
    from shoal.secrets import PrivateFolder
    from shoal.stream.releases import ReleaseWindows


ORDER_OF_VARIANTS = 6
"""Neighbouring variants are inherited together: by contexts of one allele most of their correlation is lost. Chosen on
made persons, as in `reproductions/variants.py`."""


class StringKind(Kind):
    """Sequences of symbols."""

    name = "strings"
    published = "strings"
    report_template = "strings_report.html"
    pictures: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("composition", "length_histogram", "longest_runs", "distance_scatter"), "shoal.report.strings.pictures"
    )
    takes: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("workers", "pool", "cluster"), "which are worked on in blocks"),
        "label": "",
    }
    policy = StringPolicy

    @property
    def manifest(self) -> type[StringManifest]:
        """See `shoal.kinds.strings.manifest`."""
        from shoal.kinds.strings.manifest import StringManifest

        return StringManifest

    def first_rows(self, records: Any, n: int) -> Grid:
        """A line a string, with its class where it has one."""
        some = records.take(np.arange(min(n, len(records))))
        texts = ["".join(text) if isinstance(text, str) else " ".join(text) for text in some.texts()]
        if some.labels is None:
            return Grid(("string",), [(text,) for text in texts])
        classes = [some.classes[label] for label in some.labels.tolist()]
        return Grid(("class", "string"), list(zip(classes, texts, strict=True)))

    def recognises(self, source: Any) -> bool:
        """Files that surely hold strings, such as FASTA and VCF; `Strings`, and lists."""
        if isinstance(source, str | Path):
            from shoal.data.strings.files import looks_like_strings

            return looks_like_strings(source) is not None
        is_list = isinstance(source, list | tuple) and bool(source) and isinstance(source[0], str | list | tuple)
        return is_list or isinstance(source, Strings)

    def load(self, source: Any, policy: StringPolicy) -> Strings:
        """A file, or strings, as the policy's input says."""
        if policy.memory is not None:
            raise PolicyError("of strings memory is for releases, and all are held here: leave memory out")
        return self._loaded(source, policy)

    def load_to_release(self, source: Any, policy: StringPolicy, run: Run) -> Any:
        """With a bound on memory, what is counted over all strings."""
        if policy.memory is None:
            return self.load(source, policy)
        from shoal.kinds.strings.unheld import UnheldStrings

        return UnheldStrings.of(source, policy)

    def _loaded(self, source: Any, policy: StringPolicy) -> Strings:
        if isinstance(source, str | Path):
            from shoal.data.strings.files import read_strings

            return read_strings(source, **policy.input.model_dump(), rare=policy.rare)
        if isinstance(source, Strings):
            if source.source.format == "vcf":
                raise PolicyError(
                    "give the path of the VCF file itself: which variants may be listed depends on the policy"
                )
            return source
        if policy.input.columns and not isinstance(source, list | tuple):
            return _matrix_of_frame(source, policy)
        if hasattr(source, "columns") and policy.input.column is not None:
            return _of_frame(source, policy.input)
        if hasattr(source, "columns"):
            raise PolicyError("the data is a frame; name the column, or the columns, that hold the strings")
        if isinstance(source, list | tuple) and source and all(hasattr(one, "seq") for one in source):
            source = [str(one.seq) for one in source]  # records of Biopython
        if isinstance(source, dict) or not hasattr(source, "__iter__"):
            raise PolicyError(
                "the policy is for strings; give a path, a list of text, a list of lists of tokens, or Strings"
            )
        alphabet = policy.input.alphabet
        if isinstance(alphabet, str):
            from shoal.data.strings.alphabets import Alphabet

            return Strings.of(source, alphabet=Alphabet.of(alphabet).symbols)
        return Strings.of(source, alphabet=alphabet)

    def is_small(self, data: Any, policy: Any = None) -> bool:
        """Whether there are few symbols: each record has some."""
        return (len(data.symbols) if isinstance(data, Strings) else data.n_symbols) <= 30 * SMALL

    def load_again(
        self,
        source: Any,
        manifest: StringManifest,
        policy: StringPolicy | None = None,
        *,
        label: str | None = None,
        header: str | None = None,
    ) -> Strings:
        """As the manifest says. The expression that finds classes in FASTA descriptions stands in none, so it is given
        here or by the policy."""
        if not isinstance(source, str | Path):
            if policy is None and (hasattr(source, "columns") or isinstance(source, dict)):
                policy = StringPolicy.of(
                    column=manifest.column, columns=manifest.columns or (), class_column=manifest.class_column
                )
            return self._loaded(source, policy or StringPolicy())
        from shoal.data.strings.alphabets import LEARNED
        from shoal.data.strings.files import read_strings
        from shoal.data.strings.format import FORMATS

        expression = label if label is not None else policy.input.label if policy is not None else None
        if expression is not None and not FORMATS[manifest.format].takes_label:
            raise PolicyError("an expression for the class is for FASTA descriptions, and these strings are not FASTA")
        return read_strings(
            source,
            format=manifest.format,
            label=expression,
            column=manifest.column,
            class_column=manifest.class_column,
            alphabet=(policy.input.alphabet if policy is not None else None) or manifest.alphabet or LEARNED,
            delimiter=manifest.delimiter,
            header=header if header is not None else manifest.header,
            person=manifest.person or (),
            time=manifest.time,
            columns=manifest.columns or (),
            rare=max(manifest.policy.rare, policy.rare if policy is not None else 0),
        )

    def load_others(self, source: Any, data: Any, load: Callable[[], Any]) -> Strings:
        """Of variants, and of a matrix, at those of the data, whatever the others carry."""
        if not isinstance(data, Strings) or not data.source.sites or not isinstance(source, str | Path):
            found: Strings = load()
            return found
        from shoal.data.strings.files import read_strings

        if data.source.format == "matrix":
            sites, header = data.source.sites, data.source.header
            return at_sites(read_strings(source, format="matrix", columns=sites, header=header, sites=sites), sites)
        others = read_strings(source, format="vcf", delimiter=data.source.delimiter, sites=data.source.sites)
        if others.source.delimiter != data.source.delimiter:
            raise DataError("the data is phased and the others are not; give both phased, or neither")
        return others

    def profile(self, data: Strings, policy: StringPolicy, *, sweep: bool, progress: Progress | None) -> StringProfile:
        """Count strings, lengths, symbols and classes."""
        from shoal.kinds.strings.profile import profile_of

        return profile_of(data, for_variants(data, policy))

    def release(
        self,
        data: Any,
        policy: StringPolicy,
        run: Run,
        *,
        like: Any = None,
        held_out: HeldOut[Strings] | None = None,
    ) -> StringRelease:
        """Draw pseudo-strings from groups; of variants by longer contexts, unless the policy says how long."""
        if policy.memory is not None:
            return self._unheld(data, policy, run, held_out)
        policy = for_variants(data, policy)
        data = only_carried(data, policy.rare)
        if held_out is not None and data.source.sites:
            held_out = replace(held_out, records=at_sites(held_out.records, data.source.sites))
        from shoal.engine.executors import open_executor
        from shoal.kinds.strings.release import release_strings

        with open_executor(run.workers, run.pool, run.cluster) as executor:
            return release_strings(
                data, policy, seed=run.seed, executor=executor, progress=run.progress, like=like, held_out=held_out
            )

    def _unheld(self, data: Any, policy: StringPolicy, run: Run, held_out: HeldOut[Strings] | None) -> StringRelease:
        from shoal.engine.executors import open_executor
        from shoal.kinds.strings.unheld import release_unheld

        if held_out is not None:
            raise PolicyError("other strings to compare with are for those in memory: leave memory out")
        with open_executor(run.workers, run.pool, run.cluster) as executor:
            return release_unheld(data, policy, seed=run.seed, executor=executor, progress=run.progress)

    def check(
        self,
        folder: PublishedFolder,
        manifest: StringManifest,
        original: Strings | None,
        policy: StringPolicy | None,
        private: PrivateFolder | None,
    ) -> FolderCheck:
        """See `shoal.check.strings.folder`."""
        from shoal.check.strings.folder import check_strings
        from shoal.secrets import GROUPS_FILE

        kept = None if private is None else private.if_it_holds(GROUPS_FILE)
        if original is not None:
            original = only_carried(original, max(manifest.policy.rare, policy.rare if policy is not None else 0))
        return check_strings(folder, manifest, original, policy, kept)

    def windows(self, policy: StringPolicy, *, seed: int | None, key: bytes | None) -> ReleaseWindows:
        """See `shoal.stream.releases`."""
        from shoal.stream.releases import ReleaseWindows

        if key is not None:
            raise PolicyError("a key is for sketches of sparse records; leave it out for strings")
        if policy.memory is not None:
            raise PolicyError("the strings of a window are held: leave memory out")
        return ReleaseWindows(self, policy, ("lines", "tokens"), seed)

    @property
    def attacks(self) -> Sequence[Attack[Any]]:
        """See `shoal.attack.strings`."""
        from shoal.attack.strings import STRING_ATTACKS

        return list(STRING_ATTACKS.values())

    def case(
        self,
        folder: PublishedFolder,
        manifest: StringManifest,
        original: Strings,
        control: Strings | None,
        private: PrivateFolder | None,
        **_: Any,
    ) -> StringCase:
        """The published strings, and what the attacker is given."""
        from shoal.attack.strings.case import StringCase
        from shoal.check.strings.folder import published_strings
        from shoal.kinds.strings.release import drawn_again

        published = published_strings(folder, manifest)
        if published.source.sites:
            original = at_sites(original, published.source.sites)
            control = None if control is None else at_sites(control, published.source.sites)
        return StringCase(published, original, control, partial(drawn_again, manifest.policy))

    def ladder(self, data: Strings, policy: StringPolicy) -> StringLadder:
        """See `shoal.kinds.strings.harden`."""
        from shoal.kinds.strings.harden import StringLadder

        return StringLadder(data, policy)

    def board(self, release: StringRelease) -> BoardFacts:
        """Pseudo-strings stand for none, so no class of look-alikes is counted."""
        from shoal.report.board.facts import BoardFacts, suppression_of

        return BoardFacts(
            "string",
            release.records,
            [
                ("synthetic data", f"pseudo-strings were drawn from groups of at least {release.policy.k} strings"),
                *suppression_of(release.records, "string"),
            ],
            known=("whole strings, or fragments of them",),
            bound_by="A published string stands for no original one, so no class of look-alikes can be counted.",
        )

    def trials(self, policy: StringPolicy, target: str | None = None) -> StringTrials:
        """See `shoal.kinds.strings.sweep`."""
        from shoal.kinds.strings.sweep import StringTrials

        return StringTrials(policy, target)

    def shown(self, release: StringRelease, *, report: bool = True) -> tuple[list[str], list[str]]:
        """How many pseudo-strings there are, and what was left out."""
        records = release.records
        groups = f"{release.n_groups:,} group{'s' * (release.n_groups != 1)}"
        lines = [
            f"{records['out']:,} pseudo-strings published for {records['in']:,} strings, drawn from {groups}.",
            f"  {release.suppressed_sentence}",
        ]
        if release.suppressed_lengths is not None:
            shortest, longest = release.suppressed_lengths
            lines.append(f"  Those left out for their length have {shortest:,} to {longest:,} symbols.")
        return lines, [f"  {release.verbatim_sentence}"] if report else []


KIND = StringKind()


def for_variants(data: Strings, policy: StringPolicy) -> StringPolicy:
    """The policy with longer contexts where strings are variants, unless it says how long they are to be."""
    is_said = "order" in policy.method.model_fields_set
    return policy.changed(order=ORDER_OF_VARIANTS) if data.source.sites and not is_said else policy


def _matrix_of_frame(frame: Any, policy: StringPolicy) -> Strings:
    """The columns of a frame of pandas, polars or arrow, or of a dict of columns, that are the places of a string."""
    from shoal.data.strings.alphabets import Alphabet
    from shoal.data.strings.formats.matrix import matrix_of
    from shoal.data.strings.strings import StringSource
    from shoal.data.tables.frames import from_frame

    reading = policy.input
    if reading.person or reading.time is not None or reading.delimiter is not None or reading.column is not None:
        raise PolicyError("columns are the places of a row's string; leave out person, time, column and delimiter")
    table = from_frame(frame, markers=(), header=reading.header)
    source = StringSource("data", "matrix", class_column=reading.class_column, columns=reading.columns)
    made = matrix_of(table, source, Alphabet.of(reading.alphabet))
    return replace(made, source=replace(made.source, table=replace(table.source, notes=())))


def _of_frame(frame: Any, reading: StringInput) -> Strings:
    """The column of a frame of pandas, polars or arrow as strings, with that of the classes."""
    import narwhals as nw

    from shoal.data.strings.alphabets import Alphabet

    if reading.person or reading.time is not None or reading.delimiter is not None:
        raise PolicyError(
            "events and cells of tokens are read from files; write the frame as Parquet, or give lists of tokens"
        )
    if len(set(frame.columns)) < len(list(frame.columns)):
        raise DataError("two columns of the frame have the same name; rename one of them")
    table: Any = nw.from_native(frame, eager_only=True)
    wanted = [name for name in (reading.column, reading.class_column) if name is not None]
    for name in wanted:
        if name not in table.columns:
            raise DataError(f"the frame has no column {name!r}; {did_you_mean(name, table.columns)}")
        if table[name].is_null().any():
            raise DataError(f"a cell of the column {name!r} is missing; leave such rows out")
    return Strings.of(*(table[name].to_list() for name in wanted), alphabet=Alphabet.of(reading.alphabet).symbols)
