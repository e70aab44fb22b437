"""The command line: parse, make a policy, call, print. No logic of its own."""

from __future__ import annotations

import os
import shlex
import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from shoal import lazy
from shoal._version import __version__
from shoal.cli import interrupts, standard_streams
from shoal.cli.attack_help import AttackCommand
from shoal.cli.board import report
from shoal.cli.group import Group, as_written
from shoal.cli.habits import COMPLETION, PATH, SHELLS, completion_script, habits, path_option, show_in_browser
from shoal.cli.habits import progress as progress_of
from shoal.cli.harden import harden
from shoal.cli.option_types import Names
from shoal.cli.options import PolicyCommand, asked_policy, header_alone, in_how_much_memory
from shoal.cli.output import plain, print_json, print_release, print_shown, summary, write_own
from shoal.cli.several import asked_for_several, other_options, several_options
from shoal.cli.stream import stream
from shoal.cli.studio import studio
from shoal.cli.sweep import HOW_TO_SWEEP, print_sweep, sweep_options
from shoal.data.sniff import one_look
from shoal.errors import ShoalError

LICENCE_TO_TRACE = "SHOAL_TRACEBACK"


def main() -> None:
    """Run a command; every failure is one sentence and an exit code, never a traceback."""
    if hasattr(sys.stdout, "reconfigure"):  # a name that the terminal cannot show is no reason to fail
        sys.stdout.reconfigure(errors="backslashreplace")
    if COMPLETION in os.environ:
        shoal.main(prog_name="shoal")
    interrupts.watch()
    lazy.is_alone = True
    try:
        with one_look():
            code = shoal.main(standalone_mode=False)
    except ShoalError as error:
        code = _complain(str(error), error.exit_code)
    except click.ClickException as error:
        code = _complain(error.format_message(), 2)
    except (KeyboardInterrupt, click.Abort):
        code = _complain(f"interrupted; {interrupts.what_is_there()}", 130)
    except (BrokenPipeError, SystemExit):  # click exits where who reads our output has seen enough of it
        _give_up_printing()
        code = 0 if interrupts.written else 1
    except MemoryError:
        code = _complain(f"there is not enough memory for this data; {interrupts.what_is_there()}", 1)
    except Exception as error:
        if isinstance(error, OSError) and _is_output_refused():
            _give_up_printing()
            reason = error.strerror or type(error).__name__
            code = _complain(f"the output cannot be printed: {reason}; {interrupts.what_is_there()}", 1)
        elif os.environ.get(LICENCE_TO_TRACE):
            raise
        else:
            code = (
                _complain(f"interrupted; {interrupts.what_is_there()}", 130)
                if interrupts.received
                else _complain(_defect(error), 1)
            )
    interrupts.unwatch()
    sys.exit(code if isinstance(code, int) else 0)


def _defect(error: Exception) -> str:
    return (
        f"this is a defect of Shoal ({type(error).__name__}); {interrupts.what_is_there()}. "
        f"Please report it with the output of the same command under {LICENCE_TO_TRACE}=1"
    )


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


def _complain(message: str, code: int) -> int:
    click.echo(f"shoal: {plain(standard_streams.named(message))}", err=True)
    return code


@click.group(
    cls=Group,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, prog_name="shoal", message="%(prog)s %(version)s")
@click.pass_context
def shoal(context: click.Context) -> None:
    """Make data fit for publication: records in groups of at least k, and every guarantee checked.

    \b
    Start here:
      shoal demo -o demo/
      shoal profile people.csv
      shoal anonymize people.csv -p policy.toml -o out/
      shoal check out/publish --original people.csv
      shoal attack out/publish --original people.csv
      shoal sweep people.csv -p policy.toml --k 2,5,10 --method mdav,mondrian
      shoal harden people.csv -p policy.toml --risk 0.09
      shoal report out/ --for iso27559
      shoal stream -p policy.toml --in visits.csv -o out/
      shoal studio people.csv
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@shoal.command()
@path_option("-o", "--out", default=Path("demo"), show_default=True, help="Folder to make.")
@click.option("--rows", type=click.IntRange(min=50), default=1000, show_default=True, help="Patients to invent.")
@click.option("--open", "is_shown", is_flag=True, help="Open the table's report in a browser.")
@habits
def demo(out: Path, rows: int, is_shown: bool, as_json: bool) -> None:
    """Do the main job on an invented table, strings, baskets and trajectories, ending with reports to open.

    \b
    Example:
      shoal demo -o demo/
    """
    from shoal.cli.demo import DemoPart, run_demo

    def tell(part: DemoPart) -> None:
        if not as_json:
            click.echo(f"{part.title}:")
            print_release(part.release, None)
            click.echo("")

    parts = run_demo(out, rows, partial(progress_of, not as_json), tell)
    interrupts.all_is_written(out)
    if is_shown:
        show_in_browser(out / "private" / "report.html")
    if as_json:
        table, *others = parts
        told = {part.folder: summary(part.release, part.place(out)) for part in others}
        print_json({**summary(table.release, out), **told})
        return
    click.echo("Open these: for each release the report, for you alone, and the datasheet, published with the data.")
    for part in parts:
        click.echo(f"  {part.place(out) / 'private' / 'report.html'}")
        click.echo(f"  {part.place(out) / 'publish' / 'datasheet.html'}")
    click.echo("The inputs are in the input/ folders next to them. Try next:")
    click.echo(f"  shoal check {out / 'publish'} --original {out / 'input' / 'clinic.csv'}")
    click.echo(f"  shoal profile {out / 'input' / 'clinic.csv'}")
    for part in parts[1:]:
        where = part.place(out)
        given = f"--original {where / 'input' / part.data} --control {where / 'input' / part.unseen}"
        click.echo(f"  shoal attack {where / 'publish'} {given}")


def _source(paths: tuple[Path, ...]) -> Any:
    """One file as it is; several by the names of their tables; standard input as a file."""
    from shoal.data.linked.linked import name_files

    paths = standard_streams.files_of(paths)
    return paths[0] if len(paths) == 1 else name_files(paths)


@shoal.command(cls=PolicyCommand, asks=in_how_much_memory)
@click.argument("data", type=PATH, nargs=-1, required=True)
@path_option(
    "-o", "--out", default=None, help="Where to write the policy.  [default: policy.toml, unless there is one]"
)
@click.option("--no-sweep", is_flag=True, help="Do not try methods on a sample of the records to propose one.")
@habits
def profile(
    data: tuple[Path, ...], out: Path | None, no_sweep: bool, as_json: bool, kind: str | None, **asked: str | None
) -> None:
    """Show guessed types and roles, the risk in the data as it is, and a method; write a policy to edit.

    For strings: how many, how long, with which symbols and classes. For sparse records: how many, with how many items.
    Several files are tables of the same persons, the first of them with one row per person.

    \b
    Examples:
      shoal profile people.csv -o policy.toml
      shoal profile large.parquet --memory 2GB -o policy.toml
      shoal profile human.fasta -o policy.toml
      shoal profile baskets.dat --kind sparse -o policy.toml
      shoal profile patients.csv labs.csv --link id -o policy.toml
    """
    from shoal.api import profile as profile_source

    path = out or Path("policy.toml")
    if out is not None and path.exists():
        raise ShoalError(f"{path} exists; choose another name for the policy, or remove it first")
    source = _source(data)
    policy = asked_policy(source, None, kind, asked)
    with progress_of(not as_json) as progress:
        found: Any = profile_source(source, policy, sweep=not no_sweep, progress=progress)
    if written := not path.exists():
        write_own(path, found.to_toml(), "the policy")
    if as_json:
        print_json(found.to_dict())
        return
    print_shown(found)
    if written:
        click.echo(f"\nWrote {path}. Correct the guesses there, then run:")
        click.echo(f"  shoal anonymize {shlex.join(map(str, data))} -p {path} -o out/")
    else:
        click.echo(f"\n{path} exists and was left as it is; name another with -o to write the guesses down.")


@shoal.command(cls=PolicyCommand, first=("out", "policy_file", "kind"))
@click.argument("data", type=PATH, nargs=-1, required=True)
@path_option("-o", "--out", required=True, help="New folder; - for data alone.")
@path_option("-p", "--policy", "policy_file", help="Policy file (TOML).")
@path_option(
    "--key",
    "key_file",
    help="For sparse records: the key of another release (its private/key.txt), to be compared with it.",
)
@path_option(
    "--after", help="For tables: the private/ folder of the previous release of the same persons, with its ledger."
)
@path_option(
    "--resume",
    metavar="FOLDER",
    help="For tables with --memory: a new folder for finished steps, from which the same command continues if it was "
    "killed. It holds rows of the original, and is removed once the release is there.",
)
@click.option(
    "--keep",
    type=Names(),
    help="Secrets to keep in private/: groups, mapping, rows, for tables with pseudonyms also key, and ledger for "
    "later releases; for strings also statistics; for sparse records rows and key. Where persons are counted, the "
    "list by which check counts them is kept too, unless this is nothing.",
)
@click.option("--force", is_flag=True, help="Replace the release that is in the folder, once the new one is complete.")
@click.option("--open", "is_shown", is_flag=True, help="Open the report in a browser.")
@click.option("--no-report", "report", is_flag=True, default=True, flag_value=False, help="Write no report: faster.")
@click.option(
    "--hold-out",
    type=float,
    metavar="SHARE",
    help="Leave this share of the records out of the release, as a comparison for attacks; the report then shows "
    "attacks.",
)
@path_option("--control", help="Compare with the records of this file instead, none of which is in DATA.")
@click.option("--seed", type=int, help="Make what draws random numbers repeatable; keep it secret.")
@click.option("--workers", type=click.IntRange(min=1), default=1, show_default=True, help="Blocks worked on at once.")
@click.option(
    "--pool", type=click.Choice(["threads", "processes"]), default="threads", show_default=True, help="Kind of workers."
)
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Work on a dask cluster, or, after ray:, on a Ray cluster (extras: distributed, ray).",
)
@habits
def anonymize(
    data: tuple[Path, ...],
    out: Path,
    policy_file: Path | None,
    keep: tuple[str, ...] | None,
    force: bool,
    is_shown: bool,
    report: bool,
    seed: int | None,
    workers: int,
    pool: Any,
    cluster: str | None,
    key_file: Path | None,
    hold_out: float | None,
    control: Path | None,
    after: Path | None,
    resume: Path | None,
    as_json: bool,
    kind: str | None,
    **asked: Any,
) -> None:
    """Make a checked release of DATA, with a report. Several files are tables of the same persons (--link).

    \b
    Examples:
      shoal anonymize people.csv -p policy.toml -o out/
      shoal anonymize people.csv --quasi age,zip --sensitive disease -k 5 --method mondrian -o out/
      shoal anonymize human.fasta -k 20 --eps 1.5 --order 2 --support 3 -o out/
      shoal anonymize splice.csv --kind strings --column sequence --class-column class -o out/
      shoal anonymize baskets.dat --kind sparse --model k-variance -k 10 -o out/
      shoal anonymize posts.csv --kind sparse --format text --column text --class-column group -o out/
      shoal anonymize patients.csv labs.csv --link id -p policy.toml -o out/
      shoal anonymize people-2.csv -p policy.toml --after out/private -o out-2/
      zcat people.csv.gz | shoal anonymize - -p policy.toml -o - > published.csv
    """
    from shoal.api import anonymize as anonymize_source
    from shoal.kind import kind_of_policy
    from shoal.resume import what_is_kept
    from shoal.stage import refuse_occupied

    if is_shown and not report:
        raise click.UsageError("--open shows the report, and --no-report writes none; leave one of both out")
    if is_piped := out == standard_streams.STREAM:
        refused = {"--json": as_json, "--open": is_shown, "--keep": keep, "--force": force, "--resume": resume}
        out, report = standard_streams.hold_back(data, refused), False
    if resume is not None:
        interrupts.go_on_from(resume, out, data)
    try:
        refuse_occupied(out, replace=force)
    except ShoalError as error:
        kept = None if resume is None else what_is_kept(resume)
        raise ShoalError(f"{error}; {kept}" if kept else str(error)) from None
    source = _source(data)
    policy: Any = asked_policy(source, policy_file, kind, asked_for_several(asked, keep, after))
    key, found = None, kind_of_policy(policy)
    if key_file is not None:
        from shoal.secrets import read_key

        key = read_key(key_file)
    with progress_of(not as_json) as progress:

        def step(what: str, done: int, total: int) -> None:
            interrupts.Improving.is_on = what.startswith(interrupts.Improving.STEP)
            progress(f"{what} (Ctrl-C: stop here, keep the best)" if interrupts.Improving.is_on else what, done, total)

        release: Any = anonymize_source(
            source,
            policy,
            seed=seed,
            key=key,
            hold_out=hold_out,
            control=control,
            workers=workers,
            pool=pool,
            cluster=cluster,
            progress=step,
            stop=(lambda: interrupts.Improving.is_stopped) if "stop" in found.takes else None,
            after=after,
            resume=resume,
        )
        if report and (target := getattr(policy, "target", None)) is not None:
            progress(f"learning to predict {plain(target)}", 0, 0)
            _ = release.learning
        if report:
            progress("attacking the release", 0, 0)
            _ = release.attacked
        progress("writing the release", 0, 0)
        release.save(out, keep=keep or (), report=report, replace=force, command=as_written())
        interrupts.all_is_written(out)
    if as_json:
        print_json(summary(release, out, report=report))
    else:
        print_release(release, None if is_piped else out, report=report)
    if is_piped:
        standard_streams.give_out(out)
    if is_shown and report:
        show_in_browser(out / "private" / "report.html")


@shoal.command(cls=PolicyCommand, asks=header_alone, makes_policy=False)
@click.argument("folder", type=PATH)
@path_option(
    "--original",
    multiple=True,
    help="The original data, to compare with; for linked tables once for each, in their order.",
)
@path_option("-p", "--policy", "policy_file", help="Require what this policy requires, whatever the manifest says.")
@path_option(
    "--private",
    help="The private/ folder with what was kept: groups (pseudo-records, strings), rows (tables), key (sparse).",
)
@click.option("--label", metavar="REGEX", help="Finds the class in the descriptions of a FASTA original.")
@click.option("--memory", metavar="SIZE", help="Check a table without holding it, in about this much memory (2GB).")
@several_options
@habits
def check(
    folder: Path,
    original: tuple[Path, ...],
    policy_file: Path | None,
    private: Path | None,
    label: str | None,
    memory: str | None,
    header: Any,
    beside: tuple[Path, ...],
    as_json: bool,
) -> int:
    """Recompute every guarantee from a published folder; exit code 5 if one is not known to hold or something is wrong.

    What is claimed is read from the folder's own manifest; with -p, what your policy requires is checked instead.

    \b
    Examples:
      shoal check out/publish --original people.csv
      shoal check out/publish --original people.csv --private out/private
      shoal check out/publish --original patients.csv --original labs.csv --private out/private
      shoal check out-2/publish --with out/publish --private out-2/private
      shoal check out/publish --original large.parquet --memory 2GB
    """
    from shoal.api import check as check_folder
    from shoal.kind import read_policy

    policy = read_policy(policy_file) if policy_file else None
    source = _source(original) if original else None
    found = check_folder(folder, source, policy, private, label=label, header=header, beside=beside, memory=memory)
    if as_json:
        print_json(found.to_dict())
    else:
        print_shown(found)
    return 0 if found.holds else 5


@shoal.command(cls=AttackCommand, asks=header_alone, makes_policy=False)
@click.argument("folder", type=PATH)
@path_option(
    "--original",
    required=True,
    multiple=True,
    help="The original data; of linked tables once for each, in their order.",
)
@path_option(
    "--control", multiple=True, help="Records like them that were not in the release; of linked tables as the original."
)
@path_option(
    "--private", help="The private/ folder: its report then shows the results, and what was kept there is used."
)
@other_options
@path_option("--population", help="For tables: a file of the whole population.")
@click.option(
    "--attack", "names", type=Names(), help="Run only these, of those listed below.  [default: all that apply]"
)
@click.option("--memory", metavar="SIZE", help="Attack a table without holding it, in about this much memory (2GB).")
@click.option("--seconds", type=float, help="Start no attack after this many seconds.")
@click.option(
    "--fail-above",
    type=click.FloatRange(0, 1),
    metavar="RISK",
    help="Exit with code 5 if the interval of what an attack adds reaches beyond this risk.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Which records are drawn for attacks.")
@path_option("-o", "--out", help="A JSON file to write the results to.")
@habits
def attack(
    folder: Path,
    original: tuple[Path, ...],
    control: tuple[Path, ...],
    out: Path | None,
    fail_above: float | None,
    as_json: bool,
    **asked: Any,
) -> int:
    """Attack a published folder as others could, and say what they get; exit code 5 as --fail-above says.

    \b
    Examples:
      shoal attack out/publish --original people.csv --control unseen.csv
      shoal attack out/publish --original people.csv --private out/private --fail-above 0.1
      shoal attack out/publish --original large.parquet --memory 2GB
      shoal attack out/publish --original baskets.dat --private out/private
    """
    import json

    from shoal.api import attack as attack_folder
    from shoal.secrets import PrivateFolder

    if out is not None and out.exists():
        raise ShoalError(f"{out} exists; choose another name for the results, or remove it first")
    if out is not None and not out.absolute().parent.is_dir():  # told before the report is changed
        raise ShoalError(f"the results cannot be written to {out}: there is no such folder; make it first")
    with progress_of(not as_json) as progress:
        others = _source(control) if control else None
        found = attack_folder(folder, _source(original), others, progress=progress, **asked)
    if out is not None:
        write_own(out, json.dumps(found.to_dict(), indent=2, allow_nan=False) + "\n", "the results")
    if as_json:
        print_json(found.to_dict())
    else:
        print_shown(found)
    if (private := PrivateFolder.at(asked["private"])) is not None:
        from shoal.report.attacks import note_on_page

        click.echo(note_on_page(private), err=True, nl=False)
    above = [] if fail_above is None else [r.attack for r in found.results if r.may_add_more_than(fail_above)]
    if above:
        click.echo(f"adds more than {fail_above:g}, or may: {', '.join(above)}", err=True)
    return 5 if above else 0


@shoal.command(cls=PolicyCommand, asks=in_how_much_memory)
@sweep_options
@habits
def sweep(data: Path, policy_file: Path | None, as_json: bool, kind: str | None, **asked: Any) -> int:
    """Try methods and their parameters on DATA: what risk each leaves and what it costs. Publishes nothing.

    \b
    Examples:
      shoal sweep people.csv -p policy.toml --k 2,5,10,20 --method mdav,mondrian -o sweep/
      shoal sweep people.csv -p policy.toml --k 5 -l 2,3,4 --suppression 0,0.02 --target income --measure AUC,GCP
      shoal sweep large.parquet -p policy.toml --memory 2GB --k 10,20 --method mondrian,datafly
      shoal sweep human.fasta --k 10,20,50 --method window,markov --order 2,3 --support 3,5
      shoal sweep baskets.dat --kind sparse --k 5,10,20 --support 2,4
    """
    from shoal.sweep.sweep import sweep as sweep_source

    how: dict[str, Any] = {name: asked.pop(name) for name in HOW_TO_SWEEP}
    out: Path = how["folder"]
    reading = {name: value for name, value in asked.items() if value is not None}
    policy = asked_policy(data, policy_file, kind, asked)
    with progress_of(not as_json) as progress:
        try:
            found = sweep_source(data, policy, progress=progress, **how)
        except KeyboardInterrupt:
            kept = any(out.glob("cells/*.json"))
            done = f"what was finished is in {out}; the same command goes on from there" if kept else "nothing was kept"
            raise interrupts.Paused(f"interrupted; {done}") from None
        interrupts.all_is_written(out)
    if kind is not None:
        reading = {"kind": kind, **reading}
    return print_sweep(found, data, policy_file, reading, out, as_json)


@shoal.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the script that lets a shell complete commands and options.

    \b
    Examples:
      shoal completion fish > ~/.config/fish/completions/shoal.fish
      eval "$(shoal completion bash)"                              # in ~/.bashrc
      eval "$(shoal completion zsh)"                               # in ~/.zshrc
    """
    click.echo(completion_script(shoal, shell))


shoal.add_command(harden)
shoal.add_command(report)
shoal.add_command(stream)
shoal.add_command(studio)


if __name__ == "__main__":
    main()
