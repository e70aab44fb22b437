"""Results of attacks as a release keeps them in `private/attacks.json`, from which its report is drawn.

What an attack found once stays until a run that was given at least as much finds something else:

- A result is known by its attack, by what the attacker was given (the original, others that were not in the release,
  the origin of each row, the key, a second release, a population, each with its number of records) and by the seed.
- A new result takes the place of earlier ones of its attack that were given the same or less, with the same seed.
- One that was given less than an earlier one is added if it is worse or from more attempts; the earlier one stays.
- Of runs that cannot be compared (another seed, more or fewer controls) both stay, with their conditions.
- Of two that were given as many records each, with the same seed, the worse stays: if they differ, the records do. So
  does the worse of two without a seed, as no draw of theirs can be repeated.
- Results on other data are never joined with these, nor put in their place: they are refused.
- An attack that was not run, for whatever reason, changes nothing about its results.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shoal._version import __version__
from shoal.attack.attack import Attacked, AttackedSample
from shoal.attack.result import AttackResult
from shoal.errors import DataError, ShoalError
from shoal.scratch import clear_abandoned, write_owned

FILE_NAME = "attacks.json"
_WORDS = {
    "original": "{n:,} originals",
    "others": "{n:,} others to compare with",
    "rows": "the origin of each row",
    "key": "the key",
    "second release": "a second release",
    "population": "a population of {n:,}",
}


@dataclass(frozen=True)
class KeptResult:
    """One result, with what the attacker was given and the seed that records were drawn with."""

    result: AttackResult
    granted: Mapping[str, int]
    seed: int | None

    @property
    def conditions(self) -> str:
        """What was given, in words."""
        without = "" if "others" in self.granted else "; no others to compare with"
        seed = "no seed" if self.seed is None else f"seed {self.seed}"
        return f"{', '.join(_WORDS.get(n, n).format(n=c) for n, c in self.granted.items())}{without}; {seed}"

    def is_given_all_of(self, other: KeptResult) -> bool:
        """Whether the attacker had the same or more."""
        return all(self.granted.get(name) == n for name, n in other.granted.items())

    def is_worse_than(self, other: KeptResult) -> bool:
        """Whether it shows more risk: first what is sure, then what is likeliest, then what may be."""
        return self._badness > other._badness

    @property
    def _badness(self) -> tuple[float, ...]:
        risk, main = self.result.risk, self.result.main
        return (risk.low, risk.value, risk.high, 0.0 if math.isnan(main.value) else main.value)

    def replaces(self, other: KeptResult) -> bool:
        """Whether nothing is lost when it takes the place of another result of the same attack."""
        is_drawn_alike = self.seed is not None and self.seed == other.seed
        if not is_drawn_alike and not (self.seed is None or other.seed is None):
            return False
        is_given_more = is_drawn_alike and self.granted != other.granted
        return self.is_given_all_of(other) and (is_given_more or not other.is_worse_than(self))

    def adds_nothing_to(self, other: KeptResult) -> bool:
        """Whether another result of the same attack says as much already, of an attacker who was given more."""
        is_no_larger = self.result.main.attempts <= other.result.main.attempts
        return (
            self.seed == other.seed and is_no_larger and other.is_given_all_of(self) and not self.is_worse_than(other)
        )


@dataclass(frozen=True)
class KeptAttacks:
    """All that is known of attacks on a release."""

    checksum: str
    """Of the data file that was attacked."""
    findings: tuple[KeptResult, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    """Attacks without any result."""
    sample: AttackedSample | None = None
    """How many the last run attacked that drew some."""

    def joined(self, found: Attacked[Any], granted: Mapping[str, int], seed: int | None) -> KeptAttacks:
        """The same after another run."""
        findings = list(self.findings)
        for new in (KeptResult(result, dict(granted), seed) for result in found.results):
            earlier = [f for f in findings if f.result.attack == new.result.attack]
            gone = [f for f in earlier if new.replaces(f)]
            findings = [f for f in findings if not any(f is g for g in gone)]
            if gone or not any(new.adds_nothing_to(f) for f in earlier):
                findings.append(new)
        tried = {f.result.attack for f in findings}
        reasons = dict(self.skipped) | dict(found.skipped)
        return replace(
            self,
            findings=tuple(findings),
            skipped=tuple((name, why) for name, why in reasons.items() if name not in tried),
            sample=found.sample or self.sample,
        )

    def shown(self, order: Sequence[str]) -> Attacked[Any]:
        """The results by attack, as a report draws them; of several of one attack each says its conditions."""
        places = {name: i for i, name in enumerate(order)}
        findings = sorted(self.findings, key=lambda f: places.get(f.result.attack, len(places)))
        names = [f.result.attack for f in findings]
        results = [
            f.result
            if names.count(f.result.attack) == 1
            else replace(f.result, title=f"{f.result.title} ({f.conditions})")
            for f in findings
        ]
        skipped = sorted(self.skipped, key=lambda s: places.get(s[0], len(places)))
        return Attacked(tuple(results), tuple(skipped), self.sample)

    def write(self, private: Path) -> None:
        """Write the file, the owner's alone."""
        content = {
            "shoal": __version__,
            "checksum": self.checksum,
            "results": [{**f.result.to_dict(), "granted": dict(f.granted), "seed": f.seed} for f in self.findings],
            "not_run": [{"attack": name, "because": why} for name, why in self.skipped],
            **({} if self.sample is None else {"sample": self.sample.to_dict()}),
        }
        path = private / FILE_NAME
        try:
            clear_abandoned(private)
            write_owned(path, json.dumps(content, indent=2, allow_nan=False) + "\n", overwrite=True)
        except OSError as error:
            raise ShoalError(f"the results cannot be kept in {path}: {error.strerror or error}") from None

    @classmethod
    def read(cls, private: Path) -> KeptAttacks | None:
        """What was kept; None where nothing was."""
        path = private / FILE_NAME
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            return cls(
                str(content["checksum"]),
                tuple(_finding(told) for told in content["results"]),
                tuple((str(told["attack"]), str(told["because"])) for told in content["not_run"]),
                AttackedSample(int(sample["drawn"]), int(sample["of"])) if (sample := content.get("sample")) else None,
            )
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise DataError(
                f"{path} cannot be read as results of attacks; restore it, or move it away to begin anew"
            ) from None


def kept_of(private: Path, checksum: str) -> KeptAttacks | None:
    """What `private/` keeps of attacks on this data; None where nothing was kept.

    Raises
    ------
    DataError
        If it keeps results on other data, which those on this must not replace.
    """
    kept = KeptAttacks.read(private)
    if kept is not None and kept.checksum != checksum:
        raise DataError(
            f"{private / FILE_NAME} keeps results of attacks on other data, so private/ is of another release, or the "
            f"data was changed; give the private folder of this release, or move {FILE_NAME} away to begin anew"
        )
    return kept


def _finding(told: Mapping[str, Any]) -> KeptResult:
    seed = told["seed"]
    granted = {str(name): int(n) for name, n in told["granted"].items()}
    return KeptResult(AttackResult.from_dict(told), granted, None if seed is None else int(seed))
