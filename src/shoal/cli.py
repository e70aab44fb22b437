"""The command line: parse, make a policy, call, print. No logic of its own."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from shoal._version import __version__
from shoal.errors import ShoalError

if TYPE_CHECKING:
    from shoal.check.guarantee import Guarantee
    from shoal.policy import Policy
    from shoal.release import Release

LICENCE_TO_TRACE = "SHOAL_TRACEBACK"
INTERRUPTED = "interrupted; nothing was written"

_interrupted: list[int] = []


def main() -> None:
    """Run a command; every failure is one sentence and an exit code, never a traceback."""
    _interrupted.clear()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    try:
        code = shoal.main(standalone_mode=False)
    except ShoalError as error:
        code = _complain(str(error), error.exit_code)
    except click.ClickException as error:
        code = _complain(error.format_message(), 2)
    except (KeyboardInterrupt, click.Abort):
        code = _complain(INTERRUPTED, 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except MemoryError:
        code = _complain("there is not enough memory for this data; nothing was written", 1)
    except Exception as error:
        if os.environ.get(LICENCE_TO_TRACE):
            raise
        code = _complain(INTERRUPTED, 130) if _interrupted else _complain(_defect(error), 1)
    sys.exit(code if isinstance(code, int) else 0)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Note the signal and stop, except inside the compiler: an exception there is lost, or ends the process.

    There the next step of the work stops. After a signal any error counts as the interrupt: duckdb raises its own.
    """
    _interrupted.append(number)
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] in ("numba", "llvmlite"):
            return
        frame = frame.f_back
    raise KeyboardInterrupt


def _defect(error: Exception) -> str:
    return (
        f"this is a defect of Shoal ({type(error).__name__}); nothing was written. "
        f"Please report it with the output of the same command under {LICENCE_TO_TRACE}=1"
    )


def _all_is_written() -> None:
    """From here on an interrupt would only keep the user from reading what was done."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def _complain(message: str, code: int) -> int:
    click.echo(f"shoal: {plain(message)}", err=True)
    return code


def plain(text: str) -> str:
    """Text that cannot steer a terminal.

    >>> plain("a\\x1b[31mb")
    'a\\\\x1b[31mb'
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


class _Names(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic since click 8.4 only
    """Column names with commas between them; a name that holds a comma is quoted as in a CSV file."""

    name = "names"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        import csv

        rows = list(csv.reader([value], skipinitialspace=True))
        return tuple(n for n in rows[0] if n) if rows else ()


class _Sizes(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic since click 8.4 only
    """Whole numbers with commas between them."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        try:
            return tuple(int(part) for part in value.split(",") if part.strip())
        except ValueError:
            self.fail("give whole numbers with commas between, such as 2,5,10", param, ctx)


class _Paused(ShoalError):
    """Interrupted, with something to go on from."""

    exit_code = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="shoal", message="%(prog)s %(version)s")
def shoal() -> None:
    """Make data fit for publication: every record hides among at least k others.

    \b
    Start here:
      shoal demo -o demo/
      shoal profile people.csv
      shoal anonymize people.csv -p policy.toml -o out/
      shoal check out/publish --original people.csv
      shoal sweep people.csv -p policy.toml --k 2,5,10 --method mdav,mondrian
    """


def _json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, for machines.")(command)


@shoal.command()
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), default=Path("demo"), show_default=True, help="Folder to make."
)
@click.option("--rows", type=click.IntRange(min=50), default=3000, show_default=True, help="Patients to invent.")
@_json_option
def demo(out: Path, rows: int, as_json: bool) -> None:
    """Do the main job on an invented clinic's table, ending with a report to open.

    \b
    Example:
      shoal demo -o demo/
    """
    from shoal.demo import run_demo

    with _progress(not as_json) as progress:
        release = run_demo(out, rows, progress)
        _all_is_written()
    if as_json:
        _print_json(_summary(release, out))
        return
    _print_release(release, out)
    click.echo(f"\nThe input is in {out / 'input'}. Try next:")
    click.echo(f"  shoal check {out / 'publish'} --original {out / 'input' / 'clinic.csv'}")
    click.echo(f"  shoal profile {out / 'input' / 'clinic.csv'}")


@shoal.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    default=None,
    help="Where to write the policy.  [default: policy.toml, unless there is one]",
)
@_json_option
def profile(data: Path, out: Path | None, as_json: bool) -> None:
    """Show guessed types and roles, and the risk as the table stands; write a policy to edit.

    \b
    Example:
      shoal profile people.csv -o policy.toml
    """
    from shoal.api import profile as profile_source
    from shoal.terminal import print_profile

    found = profile_source(data)
    path = out or Path("policy.toml")
    if out is not None and path.exists():
        raise ShoalError(f"{path} exists; choose another name for the policy, or remove it first")
    written = not path.exists()
    if written:
        try:
            path.write_text(found.to_toml(), encoding="utf-8")
        except OSError as error:
            raise ShoalError(f"the policy cannot be written to {path}: {error.strerror or error}") from None
    if as_json:
        _print_json(found.to_dict())
        return
    print_profile(found)
    if written:
        click.echo(f"\nWrote {path}. Correct the guesses there, then run:")
        click.echo(f"  shoal anonymize {data} -p {path} -o out/")
    else:
        click.echo(f"\n{path} exists and was left as it is; name another with -o to write the guesses down.")


@shoal.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, help="Folder to make; must not exist.")
@click.option("-p", "--policy", "policy_file", type=click.Path(path_type=Path), help="Policy file (TOML).")
@click.option("--quasi", type=_Names(), help="Columns that others may know, with commas between.")
@click.option("--sensitive", type=_Names(), help="Columns to protect and keep.")
@click.option("--identifying", type=_Names(), help="Columns to drop.")
@click.option("--insensitive", type=_Names(), help="Columns to keep as they are.")
@click.option(
    "--others",
    type=click.Choice(["identifying", "quasi", "sensitive", "insensitive"]),
    help="Role of every column not named.  [default: guessed]",
)
@click.option("--hierarchy", "hierarchies", multiple=True, metavar="COLUMN=FILE", help="A hierarchy in ARX's CSV form.")
@click.option("-k", type=int, help="k-anonymity: groups of at least k.  [default: 5]")
@click.option("-l", type=float, help="distinct l-diversity: at least l sensitive values a group.")
@click.option("-t", type=float, help="t-closeness: sensitive values distributed as in the whole.")
@click.option(
    "--method",
    "partition",
    help="mondrian, k-member, nearest-neighbours, local-recoding, mdav, v-mdav, curve, univariate, full-domain or "
    "datafly.  [default: mondrian]",
)
@click.option("--effort", help="fast, balanced or best: how hard to look for better groups.  [default: fast]")
@click.option("--publish", help="generalise or aggregate.  [default: by method]")
@click.option("--missing", help="value: a missing value is a value of its own; any: it may hide any value (stricter).")
@click.option("--suppression", type=float, help="At most this share of records may be left out.  [default: 0]")
@click.option("--keep", type=_Names(), help="Secrets to keep in private/: groups, mapping.")
@click.option("--seed", type=int, help="Make --effort best repeatable: it draws random numbers.")
@click.option("--workers", type=click.IntRange(min=1), default=1, show_default=True, help="Blocks worked on at once.")
@click.option(
    "--pool", type=click.Choice(["threads", "processes"]), default="threads", show_default=True, help="Kind of workers."
)
@click.option("--cluster", metavar="ADDRESS", help="Work on a dask cluster (extra: distributed).")
@_json_option
def anonymize(
    data: Path,
    out: Path,
    policy_file: Path | None,
    hierarchies: tuple[str, ...],
    keep: tuple[str, ...] | None,
    seed: int | None,
    workers: int,
    pool: Any,
    cluster: str | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """Make a release of DATA: protected, checked, with a report.

    \b
    Examples:
      shoal anonymize people.csv -p policy.toml -o out/
      shoal anonymize people.csv --quasi age,zip --sensitive disease -k 5 --method mondrian -o out/
    """
    from shoal.api import anonymize as anonymize_source
    from shoal.policy import Policy
    from shoal.release import refuse_occupied

    refuse_occupied(out)
    policy = _asked(Policy.read(policy_file) if policy_file else Policy(), hierarchies, asked)
    with _progress(not as_json) as progress:
        release = anonymize_source(
            data, policy, seed=seed, workers=workers, pool=pool, cluster=cluster, progress=progress
        )
        progress("writing the release", 0, 0)
        release.save(out, keep=keep or ())
        _all_is_written()
    if as_json:
        _print_json(_summary(release, out))
    else:
        _print_release(release, out)


def _asked(policy: Policy, hierarchies: tuple[str, ...], asked: dict[str, Any]) -> Policy:
    """The policy with what the options say on top."""
    files = dict(h.partition("=")[::2] for h in hierarchies)
    if not all(files.values()):
        raise click.UsageError("--hierarchy takes COLUMN=FILE, such as --hierarchy education=education.csv")
    return policy.changed(hierarchies=files, **{n: v for n, v in asked.items() if v is not None})


@shoal.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--original", type=click.Path(path_type=Path), help="The original data, to compare with.")
@click.option(
    "-p",
    "--policy",
    "policy_file",
    type=click.Path(path_type=Path),
    help="Require what this policy requires, whatever the manifest says.",
)
@_json_option
def check(folder: Path, original: Path | None, policy_file: Path | None, as_json: bool) -> int:
    """Recompute every guarantee from a published folder; exit code 5 if it is not what it claims to be.

    \b
    Example:
      shoal check out/publish --original people.csv
    """
    from shoal.api import check_folder
    from shoal.policy import Policy

    found = check_folder(folder, original, Policy.read(policy_file) if policy_file else None)
    if as_json:
        _print_json(found.to_dict())
    else:
        _print_guarantees(found.guarantees)
        for finding in found.findings:
            click.echo(f"  FAILS  {plain(finding)}")
        if not found.compared:
            click.echo("  (without --original, rows and untouched columns were not compared)")
        click.echo("The folder is what it claims to be." if found.holds else "The folder is NOT what it claims to be.")
    return 0 if found.holds else 5


@shoal.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    default=Path("sweep"),
    show_default=True,
    help="Folder for the results, yours alone; the same command goes on with what is there.",
)
@click.option("-p", "--policy", "policy_file", type=click.Path(path_type=Path), help="Policy file (TOML).")
@click.option("-k", "--k", "k", type=_Sizes(), default="2,5,10,20", show_default=True, help="Every k to try.")
@click.option(
    "--method", "partitions", type=_Names(), default="mondrian,mdav", show_default=True, help="Every method to try."
)
@click.option("--publish", help="generalise or aggregate, for all methods.  [default: the policy's, or by method]")
@click.option("--workers", type=click.IntRange(min=1), default=1, show_default=True, help="Releases tried at once.")
@click.option(
    "--pool", type=click.Choice(["threads", "processes"]), default="threads", show_default=True, help="Kind of workers."
)
@_json_option
def sweep(data: Path, out: Path, policy_file: Path | None, as_json: bool, **asked: Any) -> int:
    """Try methods and sizes of groups on DATA: what risk each leaves and what it costs. Publishes nothing.

    \b
    Example:
      shoal sweep people.csv -p policy.toml --k 2,5,10,20 --method mdav,mondrian -o sweep/
    """
    from shoal.frontier import sweep as sweep_source
    from shoal.policy import Policy
    from shoal.report.frontier import as_text

    policy = Policy.read(policy_file) if policy_file else Policy()
    with _progress(not as_json) as progress:
        try:
            found = sweep_source(data, policy, folder=out, progress=progress, **asked)
        except KeyboardInterrupt:
            kept = any(out.glob("cells/*.json"))
            done = f"what was finished is in {out}; the same command goes on from there" if kept else "nothing was kept"
            raise _Paused(f"interrupted; {done}") from None
        _all_is_written()
    files = ["-p", str(policy_file)] if policy_file else []
    line = shlex.join(["shoal", "anonymize", str(data), *files, *found.options, "-o", "out"])
    if as_json:
        _print_json({"out": str(out), **found.to_dict(), "command": line if found.proposed else None})
    else:
        click.echo("\n".join(plain(text) for text in as_text(found)))
        click.echo(f"Keep  {out}  (open sweep.html)")
        if found.proposed:
            click.echo(f"\nTo make the proposed release:\n  {plain(line)}")
    return 0 if any(c.holds for c in found.cells) else 4


def _print_guarantees(guarantees: tuple[Guarantee, ...]) -> None:
    for guarantee in guarantees:
        click.echo(f"  {'holds' if guarantee.holds else 'FAILS'}  {plain(guarantee.sentence)}")


def _print_release(release: Release, out: Path) -> None:
    records = release.records
    click.echo(f"{records['out']:,} of {records['in']:,} records published, {records['suppressed']:,} suppressed.")
    verbs = {
        "identifying": "dropped",
        "quasi": "made alike in groups",
        "sensitive": "protected and kept",
        "insensitive": "published as they are",
    }
    for role, verb in verbs.items():
        names = [n for n, a in release.attributes.items() if a.role == role]
        if names:
            more = f" and {len(names) - 20} more" if len(names) > 20 else ""
            click.echo(f"  {verb}: {plain(', '.join(names[:20]))}{more}")
    _print_guarantees(release.guarantees)
    for note in release.notes:
        click.echo(f"  note: {plain(note)}")
    click.echo(f"Give away  {out / 'publish'}  (start with datasheet.html)")
    click.echo(f"Keep       {out / 'private'}  (open report.html)")


def _summary(release: Release, out: Path) -> dict[str, Any]:
    return {
        "out": str(out),
        "records": release.records,
        "guarantees": [g.to_dict() for g in release.guarantees],
        "utility": release.utility.to_dict(),
        "risk": {"before": release.risk_before.to_dict(), "after": release.risk_after.to_dict()},
        "notes": list(release.notes),
    }


def _print_json(content: Any) -> None:
    click.echo(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))


@contextmanager
def _progress(wanted: bool) -> Iterator[Callable[[str, int, int], None]]:
    """A line that shows what is being done, on a terminal only; each step first heeds an interrupt."""
    if not (wanted and sys.stderr.isatty()):
        yield _heed_interrupt
        return
    from shoal.terminal import progress_line

    with progress_line() as show:

        def step(what: str, done: int, total: int) -> None:
            _heed_interrupt()
            show(what, done, total)

        yield step


def _heed_interrupt(*_: object) -> None:
    if _interrupted:
        raise KeyboardInterrupt


if __name__ == "__main__":
    main()
