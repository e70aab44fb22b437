"""A stored run as text: tables for the terminal, and Markdown for ``docs/benchmarks.md``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.child import ROOT

PAGE = ROOT / "docs" / "benchmarks.md"
MEMORY_PAGE = ROOT / "docs" / "benchmarks-memory.md"
"""What is measured with a bound on memory; each of its parts is written by a module of its own."""
HEAD = ("contestant", "seconds", "best", "ratio", "goal", "CPU s", "CPU ratio", "warm-up", "peak MB", "numbers")


def rows_of(case: dict[str, Any]) -> list[tuple[str, ...]]:
    """The lines of a case's table, as `HEAD` says."""
    return [
        (
            c["name"],
            seconds(c.get("seconds")) if "failure" not in c else f"failed: {c['failure']}",
            seconds(c.get("best_seconds")) if c.get("repeats", 1) > 1 else "",
            times(c["ratio"]) if "ratio" in c else "",
            goal(c),
            seconds(c.get("cpu_seconds")),
            times(c["cpu_ratio"]) if "cpu_ratio" in c else "",
            seconds(c.get("first_seconds")),
            f"{c['peak_mb']:,.0f}" if "peak_mb" in c else "",
            numbers(c.get("numbers", {})),
        )
        for c in case["contestants"]
    ]


def seconds(value: float | None) -> str:
    """Three digits, which is more than a noisy machine deserves.

    >>> seconds(0.012345), seconds(12.345), seconds(None)
    ('0.0123', '12.3', '')
    """
    if value is None:
        return ""
    return f"{value:.4f}" if value < 0.1 else f"{value:.3g}"


def times(ratio: float) -> str:
    """A ratio.

    >>> times(0.512), times(61.23), times(2091.4)
    ('0.51 x', '61 x', '2,091 x')
    """
    return f"{ratio:,.0f} x" if ratio >= 100 else f"{ratio:.2g} x"


def goal(contestant: dict[str, Any]) -> str:
    """What was wanted and whether it was reached; of what was not measured only the former."""
    for wanted, sign, got in (("at_least", "≥", "ratio"), ("at_most", "≤", "seconds")):
        if wanted in contestant:
            aim, reached = contestant[wanted], contestant.get(got)
            text = f"{sign} {aim:g} {'x' if got == 'ratio' else 's'}"
            if reached is None:
                return text
            is_met = reached >= aim if got == "ratio" else reached <= aim
            return f"{text}: {'met' if is_met else 'missed'}"
    return ""


def numbers(found: dict[str, float]) -> str:
    """Names and values in a line, whole numbers in full.

    >>> numbers({"GCP": 0.331437, "DM": 50815576.0})
    'GCP 0.331437, DM 50,815,576'
    """
    return ", ".join(f"{n} {v:,.0f}" if v == int(v) else f"{n} {v:,.6g}" for n, v in found.items())


def print_run(run: dict[str, Any]) -> None:
    """Print the tables of a run."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()
    if not console.is_terminal:
        console = Console(width=140)
    for case in run["cases"]:
        lines = rows_of(case)
        shown = [i for i in range(len(HEAD)) if i < 2 or any(line[i] for line in lines)]
        table = Table(title=escape(f"{case['name']}: {case['task']}\n{case['data']}"), title_justify="left")
        for i in shown:
            table.add_column(
                HEAD[i],
                justify="right" if HEAD[i] in ("seconds", "best", "ratio", "CPU s", "CPU ratio", "peak MB") else "left",
            )
        for line in lines:
            table.add_row(*(escape(line[i]) for i in shown))
        console.print(table)
        if case["summary"]:
            console.print(escape(numbers(case["summary"])))
        console.print()
    console.print(escape(machine_line(run)))


def machine_line(run: dict[str, Any]) -> str:
    """Where and when."""
    m = run["machine"]
    libraries = ", ".join(f"{name} {m[name]}" for name in ("shoal", "numpy", "numba", "duckdb"))
    return (
        f"{run['date']}, {m['processor']}, {m['cores']} cores, {m['system']}, Python {m['python']}, {libraries}; "
        f"load before and after {run['load'][0]}, {run['load'][1]}"
    )


def markdown(run: dict[str, Any]) -> str:
    """The run for the documentation."""
    parts = [f"Measured: {machine_line(run)}."]
    for case in run["cases"]:
        lines = rows_of(case)
        shown = [i for i in range(len(HEAD)) if i < 2 or any(line[i] for line in lines)]
        parts.append(f"### {case['name']}\n\n{case['task']}. Data: {case['data']}.")
        table = [[HEAD[i] for i in shown], ["---"] * len(shown)]
        table += [[line[i].replace("|", "\\|") for i in shown] for line in lines]
        parts.append("\n".join("| " + " | ".join(cells) + " |" for cells in table))
        if case["summary"]:
            parts.append(f"{numbers(case['summary'])}.".capitalize())
    return "\n\n".join(parts)


def fill_page(run: dict[str, Any], page: Path = PAGE, block: str = "results") -> None:
    """Put a run between the markers of the page; a page may have several blocks, by their names."""
    fill_part(page, block, markdown(run))


def fill_part(page: Path, part: str, told: str) -> None:
    """Put a text between the markers of a part of the page."""
    begin, end = f"<!-- {part}: begin -->", f"<!-- {part}: end -->"
    text = page.read_text(encoding="utf-8")
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"{page.name} must hold {begin!r} and {end!r} once each")
    head, rest = text.split(begin)
    tail = rest.split(end)[1]
    page.write_text(f"{head}{begin}\n\n{told}\n\n{end}{tail}", encoding="utf-8")
