"""A column that readers of the release will want to predict: refused at the start if it cannot be, never at the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Table
from shoal.errors import MissingExtra, PolicyError, ShoalError, did_you_mean
from shoal.kinds.tables.policy import publications
from shoal.utility.tables.classification import MISSING_SKLEARN, LearningComparison, Task, task_of


@dataclass(frozen=True)
class TargetLearning:
    """How well the target can be predicted, or the sentence that says why that could not be found out.

    Attributes
    ----------
    comparison : LearningComparison or None
    note : str
        "" where there is a comparison.
    """

    target: str
    comparison: LearningComparison | None
    note: str = ""

    @classmethod
    def of(cls, target: str, compare: Callable[[], LearningComparison]) -> TargetLearning:
        """Compare; what fails now is told in the report, for the release itself is made and checked."""
        try:
            return cls(target, compare())
        except ShoalError as error:
            return cls(target, None, str(error))

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        found = self.comparison
        return {"target": self.target, "comparison": found and found.to_dict(), "note": self.note}


def check_target(table: Table, attributes: Mapping[str, Attribute], target: str, publication: str) -> Task:
    """Say before the work whether a column can be predicted from a release, and as what.

    Parameters
    ----------
    publication : str
        How quasi-identifiers will be published; what is generalised cannot be a target.
    """
    if target not in table.columns:
        raise PolicyError(f"the target {target!r} is not in the data; {did_you_mean(target, table.names)}")
    role = attributes[target].role
    if role == "identifying":
        raise PolicyError(f"the target {target!r} is identifying and will be dropped; choose one that is published")
    way = publications()[publication]
    if way.is_sliced:
        raise PolicyError(
            f"with publish = {publication} a published row is not a record, so no model can learn {target!r} from "
            "it; leave the target out, or publish otherwise"
        )
    if role == "quasi" and way.has_labels:
        raise PolicyError(
            f"the target {target!r} is quasi-identifying and will be published as labels of several values, from which "
            'no model can learn it; give it another role, or publish = "aggregate"'
        )
    if find_spec("sklearn") is None:
        raise MissingExtra(MISSING_SKLEARN)
    return task_of(table[target], attributes[target])
