"""The pictures of the gallery and of the README, drawn by the same code as those of reports: `docs/gallery.md`.

python -m reproductions.gallery
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

import shoal
from shoal.data.samples.clinic import clinic
from shoal.data.samples.town import town
from shoal.kinds.trajectories.policy import TrajectoryPolicy
from shoal.report.attacks import by_risk, forest
from shoal.report.sweep import loss_against_risk
from shoal.report.tables.pictures import class_sizes
from shoal.report.tables.report import render_report
from shoal.report.trajectories.report import render_trajectory_report

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
FOLDER = DOCS / "gallery"
STYLES = ROOT / "src" / "shoal" / "report" / "templates" / "page.css"
MOST_BYTES = 40_000
SHOWN = ("age", "sex", "zip", "admission", "diagnosis")
N_ROWS = 3
PAGE = """# Gallery

Made by `python -m reproductions.gallery`, of an invented clinic's 1,000 patients and an invented town's trips. The
pictures are drawn by the code that draws those of reports.

## Rows before and after

Three invented patients:

{head}
{before}

Three published rows, of groups of at least 5 with at least 3 diagnoses; they are not those of the three above:

{head}
{after}

## Who could be found

The records by the size of their class: before (grey), nearly all stand alone; after, no class has fewer than 5.

![Records by the size of their class before and after](gallery/groups.svg)

## What attackers got

How often each attack succeeded on members (round), on others who were held out (square), and by guessing (tick):
[Attack your own release](how-to/attacks.md).

![Success of each attack on members, on others and by guessing](gallery/attacks.svg)

## An attribute before and after

Grey before, blue after: a range counts in equal parts for all that lies in it, a set for each of its members.

![Histogram of age before and after](gallery/age.svg)

![Shares of occupations before and after](gallery/occupation.svg)

## What methods cost, and what risk they leave

Two methods at four sizes of groups, by `shoal sweep`: [Choose a method and a k](how-to/sweep.md).

![Loss against risk of two methods](gallery/sweep.svg)

## Trips through a town

Where the points of invented trips lie, before and after boxes of at least 4 trips took their place:
[Trajectories](how-to/trajectories.md).

![Map of the points of trips before and after](gallery/map.svg)
"""


def colours() -> dict[str, str]:
    """What the names of colours mean on a light page."""
    root = STYLES.read_text(encoding="utf-8").split("}")[0]
    return dict(re.findall(r"--([\w-]+): (#\w+)", root))


def alone(svg: str) -> str:
    """A picture that stands by itself: with its colours, on paper."""
    known = colours()
    text = re.sub(r"var\(--([\w-]+)\)", lambda match: known[match[1]], svg)
    width, height = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', text).groups()  # type: ignore[union-attr]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif"'
    paper = f'<rect width="{width}" height="{height}" fill="{known["paper"]}"/>'
    opening = re.match(r"<svg[^>]*>", text)[0]  # type: ignore[index]
    return f"{opening.replace('<svg', head, 1)}{paper}{text[len(opening) :]}\n"


def picture(page: str, label: str) -> str:
    """The picture of a page whose text begins so."""
    return next(svg for svg in re.findall(r"<svg.*?</svg>", page, re.DOTALL) if f'aria-label="{label}' in svg)


def rows(columns: dict[str, list[object]], order: np.ndarray) -> list[str]:
    """Some records as rows of a table."""
    return [
        "| " + " | ".join(str(columns[name][i]).removesuffix("T00:00:00.000000") for name in SHOWN) + " |"
        for i in order.tolist()
    ]


def page() -> str:
    """Draw all pictures, and write the page that shows them."""
    FOLDER.mkdir(exist_ok=True)
    people = clinic(1000)
    policy = shoal.Policy.of(
        quasi=["age", "sex", "zip", "marital_status", "occupation", "admission"],
        sensitive=["diagnosis"],
        others="identifying",
        k=5,
        l=3,
    )
    release = shoal.anonymize(people, policy, seed=1, hold_out=0.1)
    report = render_report(release._context())
    swept = shoal.sweep(people, policy, k=[2, 5, 10, 20], methods=["mondrian", "mdav"])
    places = shoal.anonymize(town(150, seed=3), TrajectoryPolicy.of(k=4), seed=1)
    tracks = render_trajectory_report(places)
    drawn = {
        "groups": class_sizes(release.risk_before.records_by_class_size, release.risk_after.records_by_class_size),
        "attacks": forest(by_risk(release.attacked.results)),
        "age": picture(report, "Histogram of age"),
        "occupation": picture(report, "Shares of the values of occupation"),
        "sweep": loss_against_risk(swept),
        "map": next(svg for svg in re.findall(r"<svg.*?</svg>", tracks, re.DOTALL) if "Share of attempts" not in svg),
    }
    for name, svg in drawn.items():
        text = alone(str(svg))
        assert len(text) < MOST_BYTES, (name, len(text))
        (FOLDER / f"{name}.svg").write_text(text, encoding="utf-8")
    published = {name: list(column) for name, column in release.data.items()}
    some = np.arange(0, len(published["age"]), len(published["age"]) // N_ROWS)[:N_ROWS]
    head = ["| " + " | ".join(SHOWN) + " |", "|" + "---|" * len(SHOWN)]
    before = rows({name: list(column) for name, column in people.items()}, some)
    return PAGE.format(head="\n".join(head), before="\n".join(before), after="\n".join(rows(published, some)))


if __name__ == "__main__":
    (DOCS / "gallery.md").write_text(page(), encoding="utf-8")
