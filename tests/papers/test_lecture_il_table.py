"""IL1 to IL5 of MDAV on Census, against the table of Domingo-Ferrer and Torra (2005) that the lecture shows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from reproductions import lecture_il_table
from reproductions.lecture_il_table import PRINTED, losses, read_census, row_of

# Where we are more than half a unit of the last digit off; docs/reproductions/lecture-il-table.md says what is known.
APART = {((6, 6), 0), ((6, 6), 3), ((6, 9), 3), ((6, 12), 3), ((13, 12), 0), ((13, 12), 3)}


@pytest.fixture(scope="module")
def census(shared_data: Path) -> np.ndarray:
    return read_census(shared_data / "census" / "census.csv")[1]


@pytest.mark.parametrize("case", PRINTED, ids=str)
def test_the_printed_losses_come_out(census: np.ndarray, case: tuple[int, int]) -> None:
    ours = row_of(losses(census, *case))
    for i, printed in enumerate(PRINTED[case][:5]):
        within = 0.03 * printed if (case, i) in APART else 0.0005
        assert ours[i] == pytest.approx(printed, abs=within), f"IL{i + 1}"
    assert ours[5] == pytest.approx(PRINTED[case][5], rel=0.011)


def test_the_overall_loss_grows_with_k_and_with_the_attributes(census: np.ndarray) -> None:
    overall = {case: losses(census, *case).overall for case in PRINTED}
    for n_quasi in (6, 13):
        row = [overall[n_quasi, k] for k in (3, 6, 9, 12)]
        assert row == sorted(row)
    assert all(overall[13, k] > overall[6, k] for k in (3, 6, 9, 12))


def test_the_page_is_what_the_command_writes(
    shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_six = (tuple(range(6)),)
    monkeypatch.setattr(lecture_il_table, "_sets_that_fit", lambda path, k: first_six)  # the search takes a minute
    written = tmp_path / "page.md"
    lecture_il_table.main(["--data", str(shared_data / "census" / "census.csv"), "--page", str(written)])
    page = Path(__file__).resolve().parents[2] / "docs" / "reproductions" / "lecture-il-table.md"
    assert written.read_text(encoding="utf-8") == page.read_text(encoding="utf-8")
