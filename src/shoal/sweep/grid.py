"""What a sweep tries: every method with every parameter, each as a policy of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from shoal.errors import PolicyError, did_you_mean
from shoal.kinds.tables.policy import Policy
from shoal.models import Model, by_option
from shoal.tables.partition.base import PARTITIONS
from shoal.tables.publish.base import PUBLICATIONS

SETTINGS = ("publish", "effort", "suppression", "l", "t")
OPTIONS = {"publish": "--publish", "effort": "--effort", "suppression": "--suppression", "l": "-l", "t": "-t"}


@dataclass(frozen=True)
class AskedCell:
    """One cell before it is tried.

    Attributes
    ----------
    policy : Policy
        What `anonymize` would be asked for.
    k : int
        The k of this cell, which other requirements may raise.
    changes : mapping of str to value
        What the caller of the sweep set, by the names of `SETTINGS`.
    """

    policy: Policy
    k: int
    changes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def settings(self) -> dict[str, Any]:
        """All that tells this cell from others, whether set by the sweep or by the policy."""
        method = self.policy.method
        return {
            "partition": method.partition,
            "publish": method.publication,
            "k": self.k,
            "effort": method.effort,
            "suppression": method.suppression,
            **{option: self._strictest(model) for option, model in by_option().items() if option in SETTINGS},
        }

    def _strictest(self, model: type[Model]) -> Any:
        """The strictest value that is required of the parameter by which a model is asked for in short."""
        values = [getattr(r, model.option) for r in self.policy.require if isinstance(r, model)]
        return (max if model.option in model.at_least else min)(values, default=None)

    def options(self, policy: Policy) -> tuple[str, ...]:
        """What makes `shoal anonymize` with a policy file do as this cell does."""
        method, given = self.policy.method, policy.method
        options = ["--method", method.partition]
        if self.policy.k != policy.k:
            options += ["-k", str(self.k)]
        if method.publish not in (None, given.publish):
            options += ["--publish", method.publish]
        if method.effort != given.effort:
            options += ["--effort", method.effort]
        if method.suppression != given.suppression:
            options += ["--suppression", f"{method.suppression:g}"]
        for name in ("l", "t"):
            if name in self.changes:
                options += [OPTIONS[name], f"{self.changes[name]:g}"]
        if self.policy.target != policy.target and self.policy.target is not None:
            options += ["--target", self.policy.target]
        return tuple(options)


def grid(
    policy: Policy, partitions: str | Iterable[str], k: int | Iterable[int], settings: Mapping[str, Any]
) -> list[AskedCell]:
    """Every method with every setting and every k, method by method, k ascending.

    What one recoding for all records cannot have is left out for those methods, unless nothing else is asked of them.

    Parameters
    ----------
    settings : mapping
        Of the names in `SETTINGS`, a value or several to try; None for what the policy says.
    """
    varied = {n: _several(settings[n]) for n in SETTINGS if settings.get(n) is not None}
    for name, values in varied.items():
        if not values:
            raise PolicyError(f"no {name} was given to try; name one or more, or leave it to the policy")
    found: dict[tuple[Any, ...], AskedCell] = {}
    for partition in _methods(partitions):
        made, refused = 0, None
        for chosen in product(*varied.values()):
            changes = dict(zip(varied, chosen, strict=True))
            for size in _sizes(k):
                try:
                    asked = AskedCell(_cell_policy(policy, partition, size, changes), size, changes)
                except PolicyError as error:
                    if not PARTITIONS[partition].is_recoding:
                        raise
                    refused = error
                    continue
                made += 1
                found.setdefault(tuple(asked.settings.values()), asked)
        if refused is not None and not made:
            raise refused
    return list(found.values())


def meets(policy: Policy, asked: Policy) -> bool:
    """Whether what a cell requires is at least what the policy requires.

    Suppression and effort are no requirements: a value that the caller of the sweep named may be proposed.
    """
    return asked.k >= policy.k and all(any(c.covers(r) for c in asked.require) for r in policy.require)


def _several(values: Any) -> list[Any]:
    given = [values] if isinstance(values, str | int | float) else list(values)
    return list(dict.fromkeys(given))


def _methods(partitions: str | Iterable[str]) -> tuple[str, ...]:
    known = list(PARTITIONS)
    names = tuple(dict.fromkeys([partitions] if isinstance(partitions, str) else partitions))
    for name in names:
        if name not in known:
            raise PolicyError(f"there is no method {name!r}; {did_you_mean(name, known)}")
    if not names:
        raise PolicyError(f"no method was named; there are {', '.join(known)}")
    return names


def _sizes(k: int | Iterable[int]) -> Sequence[int]:
    sizes = [k] if isinstance(k, int) else list(k)
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, int) or size < 2:
            raise PolicyError(f"k = {size} cannot be tried; give whole numbers of 2 or more")
    if not sizes:
        raise PolicyError("no k was given; give whole numbers of 2 or more, such as 2,5,10")
    return sorted(set(sizes))


def _cell_policy(policy: Policy, partition: str, k: int, changes: Mapping[str, Any]) -> Policy:
    """The policy with another method, k and settings."""
    method: dict[str, Any] = {"partition": partition}
    way, publish = PARTITIONS[partition], policy.method.publish
    if way.is_recoding:
        changes = {**changes, "effort": "fast"}
        if publish is not None and not PUBLICATIONS[publish].can_recode:
            method["publish"] = way.publication
    require = [r.model_copy(update={"k": k}) if "k" in type(r).model_fields else r for r in policy.require]
    return policy.changed(require=require, k=k, **{**method, **changes})
