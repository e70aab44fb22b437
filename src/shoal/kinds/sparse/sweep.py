"""What a sweep of sparse records tries and measures: pseudo-baskets by k and support, sketches by k and delta."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from shoal.errors import PolicyError
from shoal.kinds.sparse.baskets import BasketRelease
from shoal.kinds.sparse.harden import SparseLadder
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.kinds.sparse.release import SparseRelease
from shoal.sweep.attacked import ADDED, TOLD, AttackedCell, AttackedTrials
from shoal.sweep.cell import Figure, Status, Varied, finite  # noqa: F401  older versions of pydantic look for Status here
from shoal.sweep.trials import AskedCell
from shoal.utility.sparse.classification import SketchAccuracy

ACCURACY = "accuracy"
OF_PSEUDO, OF_SKETCHES = ("pairs", "triples", "items"), ("neighbours", "dot-products")
OFF = "Mean error of the supports of the most frequent {}, as a share of the true ones; of pseudo-baskets."


@dataclass(frozen=True, kw_only=True)
class SparseCell(AttackedCell):
    """One way to publish sparse records.

    Attributes
    ----------
    publish, support, delta
        What was tried; None where it means nothing for what is published.
    """

    settings: ClassVar[Mapping[str, Varied]] = {
        "publish": Varied("--publish", "What is published.", head="method"),
        "support": Varied(
            "--support", "How many records of a pool must hold an item that is dealt in it.", in_words="support {}"
        ),
        "delta": Varied("--delta", "The least variance of the usual estimate of an attribute.", in_words="delta {}"),
    }
    risks: ClassVar[Mapping[str, Figure]] = {"members_told": TOLD, "added_risk": ADDED}
    measures: ClassVar[Mapping[str, Figure]] = {
        "pairs": Figure(OFF.format("pairs of items"), axis="mean error of supports of pairs"),
        "triples": Figure(OFF.format("sets of three items"), axis="mean error of supports of triples"),
        "items": Figure(OFF.format("items"), axis="mean error of supports of items"),
        "neighbours": Figure(
            "Share of a record's nearest that are no longer so by what is published; of sketches.",
            axis="nearest records lost",
        ),
        "dot-products": Figure(
            "Root mean square error of dot products of random pairs; of sketches.",
            axis="error of dot products",
            is_share=False,
        ),
        ACCURACY: Figure(
            "Share of unseen originals whose class is told by what was learned from what is published.",
            axis="accuracy lost",
        ),
    }

    publish: str
    support: int | None
    delta: float | None


class SparseTrials(AttackedTrials):
    """Publications, k, support and delta."""

    cell = SparseCell
    sizes = (5, 10, 20, 40)
    methods = ()

    def __init__(self, policy: SparsePolicy, target: str | None = None) -> None:
        super().__init__(policy, target)
        if policy.k is None:
            raise PolicyError("a sweep tries several k, and the policy asks for none; ask for the model k-variance")

    def grid(self, k: int | Iterable[int] | None, settings: Mapping[str, Any]) -> list[AskedCell]:
        """Losses of all that is published are shown, first those of what the policy publishes."""
        asked = super().grid(k, settings)
        published = {a.policy.publish for a in asked}
        first = self.policy.publish if self.policy.publish in published else min(published)
        self.shown = OF_PSEUDO if first == "pseudo" else OF_SKETCHES
        if len(published) > 1:
            self.shown = (*self.shown, *(OF_SKETCHES if first == "pseudo" else OF_PSEUDO))
        return asked

    def changed(self, k: int, changes: Mapping[str, Any]) -> SparsePolicy:
        """What does not go with what is published is left as it is."""
        publish = changes.get("publish", self.policy.publish)
        strange = "delta" if publish == "pseudo" else "support"
        found: SparsePolicy = super().changed(k, {n: v for n, v in changes.items() if n != strange})
        return found

    def settled(self, policy: SparsePolicy) -> dict[str, Any]:
        """Of its method and its requirements."""
        is_pseudo = policy.publish == "pseudo"
        return {
            "publish": policy.publish,
            "support": policy.method.support if is_pseudo else None,
            "delta": None if is_pseudo else policy.delta,
        }

    def rank(self, asked: AskedCell, cell: SparseCell) -> int:
        """What the policy publishes comes first."""
        return int(asked.policy.publish != self.policy.publish)

    def checksum(self) -> str:
        """Of items, weights and classes."""
        return SparseLadder(self.data, self.policy).checksum()

    def losses(self, release: SparseRelease | BasketRelease) -> dict[str, float | None]:
        """Of supports, or of neighbours and products."""
        if isinstance(release, BasketRelease):
            told = {n: getattr(release.utility, n) for n in OF_PSEUDO}
            return {n: None if error is None else finite(error.mean) for n, error in told.items()}
        utility = release.utility
        kept, pairs = utility.neighbours, utility.random_pairs
        return {
            "neighbours": None if kept is None else finite(1.0 - kept.shares[min(kept.shares)]),
            "dot-products": None if pairs is None else finite(pairs.root_mean_square_error),
        }

    def learned(self, release: SparseRelease | BasketRelease) -> Mapping[str, Any]:
        """Accuracies, where there are classes."""
        found = release.utility.learning
        if not found:
            return {}
        best = max(found, key=lambda c: c.before) if isinstance(found, tuple) else found
        before, after = (s.mean if isinstance(s, SketchAccuracy) else s for s in (best.before, best.after))
        return {"scores": {ACCURACY: finite(after)}, "scores_before": {ACCURACY: finite(before)}}
