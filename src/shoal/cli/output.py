"""What a person sees on a terminal: the progress line, the profile's table, what became of a release."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console

    from shoal.api import AnyRelease
    from shoal.attack.attack import Attacked
    from shoal.check.guarantee import Guarantee
    from shoal.check.tables.folder import FolderCheck
    from shoal.kinds.sparse.profile import SparseProfile
    from shoal.kinds.sparse.release import SparseRelease
    from shoal.kinds.strings.profile import StringProfile
    from shoal.kinds.strings.release import StringRelease
    from shoal.kinds.tables.profile import Profile
    from shoal.kinds.tables.release import Release
    from shoal.sweeps.propose import Proposal


def plain(text: str) -> str:
    """Text that cannot steer a terminal.

    >>> plain("a\\x1b[31mb")
    'a\\\\x1b[31mb'
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


@contextmanager
def progress_line() -> Iterator[Callable[[str, int, int], None]]:
    """Show each step with a spinner, and a bar where the number of blocks is known; it leaves nothing behind."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=24), TimeElapsedColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bars:
        task = bars.add_task("reading", total=None)

        def show(what: str, done: int, total: int) -> None:
            bars.update(task, description=what, completed=done, total=total or None)

        yield show


def print_profile(profile: Profile) -> None:
    """Print the guesses, their reasons and the risk."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 110)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("column", "role", "type", "distinct", "missing", "why"):
        table.add_column(heading, justify="right" if heading in ("distinct", "missing") else "left", overflow="fold")
    for column in profile.columns:
        a = column.attribute
        cells = (a.name, a.role, a.type, f"{column.n_distinct:,}", f"{column.n_missing:,}", a.why)
        table.add_row(*(Text(plain(c)) for c in cells))
    console.print(Text(f"{profile.n_rows:,} rows, {len(profile.columns)} columns\n"))
    console.print(table)
    for note in profile.notes:
        console.print(Text(f"note: {plain(note)}"))
    if profile.risk is None:
        console.print(Text("\nNo column looks quasi-identifying; say in the policy which ones others may know."))
        return
    quasi = ", ".join(c.attribute.name for c in profile.columns if c.attribute.role == "quasi")
    console.print(Text(f"\nRisk as it stands, for someone who knows {plain(quasi)}:"))
    for sentence in profile.risk.sentences:
        console.print(Text(f"  {plain(sentence)}"))
    if profile.proposal is not None:
        _print_proposal(console, profile.proposal)


def _print_proposal(console: Console, proposal: Proposal) -> None:
    from rich.table import Table
    from rich.text import Text

    from shoal.report.tables.words import percent

    if proposal.cells:
        took = sum(c.seconds for c in proposal.cells)
        console.print(Text(f"\nMethods tried on {proposal.n_tried:,} records in {took:.1f} s; nothing was published:"))
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 2))
        for heading in ("method", "k", "risk, worst", "risk, mean", "certainty lost (GCP)"):
            table.add_column(heading, justify="left" if heading == "method" else "right")
        for c in proposal.cells:
            numbers = (c.risk_highest, c.risk_average, c.losses.get("GCP"))
            shown = [percent(v) for v in numbers] if c.holds else [c.status, "", ""]
            table.add_row(Text(c.partition), str(c.k), *shown)
        console.print(table)
    console.print(Text(f"\nProposed method: {proposal.partition}. {plain(proposal.why)}"))


def print_guarantees(guarantees: tuple[Guarantee, ...]) -> None:
    """Print each guarantee with whether it holds."""
    for guarantee in guarantees:
        click.echo(f"  {'holds' if guarantee.holds else 'FAILS'}  {plain(guarantee.sentence)}")


def print_check(found: FolderCheck) -> None:
    """Print what the check of a folder found."""
    print_guarantees(found.guarantees)
    for finding in found.findings:
        click.echo(f"  FAILS  {plain(finding)}")
    for sentence in found.unverified:
        click.echo(f"  not verified  {plain(sentence)}")
    for what in found.not_compared:
        click.echo(f"  not compared  {plain(what)}")
    if not found.compared:
        click.echo("  not compared  any row with the record that it stands for; give the original with --original")
    click.echo(_conclusion(found))


def _conclusion(found: FolderCheck) -> str:
    """No more than what was checked."""
    if found.fails:
        return "The folder is NOT what it claims to be."
    if not found.holds:
        return "Nothing is wrong with what was checked, but not all that the folder claims could be verified."
    if not found.is_whole:
        return "All guarantees hold, and nothing is wrong with what was compared; not everything was."
    return "The folder is what it claims to be."


def print_release(release: AnyRelease, out: Path) -> None:
    """Print what became of the data, and where it is."""
    from shoal.kinds.strings.release import StringRelease
    from shoal.kinds.tables.release import Release

    if isinstance(release, Release):
        _print_table(release)
    elif isinstance(release, StringRelease):
        _print_strings(release)
    else:
        _print_sketches(release)
    click.echo(f"Give away  {out / 'publish'}  (start with datasheet.html)")
    click.echo(f"Keep       {out / 'private'}  (open report.html)")


def _print_table(release: Release) -> None:
    from shoal.report.tables.limits import without_requirement

    records = release.records
    click.echo(f"{records['out']:,} of {records['in']:,} records published, {records['suppressed']:,} suppressed.")
    publication = release.policy.method.way_of_publishing
    by_role = {
        role: [n for n, a in release.attributes.items() if a.role == role]
        for role in ("identifying", "quasi", "sensitive", "insensitive")
    }
    bare = without_requirement(release.guarantees, by_role["sensitive"])
    done = {
        "dropped": by_role["identifying"],
        publication.done_to_quasi: by_role["quasi"],
        "sensitive, kept, under the requirements below": [n for n in by_role["sensitive"] if n not in bare],
        f"sensitive, but with no requirement of their own, {publication.kept}": bare,
        "published as they are": by_role["insensitive"],
    }
    for verb, names in done.items():
        if names:
            more = f" and {len(names) - 20} more" if len(names) > 20 else ""
            click.echo(f"  {verb}: {plain(', '.join(names[:20]))}{more}")
    print_guarantees(release.guarantees)
    for note in release.notes:
        click.echo(f"  note: {plain(note)}")
    if release.learning is not None:
        from shoal.report.tables.learning import sentence

        click.echo(f"  {plain(sentence(release.learning))}")


def summary(release: AnyRelease, out: Path) -> dict[str, Any]:
    """The same for machines."""
    from shoal.kinds.strings.release import StringRelease
    from shoal.kinds.tables.release import Release

    if isinstance(release, Release):
        return {"out": str(out), **_table_summary(release)}
    told = _string_summary(release) if isinstance(release, StringRelease) else _sketch_summary(release)
    return {"out": str(out), "kind": release.policy.kind, **told}


def _table_summary(release: Release) -> dict[str, Any]:
    return {
        "records": release.records,
        "guarantees": [g.to_dict() for g in release.guarantees],
        "utility": release.utility.to_dict(),
        "risk": {"before": release.risk_before.to_dict(), "after": release.risk_after.to_dict()},
        **({"learning": release.learning.to_dict()} if release.learning else {}),
        "notes": list(release.notes),
    }


def print_sentences(profile: StringProfile | SparseProfile) -> None:
    """Print what a profile says in words."""
    for sentence in (*profile.sentences, *(f"note: {note}" for note in profile.notes)):
        click.echo(plain(sentence))


def _print_strings(release: StringRelease) -> None:
    records = release.records
    groups = f"{release.n_groups:,} group{'s' * (release.n_groups != 1)}"
    click.echo(f"{records['out']:,} pseudo-strings published, drawn from {groups} of {records['in']:,} strings.")
    click.echo(f"  {release.suppressed_sentence}")
    if release.suppressed_lengths is not None:
        shortest, longest = release.suppressed_lengths
        click.echo(f"  Those left out for their length have {shortest:,} to {longest:,} symbols.")
    print_guarantees(release.guarantees)
    click.echo(f"  {plain(release.verbatim_sentence)}")
    for note in release.notes:
        click.echo(f"  note: {plain(note)}")


def _string_summary(release: StringRelease) -> dict[str, Any]:
    return {
        "records": release.records,
        "suppressed_because": dict(release.suppressed),
        "groups": release.n_groups,
        "copies_drawn_again": release.n_rejected,
        "guarantees": [g.to_dict() for g in release.guarantees],
        "verbatim": release.verbatim.to_dict(),
        "utility": release.utility.to_dict(),
        "notes": list(release.notes),
    }


def _print_sketches(release: SparseRelease) -> None:
    records, counts = release.records, release.sketches.counts
    click.echo(
        f"{records['out']:,} sketches published of {records['in']:,} records, with {counts.min():,} to "
        f"{counts.max():,} components, {counts.mean():.1f} on average."
    )
    click.echo(f"  {release.suppressed_sentence}")
    print_guarantees(release.guarantees)
    for note in release.notes:
        click.echo(f"  note: {plain(note)}")


def _sketch_summary(release: SparseRelease) -> dict[str, Any]:
    return {
        "records": release.records,
        "suppressed_because": dict(release.suppressed),
        "neighbours": release.neighbours,
        "recall": release.recall,
        "guarantees": [g.to_dict() for g in release.guarantees],
        "utility": release.utility.to_dict(),
        "attacks": release.attacked.to_dict(),
        "notes": list(release.notes),
    }


def print_attacks(found: Attacked[Any]) -> None:
    """Print what attacks reached."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 110)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("attack", "on members", "on others", "by guessing", "risk added"):
        table.add_column(heading, justify="left" if heading == "attack" else "right")
    for r in found.results:
        rates = (r.main, r.control, r.baseline)
        shown = (f"{100 * rate.value:.1f} %" if rate is not None and rate.attempts else "-" for rate in rates)
        table.add_row(Text(r.attack), *shown, str(r.risk))
    if found.results:
        console.print(table)
    else:
        click.echo("No attack could be run.")
    for r in found.results:
        click.echo(f"  {'SUCCEEDS' if r.succeeds else 'fails'}  {plain(r.sentence)}")
    for name, why in found.skipped:
        click.echo(f"  not run  {name}: {plain(why)}")


def print_json(content: Any) -> None:
    """Print for machines."""
    click.echo(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))
