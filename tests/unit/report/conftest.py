"""A small release, made by hand, whose records would be noticed anywhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from shoal.check.guarantee import Guarantee, WorstClass
from shoal.check.tables.risk import BINS, Risk
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Source, Table, encode_cells
from shoal.kinds.tables.policy import Policy
from shoal.report.tables.context import ReportContext, describe_method
from shoal.utility.tables.measure import measure

N, K = 40, 5
HOSTILE = "<script>alert(1)</script>"
HOSTILE_TOO = '"><img src=x>'


def risk(smallest: int, n_records: int = N, n_unique: int = 0) -> Risk:
    sizes = dict.fromkeys(BINS, 0) | {"1": n_unique, "5-9": n_records - n_unique}
    rate = 1 / smallest
    return Risk(
        n_records=n_records, n_classes=n_records // smallest, n_unique=n_unique, unique_share=n_unique / n_records,
        k=K, n_below_k=n_unique, below_k_share=n_unique / n_records, prosecutor_highest=rate, prosecutor_average=rate,
        journalist_highest=rate, journalist_average=rate, population_known=False, marketer=rate,
        records_by_class_size=sizes,
    )  # fmt: skip


def guarantee(model: str = "k-anonymity", holds: bool = True, **more: Any) -> Guarantee:
    made = Guarantee(
        model=model, kind="", sensitive="", required={"k": K}, achieved=5.0, holds=holds, n_classes=8,
        n_failing=0 if holds else 1, worst=(WorstClass({"age": "[17..25]", "sex": "f"}, 5, 5.0),),
        sentence="Every record looks like at least 4 others.",
    )  # fmt: skip
    return replace(made, **more)


def objects(cells: list[str | None]) -> np.ndarray:
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array


def make(n_columns: int = 0, sex: tuple[str, str] = ("f", "m"), publish: str = "generalise", **changes: Any) -> Any:
    """A context and its published table; `n_columns` more quasi-identifiers, alternately numbers and categories."""
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(N // K), K).astype(np.int32)
    ages = np.sort(rng.integers(17, 90, N)).astype(float)
    ages[-1] = 113.0
    columns = {
        "person": objects([f"unique-person-{i}" for i in range(N)]),
        "age": ages,
        "sex": objects([sex[int(i)] for i in rng.integers(0, 2, N)]),
        "ill": objects([["flu", "cold"][int(i)] for i in rng.integers(0, 2, N)]),
        "remark": objects([f"free text {i}" for i in range(N)]),
    }
    roles = {"person": "identifying", "ill": "sensitive", "remark": "insensitive"}
    types = {"age": "continuous"}
    for i in range(n_columns):
        name = f"extra {i}"
        values = rng.normal(size=N) if i % 2 else objects([f"value {j}" for j in rng.integers(0, 15, N)])
        columns[name] = values
        types[name] = "continuous" if i % 2 else "nominal"
    attributes = {
        n: Attribute(n, types.get(n, "nominal"), roles.get(n, "quasi"), why="as the test says")  # type: ignore[arg-type]
        for n in columns
    }
    original = Table.of([encode_cells(n, c) for n, c in columns.items()], Source(name="people"))
    published = {}
    for name, cells in columns.items():
        if attributes[name].role == "quasi":
            published[name] = _published(cells, groups, publish)
        elif attributes[name].role != "identifying":
            published[name] = cells
    table = Table.of([encode_cells(n, c) for n, c in published.items()], Source(name="people"))
    method = Policy.of(k=K, publish=publish).method
    context = ReportContext(
        title="people", kind="table", method=describe_method(method, K), n_in=N, n_out=N, n_suppressed=0,
        guarantees=(guarantee(),), risk_before=risk(1, n_unique=30), risk_after=risk(5),
        utility=measure(original, table, np.arange(N), groups, attributes, K), attributes=attributes,
        notes=("Nothing to note.",), publish=publish, k=K,
    )  # fmt: skip
    return replace(context, **changes), table


def _published(cells: np.ndarray, groups: np.ndarray, publish: str) -> np.ndarray:
    labels: list[Any] = []
    for g in range(groups.max() + 1):
        members = cells[groups == g]
        if publish == "aggregate":
            labels.append(float(members.mean()) if cells.dtype != object else min(members))
        elif cells.dtype == object:
            labels.append("|".join(sorted(set(members))))
        else:
            labels.append(f"[{members.min():.4g}..{members.max():.4g}]")
    of_group = np.array(labels) if publish == "aggregate" and cells.dtype != object else objects(labels)
    return of_group[groups]


@pytest.fixture
def make_release() -> Callable[..., Any]:
    return make


@pytest.fixture
def make_guarantee() -> Callable[..., Guarantee]:
    return guarantee
