"""From the options of a command to the policy that they mean, of whatever kind the data is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from shoal.cli.option_types import Listed, Names, Slices

if TYPE_CHECKING:
    pass

DATA_OF_KIND = {"table": "a table", "strings": "strings", "sparse": "sparse records"}
OPTIONS_OF_KIND = {"table": "tables", "strings": "strings", "sparse": "sparse records"}


def header_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """How the first line of a table is read."""
    return click.option(
        "--header",
        type=click.Choice(["first", "none"]),
        help="Of CSV and TSV: the first line names the columns, or there is no header and they are called c1, c2, ...  "
        "[default: first, unless it looks like a record, which is refused]",
    )(command)


def input_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """How data is read."""
    options = (
        header_option,
        click.option(
            "--kind",
            type=click.Choice(["table", "strings", "sparse"]),
            help="What DATA holds.  [default: strings for FASTA and SPMF, sparse for SVMlight, else a table]",
        ),
        click.option(
            "--format",
            help="Of strings: fasta, lines, tokens, spmf or column; of sparse records: baskets, svmlight, column, text "
            "or folder.  [default: told by the file]",
        ),
        click.option("--label", metavar="REGEX", help="Of FASTA: finds the class in a description, in parentheses."),
        click.option("--column", help="Of a table of strings, item lists or texts: the column that holds them."),
        click.option("--class-column", metavar="COLUMN", help="Of the same: the column of their classes."),
        click.option("--alphabet", help="Of strings: protein, dna, rna, learned, or the symbols.  [default: guessed]"),
        click.option("--delimiter", help="Of strings and baskets: what stands between tokens.  [default: blanks]"),
        click.option("--weights", help="Of sparse records: binary, counts or (of texts) tfidf.  [default: binary]"),
        click.option("--stop-words", help="Of texts: leave out english or none.  [default: english]"),
        click.option("--ngrams", type=int, help="Of texts: items are runs of up to so many words.  [default: 1]"),
    )
    return _with(options, command)


def table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What is asked of tables, and how big groups are for all."""
    options = (
        click.option("--quasi", type=Names(), help="Columns that others may know, with commas between."),
        click.option("--sensitive", type=Names(), help="Columns to keep, under what -l and the like require."),
        click.option("--identifying", type=Names(), help="Columns to drop."),
        click.option("--insensitive", type=Names(), help="Columns to keep as they are."),
        click.option(
            "--others",
            type=click.Choice(["identifying", "quasi", "sensitive", "insensitive"]),
            help="Role of every column not named.  [default: guessed]",
        ),
        click.option(
            "--hierarchy", "hierarchies", multiple=True, metavar="COLUMN=FILE", help="A hierarchy in ARX's CSV form."
        ),
        click.option(
            "-k", type=int, help="k-anonymity: groups of at least k.  [default: 5, of strings 20, of sparse records 10]"
        ),
        click.option("-l", type=float, help="distinct l-diversity: at least l sensitive values a group."),
        click.option("-t", type=float, help="t-closeness: sensitive values distributed as in the whole."),
        click.option(
            "--method",
            "partition",
            cls=Listed,
            known="partitions",
            help="{names}.  [default: mondrian]",
        ),
        click.option(
            "--diversity",
            help="local: groups are cut, merged or left out as their sensitive values demand; blind: none is, and all "
            "are made larger instead.  [default: local]",
        ),
        click.option("--effort", help="fast, balanced or best: how hard to look for better groups.  [default: fast]"),
        click.option("--publish", cls=Listed, known="publications", help="{names}.  [default: by method]"),
        click.option(
            "--slices",
            type=Slices(),
            help="For slice and screen: how many slices of columns, or which, as in 'age,sex;zip,job'.  "
            "[default: best]",
        ),
        click.option(
            "--jointly/--separately",
            default=None,
            help="For the same: what is required holds of sensitive values jointly, or of each.  [default: separately]",
        ),
        click.option(
            "--missing", help="value: a missing value is a value of its own; any: it may hide any value (stricter)."
        ),
        click.option("--suppression", type=float, help="At most this share of records may be left out.  [default: 0]"),
        click.option("--target", metavar="COLUMN", help="Compare in the report how well models predict this column."),
    )
    return _with(options, command)


def string_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """How pseudo-strings are made."""
    options = (
        click.option(
            "--eps", type=float, help="Of strings: lengths in a group differ by a factor of 1 + eps.  [default: 1.5]"
        ),
        click.option("--order", type=int, help="Of strings: a symbol depends on order - 1 before it.  [default: 2]"),
        click.option(
            "--support",
            type=int,
            help="Of strings: how many of a group must carry what a symbol depends on.  [default: 3]",
        ),
        click.option("--lengths", help="Of strings: spread, or template (one length a segment).  [default: spread]"),
        click.option(
            "--copies",
            help="Of strings: redraw pseudo-strings that equal an original, or allow them; what each tells: "
            "docs, how-to/strings.  [default: redraw]",
        ),
        click.option("--homogenize", help="Of strings: optimal or greedy choice of lengths alike.  [default: optimal]"),
        click.option(
            "--rare",
            type=int,
            help="Of strings: symbols in fewer strings are not shown.  [default: k]  Of sparse records: smaller "
            "classes are left out.  [default: 5]",
        ),
    )
    return _with(options, command)


def sparse_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """How sketches are made."""
    options = (
        click.option(
            "--model", help="Of sparse records: k-variance, or delta (needs no other records).  [default: k-variance]"
        ),
        click.option(
            "--delta", type=float, help="Of sparse records: least variance of any item's estimate.  [default: 0.5]"
        ),
        click.option(
            "--threshold", help="Of k-variance: sqrt, as printed, or difference (much stricter).  [default: sqrt]"
        ),
        click.option("--variance", help="Of k-variance: paper, exact or smaller, of the two.  [default: smaller]"),
        click.option(
            "--max-components", type=int, help="Of sparse records: most components of a sketch.  [default: 128]"
        ),
        click.option(
            "--recovery-cap/--no-recovery-cap",
            default=None,
            help="Of sparse records: keep sketches too short to be solved for.  [default: on]",
        ),
        click.option(
            "--recovery-share",
            type=float,
            help="Of the recovery cap: which part of what pins a record down a sketch may carry.  [default: 0.5]",
        ),
        click.option(
            "--coarse-counts/--exact-counts",
            default=None,
            help="Of sparse records: numbers of components on a coarse grid, as they tell lengths.  [default: coarse]",
        ),
        click.option("--neighbours", help="Of k-variance: exact, partition or auto, by size.  [default: auto]"),
        click.option("--metric", help="Of k-variance: neighbours by cosine or euclidean.  [default: cosine]"),
    )
    return _with(options, command)


def _with(options: Sequence[Callable[..., Any]], command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(options):
        command = option(command)
    return command


def asked_policy(
    data: Path, policy_file: Path | None, kind: str | None, hierarchies: tuple[str, ...], asked: dict[str, Any]
) -> Any:
    """The policy of the kind that DATA is, with what the options say on top."""
    from shoal.kind import kind_named, kind_of, read_policy
    from shoal.kinds.strings.policy import alphabet_of

    given = {name: value for name, value in asked.items() if value is not None}
    policy = read_policy(policy_file) if policy_file else None
    if policy is not None and kind not in (None, policy.kind):
        meant = OPTIONS_OF_KIND[policy.kind]
        raise click.UsageError(f"--kind {kind} does not go with {policy_file}, which is for {meant}")
    if policy is None:
        policy = (kind_named(kind) if kind else kind_of(data)).policy()
    _refuse_strangers(data, policy.kind, [*given, *(["hierarchy"] if hierarchies else [])])
    if policy.kind != "table":
        if "alphabet" in given:
            given["alphabet"] = alphabet_of(given["alphabet"])
        return policy.changed(**given)
    files = dict(h.partition("=")[::2] for h in hierarchies)
    if not all(files.values()):
        raise click.UsageError("--hierarchy takes COLUMN=FILE, such as --hierarchy education=education.csv")
    if len(files) < len(hierarchies):
        raise click.UsageError("--hierarchy is given more than once for the same column; give one file for each")
    return policy.changed(hierarchies=files, **given)


def _refuse_strangers(data: Path, kind: str, names: list[str]) -> None:
    """Refuse an option that means nothing for this kind of data."""
    from shoal.kinds.sparse.policy import SparseInput, SparseMethod
    from shoal.kinds.strings.policy import StringInput, StringMethod

    known = {
        "strings": {"k", *StringInput.model_fields, *StringMethod.model_fields},
        "sparse": {
            *("k", "model", "delta", "threshold", "variance"),
            *SparseInput.model_fields,
            *SparseMethod.model_fields,
        },
    }
    for name in names:
        kinds = [other for other, own in known.items() if name in own]
        if name in ("k", "header") or kind in kinds or (kind == "table" and not kinds):
            continue
        meant = kinds or ["table"]
        hint = f"say --kind {meant[0]}, or drop it" if kind == "table" else "leave it out"
        raise click.UsageError(
            f"{_spelled(name)} is for {' and '.join(OPTIONS_OF_KIND[m] for m in meant)}, and {data} is read as "
            f"{DATA_OF_KIND[kind]}; {hint}"
        )


def _spelled(name: str) -> str:
    """An option as the user writes it."""
    spelled = {"partition": "method"}.get(name, name).replace("_", "-")
    return f"-{spelled}" if len(spelled) == 1 else f"--{spelled}"
