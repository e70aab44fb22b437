"""Numbers out of bytes are those that Python reads, or none."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.tables.number_cells import read_digits

pytestmark = pytest.mark.usefixtures("either_way")


def read(cells: list[str]) -> list[float] | None:
    text = "".join(f"{c}," for c in cells).encode()
    ends = np.cumsum([len(c.encode()) + 1 for c in cells]) - 1
    begins = np.concatenate([[0], ends[:-1] + 1])
    values = np.empty(len(cells))
    found = read_digits(np.frombuffer(text, np.uint8), begins.astype(np.int64), ends.astype(np.int64), values)
    return values.tolist() if found else None


def test_they_are_the_floats_of_python_to_the_last_bit() -> None:
    rng = np.random.default_rng(1)
    cells = ["0", "-0", "00017", "123456789012345", "0.1", "-99.999", "0.000000000000001"]
    cells += [f"{rng.normal() * 10.0 ** rng.integers(-3, 7):.{rng.integers(1, 8)}f}" for _ in range(2000)]
    cells = [c for c in cells if sum(ch.isdigit() for ch in c) <= 15]
    assert read(cells) == [float(c) for c in cells]


@pytest.mark.parametrize(
    "cell",
    [
        "",
        "-",
        "+1",
        "1.",
        ".5",
        "1e3",
        " 1",
        "1 ",
        "1_0",
        "1,",
        "nan",
        "inf",
        "1.2.3",
        "--1",
        "1-",
        "1234567890123456",
        "١",
    ],
)
def test_others_are_left_to_a_slower_reader(cell: str) -> None:
    assert read(["1", cell, "2"]) is None
