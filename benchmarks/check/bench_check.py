"""Checks of a raw table, seven quasi-identifiers of Adult, against pycanon."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from benchmarks.data import QUASI, people, write_csv
from benchmarks.harness import Case, Setting, timed
from benchmarks.peers import PYCANON
from shoal.check.guarantee import Guarantee
from shoal.check.tables.verify import verify
from shoal.kinds.tables.kind import load
from shoal.kinds.tables.policy import KAnonymity, LDiversity, Requirement, TCloseness

SENSITIVE = "occupation"
MODELS: tuple[tuple[str, str, Requirement, float | None], ...] = (
    ("k-anonymity", "k_anonymity", KAnonymity(k=2), None),
    ("distinct l-diversity", "l_diversity", LDiversity(l=2), None),
    ("t-closeness", "t_closeness", TCloseness(t=0.5, distance="equal"), 100),
)


def cases(setting: Setting) -> Iterator[Case]:
    """A case for each model; both sides start from a table in memory and find the classes anew."""
    data = people(setting.quick)
    columns = data.select(QUASI)
    quasi = [name for name in QUASI if name != SENSITIVE]
    table = load(columns)

    def path() -> Path:
        return write_csv(columns, setting.folder / "check.csv")

    def achieved(found: Sequence[Guarantee]) -> dict[str, float]:
        return {"achieved": round(float(found[0].achieved), 6)}

    for model, peers_name, required, at_least in MODELS:
        yield Case(
            f"check {model}",
            f"{model} of the raw table, {len(quasi)} quasi-identifiers, {SENSITIVE} sensitive",
            data.about,
            [
                timed(
                    "shoal",
                    partial(verify, table, [required], quasi, [SENSITIVE]),
                    numbers=achieved,
                ),
                PYCANON.contestant(
                    path,
                    numbers=lambda found: {"achieved": round(found["achieved"], 6)},
                    at_least=at_least,
                    check=peers_name,
                    quasi=quasi,
                    sensitive=SENSITIVE,
                ),
            ],
        )
