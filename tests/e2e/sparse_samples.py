"""Small sparse records for the command line: two kinds of customers, whose carts hold what nobody may learn."""

from __future__ import annotations

import random
from pathlib import Path

from tests.e2e.command import SECRET, write

Carts = list[list[str]]


def carts(n_records: int = 60, seed: int = 1) -> Carts:
    """Lists of 8 to 14 of 36 items; every third one holds the secret."""
    draw = random.Random(seed)
    made = []
    for i in range(n_records):
        popular = range(24) if i % 2 else range(12, 36)
        items = [f"ware{j:02d}" for j in draw.sample(popular, draw.randint(8, 14))]
        made.append([*items, SECRET] if i % 3 == 0 else items)
    return made


def class_of(i: int) -> str:
    return "ab"[i % 2]


def baskets(records: Carts, line_end: str = "\n") -> str:
    return "".join(" ".join(items) + line_end for items in records)


def svmlight(records: Carts, values: tuple[str, ...] = ("1", "0.5", "2.25")) -> str:
    """A class, and a number and a value for each item."""
    names = {name: i for i, name in enumerate(sorted({name for items in records for name in items}), start=1)}
    lines = []
    for i, items in enumerate(records):
        numbers = sorted(names[name] for name in items)
        told = " ".join(f"{n}:{values[(i + n) % len(values)]}" for n in numbers)
        lines.append(f"{'+1' if i % 2 else '-1'} {told}  # {SECRET}{i}\n")
    return "".join(lines)


def table(records: Carts, between: str = ";") -> str:
    rows = (f"{SECRET}{i},{between.join(items)},{class_of(i)}\n" for i, items in enumerate(records))
    return "id,cart,group\n" + "".join(rows)


def texts(folder: Path, records: Carts) -> None:
    """A file a record, in a folder a class."""
    for i, items in enumerate(records):
        write(folder / class_of(i) / f"{SECRET}{i}.txt", " ".join(items) + ".\n")


def rows_of(private: Path) -> list[int]:
    """The original record of each published one, counted from 0."""
    lines = (private / "rows.csv").read_text().splitlines()[1:]
    return [int(line.split(",")[1]) - 1 for line in lines]
