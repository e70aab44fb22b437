"""The tests of `data/tables/frames_back.py`."""

from __future__ import annotations

import pytest

import shoal
from shoal.api import anonymize
from shoal.kinds.tables.policy import Policy

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")


def test_ordered_categories_come_back_as_such_where_they_can() -> None:
    size = pd.Categorical(["low", "high", "mid", "low", "high", "mid"], categories=["low", "mid", "high"], ordered=True)
    frame = pd.DataFrame({"size": size, "disease": list("ababab")})
    asked = Policy.of(quasi=["size"], sensitive=["disease"], k=3, order="original")
    alike = anonymize(frame, asked.changed(publish="aggregate", k=2)).data["size"]
    assert alike.tolist() == size.tolist()
    assert alike.dtype == size.dtype
    averaged = anonymize(frame, asked.changed(publish="aggregate")).data["size"]
    assert averaged.tolist() == ["mid"] * 6  # the median; by the alphabet it would be low
    assert averaged.cat.ordered
    assert averaged.cat.categories.tolist() == ["mid"]  # those that nobody has any more do not show
    ranges = set(anonymize(frame, asked.changed(publish="generalise")).data["size"])
    assert ranges == {"[low..high]"}


def test_types_of_frames_list_no_value_that_is_not_published() -> None:
    jobs = ["pope"] + ["nurse"] * 3 + ["cook"] * 4
    policy = shoal.Policy.of(quasi=["job"], k=4, partition="mdav", publish="aggregate")
    frame = pd.DataFrame({"job": pd.Categorical(jobs)})
    assert list(shoal.anonymize(frame, policy).data["job"].cat.categories) == ["cook", "nurse"]
    other = pl.DataFrame({"job": pl.Series(jobs, dtype=pl.Enum(["cook", "nurse", "pope"]))})
    assert shoal.anonymize(other, policy).data["job"].dtype == pl.Enum(["cook", "nurse"])
