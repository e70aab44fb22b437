"""What attacks got out of each release, and where it is stored between runs."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from reproductions.attack_releases import Made
from shoal.attack.attack import Attack, run_attacks
from shoal.attack.result import AttackResult, Rate
from shoal.attack.sparse.known_pairs import KnownPairs
from shoal.attack.sparse.matching_pursuit import MatchingPursuit
from shoal.attack.sparse.recovery_programme import RecoveryProgramme
from shoal.kind import kind_named

N_RECOVERED = 100
RECOVERY_SECONDS = 60.0


@dataclass(frozen=True)
class Attempted:
    """One attack on one release: successes and attempts of the three runs, and its other figures."""

    attack: str
    main: tuple[float, int]
    control: tuple[float, int] | None
    baseline: tuple[float, int] | None
    details: dict[str, float]

    @classmethod
    def of(cls, found: AttackResult) -> Attempted:
        """What is stored of a result."""
        main, control, baseline = (
            None if rate is None else (float(rate.successes), rate.attempts)
            for rate in (found.main, found.control, found.baseline)
        )
        assert main is not None
        return cls(found.attack, main, control, baseline, dict(found.details))

    @property
    def result(self) -> AttackResult:
        """With its intervals."""
        control, baseline = (None if pair is None else Rate(*pair) for pair in (self.control, self.baseline))
        return AttackResult(self.attack, "", "", Rate(*self.main), control, baseline, "", self.details)


@dataclass(frozen=True)
class Found:
    """All attacks on one release."""

    data: str
    method: str
    k: int | None
    n_records: int
    n_published: int
    n_control: int
    cpu_seconds: float
    attempted: Sequence[Attempted]

    def of(self, attack: str) -> AttackResult | None:
        """One attack's result; None where it does not apply."""
        return next((a.result for a in self.attempted if a.attack == attack), None)


def attacks_on(kind: str) -> Sequence[Attack[Any]]:
    """All attacks of a kind, those that solve programmes on a sample."""
    sized: dict[str, Attack[Any]] = {
        "recovery-programme": RecoveryProgramme(n_records=N_RECOVERED, seconds=RECOVERY_SECONDS),
        "matching-pursuit": MatchingPursuit(n_records=N_RECOVERED),
        "known-pairs": KnownPairs(),
    }
    return [sized.get(a.name, a) if kind == "sparse" else a for a in kind_named(kind).attacks]


def attack(made: Made, most: int | None = None) -> Found:
    """Make a release and run all attacks that apply."""
    start = time.process_time()
    case = made.case(most)
    found = run_attacks(attacks_on(made.kind), case, seed=0)
    n_records, n_published, n_control = (
        int(data.n_rows) if made.kind == "table" else len(data)
        for data in (case.original, case.published, case.control)
    )
    return Found(
        made.data, made.method, made.k, n_records, n_published, n_control, time.process_time() - start,
        [Attempted.of(r) for r in found.results],
    )  # fmt: skip


def load(store: Path) -> dict[str, Found]:
    """What was found so far, by the releases' keys."""
    if not store.exists():
        return {}
    stored = json.loads(store.read_text(encoding="utf-8"))
    return {key: _read(row) for key, row in stored.items()}


def save(found: dict[str, Found], store: Path) -> None:
    """Write all."""
    store.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({key: asdict(row) for key, row in found.items()}, indent=0)
    store.write_text(text + "\n", encoding="utf-8")


def _read(row: dict[str, Any]) -> Found:
    return Found(**{**row, "attempted": [Attempted(**a) for a in row["attempted"]]})
