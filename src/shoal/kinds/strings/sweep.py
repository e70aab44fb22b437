"""What a sweep of strings tries and measures: generators, groups, contexts, and how many must carry them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from shoal.attack.result import AMBER
from shoal.data.strings.strings import Strings
from shoal.kinds.strings.harden import StringLadder
from shoal.kinds.strings.kind import for_variants
from shoal.kinds.strings.policy import StringPolicy
from shoal.kinds.strings.release import StringRelease
from shoal.sweep.attacked import ADDED, TOLD, AttackedCell, AttackedTrials
from shoal.sweep.cell import Figure, Status, Varied, finite  # noqa: F401  older versions of pydantic look for Status here
from shoal.sweep.trials import AskedCell

ACCURACY = "accuracy"


@dataclass(frozen=True, kw_only=True)
class StringCell(AttackedCell):
    """One way to draw pseudo-strings.

    Attributes
    ----------
    generator, order, support
        What was tried; a Markov chain has no order of its own choice.
    """

    settings: ClassVar[Mapping[str, Varied]] = {
        "generator": Varied("--generator", "How pseudo-strings were drawn.", head="method"),
        "order": Varied("--order", "A symbol depends on so many symbols before it, less one.", in_words="order {}"),
        "support": Varied("--support", "How many strings must carry what a symbol depends on.", in_words="support {}"),
    }
    risks: ClassVar[Mapping[str, Figure]] = {"added_risk": ADDED, "members_told": TOLD}
    measures: ClassVar[Mapping[str, Figure]] = {
        "pairs": Figure(
            "How far the shares of pairs of symbols moved, as the part of them that is elsewhere (total variation).",
            axis="pairs of symbols moved",
        ),
        "triples": Figure("The same of three symbols in a row.", axis="triples of symbols moved"),
        "composition": Figure("The same of single symbols.", axis="symbols moved"),
        ACCURACY: Figure(
            "Share of unseen originals whose class the best classifier trained on pseudo-strings tells.",
            axis="accuracy lost",
        ),
    }

    generator: str
    order: int | None
    support: int


class StringTrials(AttackedTrials):
    """Generators, k, order and support."""

    cell = StringCell
    noun = "strings"
    sizes = (5, 10, 20, 40)
    methods = ("window", "markov")
    shown: tuple[str, ...] = ("pairs", "triples", "composition")

    def take(self, data: Strings) -> None:
        """As a release is made of them."""
        self.policy = for_variants(data, self.policy)
        super().take(data)

    def choose(self, measures: str | Iterable[str] | None) -> tuple[str, ...]:
        """Classes are learned only where that is asked for."""
        self.shown = super().choose(measures)
        return self.shown

    def changed(self, k: int, changes: Mapping[str, Any]) -> StringPolicy:
        """Without another order where it means nothing."""
        is_chain = changes.get("generator", self.policy.method.generator) == "markov"
        meant = {n: v for n, v in changes.items() if not (is_chain and n == "order")}
        found: StringPolicy = super().changed(k, meant)
        return found

    def rank(self, asked: AskedCell, cell: StringCell) -> int:
        """What an attack succeeds on comes last, whether it tells members or adds risk otherwise."""
        return int((cell.members_told or 0.0) > AMBER or bool(cell.succeeding))

    def settled(self, policy: StringPolicy) -> dict[str, Any]:
        """Of its method; a chain depends on the symbol before, whatever the order."""
        found = policy.method.model_dump(include={*StringCell.settings})
        return found | ({"order": None} if policy.method.generator == "markov" else {})

    def asked(self, policy: StringPolicy) -> Any:
        """And whether classes are learned."""
        return [super().asked(policy), ACCURACY in self.shown]

    def checksum(self) -> str:
        """Of symbols, ends and classes."""
        return StringLadder(self.data, self.policy).checksum()

    def losses(self, release: StringRelease) -> dict[str, float | None]:
        """Total variations; of k-mers those that fit the strings."""
        utility = release.utility
        runs = {m.width: m.total_variation for m in utility.k_mers}
        moved = {"pairs": runs.get(2), "triples": runs.get(3), "composition": utility.composition.total_variation}
        return {name: finite(value) for name, value in moved.items()}

    def learned(self, release: StringRelease) -> Mapping[str, Any]:
        """Accuracies of the classifier that does best on originals."""
        found = release.learning if ACCURACY in self.shown else ()
        if not found:
            return {}
        best = max(found, key=lambda a: a.before.value)
        return {"scores": {ACCURACY: best.after.value}, "scores_before": {ACCURACY: best.before.value}}
