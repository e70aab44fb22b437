"""The command line: parse, make a policy, call, print. No logic of its own."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import click

from shoal._version import __version__
from shoal.errors import ShoalError
from shoal.option_types import Names, Numbers, Sizes, Slices
from shoal.policy_options import asked_policy, input_options
from shoal.terminal import (
    plain,
    print_check,
    print_json,
    print_release,
    print_string_release,
    string_summary,
    summary,
)

LICENCE_TO_TRACE = "SHOAL_TRACEBACK"
INTERRUPTED = "interrupted; nothing was written"
KEEPING = b"\nstopping in a moment, with the best groups so far; Ctrl-C again ends everything\n"

UNTOUCHABLE = ("numba", "llvmlite", "importlib", "_frozen_importlib", "_frozen_importlib_external")
RETRY_SECONDS = 0.1

_interrupted: list[int] = []
_written: list[Path] = []


class _Improving:
    """Whether groups are being improved, a step that may end at any time, and whether it was asked to."""

    STEP = "improving groups"
    is_on = False
    is_stopped = False


def main() -> None:
    """Run a command; every failure is one sentence and an exit code, never a traceback."""
    _interrupted.clear()
    _written.clear()
    _Improving.is_on = _Improving.is_stopped = False
    if hasattr(sys.stdout, "reconfigure"):  # a name that the terminal cannot show is no reason to fail
        sys.stdout.reconfigure(errors="backslashreplace")
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
    except (BrokenPipeError, SystemExit):  # click exits where who reads our output has seen enough of it
        _give_up_printing()
        code = 0 if _written else 1
    except MemoryError:
        code = _complain(f"there is not enough memory for this data; {_what_is_there()}", 1)
    except Exception as error:
        if isinstance(error, OSError) and _is_output_refused():
            _give_up_printing()
            reason = error.strerror or type(error).__name__
            code = _complain(f"the output cannot be printed: {reason}; {_what_is_there()}", 1)
        elif os.environ.get(LICENCE_TO_TRACE):
            raise
        else:
            code = _complain(INTERRUPTED, 130) if _interrupted else _complain(_defect(error), 1)
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)
    sys.exit(code if isinstance(code, int) else 0)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Note the signal and stop, except inside the compiler or an import: an exception there may end the process.

    There it is tried again a moment later, or the next step of the work stops. After a signal any error counts as the
    interrupt: duckdb raises its own. The first Ctrl-C while groups are improved ends only that.
    """
    if number == signal.SIGINT and _Improving.is_on and not _Improving.is_stopped:
        _Improving.is_stopped = True
        os.write(2, KEEPING)  # at once, and safe here: whoever sees nothing happen presses again
        return
    _interrupted.append(number)
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] in UNTOUCHABLE:
            if hasattr(signal, "setitimer"):
                signal.signal(signal.SIGALRM, lambda _, later: _interrupt(number, later))
                signal.setitimer(signal.ITIMER_REAL, RETRY_SECONDS)
            return
        frame = frame.f_back
    raise KeyboardInterrupt


def _defect(error: Exception) -> str:
    return (
        f"this is a defect of Shoal ({type(error).__name__}); {_what_is_there()}. "
        f"Please report it with the output of the same command under {LICENCE_TO_TRACE}=1"
    )


def _what_is_there() -> str:
    return f"{_written[0]} was written before and is whole" if _written else "nothing was written"


def _is_output_refused() -> bool:
    """Whether nothing more can be printed, for the file behind it is full or gone."""
    try:
        print(flush=True)
    except OSError:
        return True
    return False


def _give_up_printing() -> None:
    """Let what is waiting go nowhere, else the interpreter would complain of it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _all_is_written(path: Path) -> None:
    """From here on an interrupt would only keep the user from reading what was done."""
    _written.append(path)
    for number in (signal.SIGINT, signal.SIGTERM, *([signal.SIGALRM] if hasattr(signal, "SIGALRM") else [])):
        signal.signal(number, signal.SIG_IGN)


def _complain(message: str, code: int) -> int:
    click.echo(f"shoal: {plain(message)}", err=True)
    return code


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
    """Do the main job on an invented clinic's table and on invented proteins, ending with reports to open.

    \b
    Example:
      shoal demo -o demo/
    """
    from shoal.demo import STRINGS_FOLDER, run_demo

    with _progress(not as_json) as progress:
        made = run_demo(out, rows, progress)
        _all_is_written(out)
    strings_out = out / STRINGS_FOLDER
    if as_json:
        print_json({**summary(made.table, out), "strings": string_summary(made.strings, strings_out)})
        return
    click.echo("A table:")
    print_release(made.table, out)
    click.echo("\nStrings:")
    print_string_release(made.strings, strings_out)
    click.echo(f"\nThe inputs are in {out / 'input'} and {strings_out / 'input'}. Try next:")
    click.echo(f"  shoal check {out / 'publish'} --original {out / 'input' / 'clinic.csv'}")
    click.echo(f"  shoal profile {out / 'input' / 'clinic.csv'}")
    click.echo(f"  shoal profile {strings_out / 'input' / 'proteins.fasta'}")


@shoal.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    default=None,
    help="Where to write the policy.  [default: policy.toml, unless there is one]",
)
@click.option("--no-sweep", is_flag=True, help="Do not try methods on a sample of the records to propose one.")
@input_options
@_json_option
def profile(data: Path, out: Path | None, no_sweep: bool, as_json: bool, kind: str | None, **asked: str | None) -> None:
    """Show guessed types and roles, the risk as the table stands, and a method; write a policy to edit.

    Of strings: how many, how long, of which symbols and classes.

    \b
    Examples:
      shoal profile people.csv -o policy.toml
      shoal profile human.fasta -o policy.toml
    """
    from shoal.api import profile as profile_source
    from shoal.api import profile_strings
    from shoal.terminal import print_profile, print_string_profile

    path = out or Path("policy.toml")
    if out is not None and path.exists():
        raise ShoalError(f"{path} exists; choose another name for the policy, or remove it first")
    policy = asked_policy(data, None, kind, (), asked)
    with _progress(not as_json) as progress:
        found: Any = (
            profile_source(data, sweep=not no_sweep, progress=progress)
            if policy.kind == "table"
            else profile_strings(data, policy)
        )
    if written := not path.exists():
        try:
            path.write_text(found.to_toml(), encoding="utf-8")
        except OSError as error:
            raise ShoalError(f"the policy cannot be written to {path}: {error.strerror or error}") from None
        _all_is_written(path)
    if as_json:
        print_json(found.to_dict())
        return
    (print_profile if policy.kind == "table" else print_string_profile)(found)
    if written:
        click.echo(f"\nWrote {path}. Correct the guesses there, then run:")
        click.echo(f"  shoal anonymize {data} -p {path} -o out/")
    else:
        click.echo(f"\n{path} exists and was left as it is; name another with -o to write the guesses down.")


@shoal.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, help="Folder to make; must not exist.")
@click.option("-p", "--policy", "policy_file", type=click.Path(path_type=Path), help="Policy file (TOML).")
@click.option("--quasi", type=Names(), help="Columns that others may know, with commas between.")
@click.option("--sensitive", type=Names(), help="Columns to protect and keep.")
@click.option("--identifying", type=Names(), help="Columns to drop.")
@click.option("--insensitive", type=Names(), help="Columns to keep as they are.")
@click.option(
    "--others",
    type=click.Choice(["identifying", "quasi", "sensitive", "insensitive"]),
    help="Role of every column not named.  [default: guessed]",
)
@click.option("--hierarchy", "hierarchies", multiple=True, metavar="COLUMN=FILE", help="A hierarchy in ARX's CSV form.")
@click.option("-k", type=int, help="k-anonymity: groups of at least k.  [default: 5, of strings 20]")
@click.option("-l", type=float, help="distinct l-diversity: at least l sensitive values a group.")
@click.option("-t", type=float, help="t-closeness: sensitive values distributed as in the whole.")
@click.option(
    "--method",
    "partition",
    help="mondrian, k-member, nearest-neighbours, local-recoding, mdav, v-mdav, curve, univariate, full-domain or "
    "datafly.  [default: mondrian]",
)
@click.option("--effort", help="fast, balanced or best: how hard to look for better groups.  [default: fast]")
@click.option("--publish", help="generalise, aggregate, condense, bucketize, slice or screen.  [default: by method]")
@click.option(
    "--slices",
    type=Slices(),
    help="For slice and screen: how many slices of columns, or which, as in 'age,sex;zip,job'.  [default: best]",
)
@click.option(
    "--jointly/--separately",
    default=None,
    help="For the same: protect the combination of sensitive values, or each of them.  [default: separately]",
)
@click.option("--missing", help="value: a missing value is a value of its own; any: it may hide any value (stricter).")
@click.option("--suppression", type=float, help="At most this share of records may be left out.  [default: 0]")
@click.option("--target", metavar="COLUMN", help="Compare in the report how well models predict this column.")
@input_options
@click.option("--eps", type=float, help="Of strings: lengths in a group differ by a factor of 1 + eps.  [default: 1.5]")
@click.option("--order", type=int, help="Of strings: a symbol depends on order - 1 before it.  [default: 2]")
@click.option(
    "--support", type=int, help="Of strings: how many of a group must carry what a symbol depends on.  [default: 3]"
)
@click.option("--lengths", help="Of strings: spread, or template (one length a segment).  [default: spread]")
@click.option("--homogenize", help="Of strings: optimal or greedy choice of lengths alike.  [default: optimal]")
@click.option("--rare", type=int, help="Of strings: symbols in fewer strings are not shown.  [default: k]")
@click.option("--keep", type=Names(), help="Secrets to keep in private/: groups, mapping; of strings also statistics.")
@click.option("--seed", type=int, help="Make --effort best, --publish condense and strings repeatable; keep it secret.")
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
    kind: str | None,
    **asked: Any,
) -> None:
    """Make a release of DATA: protected, checked, with a report.

    \b
    Examples:
      shoal anonymize people.csv -p policy.toml -o out/
      shoal anonymize people.csv --quasi age,zip --sensitive disease -k 5 --method mondrian -o out/
      shoal anonymize human.fasta -k 20 --eps 1.5 --order 2 --support 3 -o out/
      shoal anonymize splice.csv --kind strings --column sequence --class-column class -o out/
    """
    from shoal.api import anonymize as anonymize_source
    from shoal.release_folder import refuse_occupied

    refuse_occupied(out)
    policy = asked_policy(data, policy_file, kind, hierarchies, asked)
    with _progress(not as_json) as progress:

        def step(what: str, done: int, total: int) -> None:
            _Improving.is_on = what.startswith(_Improving.STEP)
            progress(f"{what} (Ctrl-C: stop here, keep the best)" if _Improving.is_on else what, done, total)

        release: Any = anonymize_source(
            data,
            policy,
            seed=seed,
            workers=workers,
            pool=pool,
            cluster=cluster,
            progress=step,
            stop=lambda: _Improving.is_stopped,
        )
        if policy.kind == "table" and policy.target is not None:
            progress(f"learning to predict {plain(policy.target)}", 0, 0)
            _ = release.learning
        progress("writing the release", 0, 0)
        release.save(out, keep=keep or ())
        _all_is_written(out)
    if as_json:
        print_json(summary(release, out) if policy.kind == "table" else string_summary(release, out))
    else:
        (print_release if policy.kind == "table" else print_string_release)(release, out)


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
@click.option(
    "--private",
    type=click.Path(path_type=Path),
    help="The private/ folder with the groups that were kept (--keep groups), for pseudo-records and strings.",
)
@click.option("--label", metavar="REGEX", help="Finds the class in the descriptions of a FASTA original.")
@_json_option
def check(
    folder: Path,
    original: Path | None,
    policy_file: Path | None,
    private: Path | None,
    label: str | None,
    as_json: bool,
) -> int:
    """Recompute every guarantee from a published folder; exit code 5 if it is not known to be what it claims to be.

    \b
    Examples:
      shoal check out/publish --original people.csv
      shoal check out/publish --original people.csv --private out/private
    """
    from shoal.api import check_folder
    from shoal.string_policy import read_policy

    found = check_folder(folder, original, read_policy(policy_file) if policy_file else None, private, label=label)
    if as_json:
        print_json(found.to_dict())
    else:
        print_check(found)
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
@click.option("-k", "--k", "k", type=Sizes(), default="2,5,10,20", show_default=True, help="Every k to try.")
@click.option(
    "--method", "partitions", type=Names(), default="mondrian,mdav", show_default=True, help="Every method to try."
)
@click.option("--publish", type=Names(), help="Ways of publishing to try.  [default: the policy's, or by method]")
@click.option("--effort", type=Names(), help="Efforts to try: fast, balanced, best.  [default: the policy's]")
@click.option("--suppression", type=Numbers(), help="Shares of records that may be left out, to try.")
@click.option("-l", type=Numbers(), help="Every l of distinct l-diversity to try.  [default: what the policy requires]")
@click.option("-t", type=Numbers(), help="Every t of t-closeness to try.  [default: what the policy requires]")
@click.option("--target", metavar="COLUMN", help="Also compare how well models predict this column.")
@click.option(
    "--measure",
    "measures",
    type=Names(),
    help="Losses to show; the first is drawn and decides: GCP, query-error, IL, accuracy, ...  [default: several]",
)
@click.option("--workers", type=click.IntRange(min=1), default=1, show_default=True, help="Releases tried at once.")
@click.option(
    "--pool", type=click.Choice(["threads", "processes"]), default="threads", show_default=True, help="Kind of workers."
)
@_json_option
def sweep(data: Path, out: Path, policy_file: Path | None, as_json: bool, **asked: Any) -> int:
    """Try methods and their parameters on DATA: what risk each leaves and what it costs. Publishes nothing.

    \b
    Examples:
      shoal sweep people.csv -p policy.toml --k 2,5,10,20 --method mdav,mondrian -o sweep/
      shoal sweep people.csv -p policy.toml --k 5 -l 2,3,4 --suppression 0,0.02 --target income --measure AUC,GCP
    """
    from shoal.data.string_files import looks_like_strings
    from shoal.frontier import sweep as sweep_source
    from shoal.policy import Policy
    from shoal.report.frontier import as_text
    from shoal.string_policy import StringPolicy, read_policy

    policy = read_policy(policy_file) if policy_file else Policy()
    if isinstance(policy, StringPolicy) or looks_like_strings(data) is not None:
        raise click.UsageError("sweep compares releases of tables; make releases of strings one by one with anonymize")
    with _progress(not as_json) as progress:
        try:
            found = sweep_source(data, policy, folder=out, progress=progress, **asked)
        except KeyboardInterrupt:
            kept = any(out.glob("cells/*.json"))
            done = f"what was finished is in {out}; the same command goes on from there" if kept else "nothing was kept"
            raise _Paused(f"interrupted; {done}") from None
        _all_is_written(out)
    files = ["-p", str(policy_file)] if policy_file else []
    line = shlex.join(["shoal", "anonymize", str(data), *files, *found.options, "-o", "out"])
    if as_json:
        print_json({"out": str(out), **found.to_dict(), "command": line if found.proposed else None})
    else:
        click.echo("\n".join(plain(text) for text in as_text(found)))
        click.echo(f"Keep  {out}  (open sweep.html)")
        if found.proposed:
            click.echo(f"\nTo make the proposed release:\n  {plain(line)}")
    return 0 if any(c.holds for c in found.cells) else 4


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
