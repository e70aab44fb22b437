"""All that the two pages are made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shoal._version import __version__
from shoal.check.finding import Finding, reasons
from shoal.check.guarantee import Guarantee
from shoal.check.slices.exposure import Exposure
from shoal.check.tables.risk import Risk
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.slices import Layout, attributes_held
from shoal.kinds.tables.policy import ORIGINAL_ORDER, Method, partitions
from shoal.report.points import Point
from shoal.report.tables.limits import not_protected
from shoal.report.tables.words import any_providers, percent
from shoal.told_counts import Count, Span, n_published, public_counts

if TYPE_CHECKING:
    from shoal.attack.attack import Attacked
    from shoal.attack.tables.case import TableCase
    from shoal.kinds.tables.manifest import TableManifest
    from shoal.kinds.tables.release import TableRelease
    from shoal.utility.tables.measure import Utility
    from shoal.utility.tables.target import TargetLearning

MISSING_MEANINGS = {
    "value": "A missing value counts as a value of its own: records are alike if both lack it.",
    "any": "A missing value may hide any value, so it never helps to make records alike: the stricter reading.",
}


@dataclass(frozen=True)
class ReportContext:
    """A release in numbers and words; no record, no seed, no membership of a group.

    Attributes
    ----------
    title, kind : str
        Name of the data, and "table", "strings" or "sparse".
    method : mapping of str to str
        Names and parameters in plain words, in the order in which they are shown.
    n_in, n_out, n_suppressed : int
        Records of the original, of the release, and left out; ranges where a manifest tells no more.
    risk_before, utility, learning
        From the original: for the owner's report alone.
    attributes : mapping of str to Attribute
        All columns of the original in order.
    missing, missing_meaning : str
        What a missing value was taken for, and a sentence about it.
    notes : tuple of str
        Sentences for the owner.
    publish : str
        Name of the way of publishing, which decides what is said about limits and use.
    k : int
        The least number of records that a cell of a public picture must hold.
    diversity : str
        Whether the sensitive values of single groups decided about them: "local", or "blind".
    layout, exposure : optional
        Of a table in slices, which columns stand together, and what they tell an attacker.
    findings : tuple of Finding
        What was measured on what is published: for the owner's report alone.
    attacked : optional
        What attacks got, if there were records to compare them on.
    by_hierarchy : frozenset of str
        Columns of the original whose labels are those of a hierarchy.
    accepted : mapping of str to str
        What was found above its limit and taken, with the reason.
    pseudonym : str
        The column in which pseudonyms tie the records of a person together; "" where none does.
    context : mapping of str to str, optional
        What the publisher says of the release, as far as it is public.
    coalition : int
        How many providers may put their own records together; 0 where records are not from several.
    sampled : str
        What attacks looked at, where that is not all, in a sentence.
    n_counterfeits : int
        Published records that are of nobody.
    shifted, shift_days
        Columns whose days were moved, all of a person by one number, and by how many at most.
    """

    title: str
    kind: str
    method: Mapping[str, str]
    n_in: Count
    n_out: int
    n_suppressed: Count
    guarantees: tuple[Guarantee, ...]
    risk_before: Risk | None
    risk_after: Risk | None
    utility: Utility | None
    attributes: Mapping[str, Attribute]
    missing: str = "value"
    notes: tuple[str, ...] = ()
    version: str = __version__
    missing_meaning: str = MISSING_MEANINGS["value"]
    publish: str = "generalise"
    k: int = 2
    diversity: str = "local"
    learning: TargetLearning | None = None
    layout: Layout | None = None
    exposure: Exposure | None = None
    attacked: Attacked[TableCase] | None = None
    findings: tuple[Finding, ...] = ()
    by_hierarchy: frozenset[str] = frozenset()
    accepted: Mapping[str, str] = field(default_factory=dict)
    counts_persons: bool = False
    pseudonym: str = ""
    coalition: int = 0
    sampled: str = ""
    shifted: tuple[str, ...] = ()
    shift_days: int = 0
    context: Mapping[str, str] | None = None
    n_counterfeits: int = 0

    @property
    def not_protected(self) -> tuple[Point, ...]:
        """What an attacker can still do."""
        told = (self.publish, self.diversity, self.accepted, self.pseudonym, self.shifted)
        return not_protected(self.guarantees, self.attributes, *told)

    @classmethod
    def of(cls, release: TableRelease, guarantees: tuple[Guarantee, ...], *, is_public: bool = False) -> ReportContext:
        """Collect what the pages say about a release; for the datasheet alone nothing that the original tells."""
        records = release.told_counts[0] if is_public else release.records
        return cls(
            title=release.table.source.name,
            kind=release.policy.kind,
            method=describe_method(
                release.policy.method,
                release.policy.k,
                release.layout,
                release.policy.order,
                counts_persons=bool(release.policy.person),
                coalition=release.policy.coalition if release.policy.provider else 0,
            ),
            n_in=records["in"],
            n_out=release.records["out"],
            n_suppressed=records["suppressed"],
            n_counterfeits=release.records.get("counterfeits", 0),
            guarantees=guarantees,
            risk_before=None if is_public else release.risk_before,
            risk_after=None
            if release.layout is not None
            else (release.risk_of_records if is_public else release.risk_after),
            utility=None if is_public else release.utility,
            attributes=release.attributes,
            missing=release.policy.missing,
            notes=release.notes,
            missing_meaning=MISSING_MEANINGS[release.policy.missing],
            publish=release.policy.method.publication,
            k=release.policy.k,
            diversity=release.policy.method.diversity,
            learning=None if is_public else release.learning,
            layout=release.layout,
            exposure=None if is_public else release.exposure,
            attacked=None if is_public else release.attacked,
            findings=() if is_public else (*release.findings, *release.doubts),
            by_hierarchy=frozenset(n for n, a in release.attributes.items() if a.hierarchy is not None),
            accepted=reasons(release.findings),
            counts_persons=bool(release.policy.person),
            pseudonym=release.policy.pseudonym if release.policy.keep_person else "",
            coalition=release.policy.coalition if release.policy.provider else 0,
            sampled="" if is_public else release.sampled,
            shifted=tuple(n for n in release.attributes if n in release.policy.shifted),
            shift_days=release.policy.shift_days if release.policy.shifted else 0,
            context=release.policy.context.public(),
        )

    @classmethod
    def of_manifest(
        cls, manifest: TableManifest, risk: Risk | None, n_removed: int, order: Sequence[str] = ()
    ) -> ReportContext:
        """What the datasheet of a published folder is made from, as far as its manifest tells.

        Parameters
        ----------
        risk : Risk, optional
            Of the published records; None for a table in slices.
        n_removed : int
            Identifying columns of the original, whose names are not published.
        order : sequence of str
            The columns of the original in order, where slices put them in another.
        """
        method = Method.model_validate(dict(manifest.method))
        layout = manifest.layout
        held = attributes_held(manifest.attributes, layout)
        named = {a: manifest.attributes[c] for c, a in held.items()}
        removed = {f"{i} removed": Attribute(f"{i} removed", "nominal", "identifying") for i in range(n_removed)}
        records = manifest.records
        return cls(
            title="",
            kind=manifest.kind,
            method=describe_method(
                method,
                manifest.k,
                layout,
                manifest.order,
                counts_persons=bool(manifest.person),
                coalition=manifest.coalition or 0,
            ),
            n_in=records["in"],
            n_out=n_published(records),
            n_suppressed=records["suppressed"],
            n_counterfeits=int(records.get("counterfeits", 0)),
            guarantees=tuple(_claimed(g) for g in manifest.guarantees),
            risk_before=None,
            risk_after=risk,
            utility=None,
            attributes={**removed, **{n: named[n] for n in order if n in named}, **named},
            missing=manifest.missing,
            missing_meaning=MISSING_MEANINGS[manifest.missing],
            publish=method.publication,
            k=manifest.k,
            diversity=method.diversity,
            layout=layout,
            by_hierarchy=frozenset(held[n] for n in manifest.by_hierarchy),
            accepted=manifest.accepted or {},
            counts_persons=bool(manifest.person),
            pseudonym=manifest.pseudonym or "",
            coalition=manifest.coalition or 0,
            shifted=manifest.shifted,
            shift_days=manifest.shift_days or 0,
            context=manifest.context,
        )

    @property
    def told(self) -> dict[str, Count]:
        """How many records came in, went out and were left out, as it is told in public."""
        if isinstance(self.n_in, Span) or isinstance(self.n_suppressed, Span):
            return {"in": self.n_in, "out": self.n_out, "suppressed": self.n_suppressed}
        return public_counts({"in": self.n_in, "out": self.n_out, "suppressed": self.n_suppressed}, self.k)

    @property
    def holds(self) -> bool:
        """Whether every guarantee holds."""
        return all(g.holds for g in self.guarantees)


def _claimed(claim: Mapping[str, Any]) -> Guarantee:
    """A guarantee as a manifest states it; KeyError or TypeError where it states none."""
    achieved = claim["achieved"]
    return Guarantee(
        model=claim["model"],
        kind=claim["kind"],
        sensitive=claim["sensitive"],
        required=dict(claim["required"]),
        achieved=float("inf") if achieved is None else float(achieved),
        holds=claim["holds"],
        n_classes=claim.get("n_classes", 0),
        n_failing=claim.get("n_failing", 0),
        worst=(),
        sentence=claim["sentence"],
        details=dict(claim.get("details", {})),
    )


def describe_method(
    method: Method,
    k: int,
    layout: Layout | None = None,
    order: str = "sorted",
    *,
    counts_persons: bool = False,
    coalition: int = 0,
) -> dict[str, str]:
    """Say in plain words how a table was made, with every parameter that matters to a reader."""
    least = f"at least {k} {'persons' if counts_persons else 'records'}"
    least += f", without the rows of {any_providers(coalition)} too" if coalition else ""
    words = _describe_groups(method, least) if layout is None else _describe_slicing(method, least, layout)
    return words | ({"Order of the rows": ORIGINAL_ORDER} if order == "original" else {})


def _describe_groups(method: Method, least: str) -> dict[str, str]:
    partition, publication = partitions()[method.partition], method.way_of_publishing
    words = {
        "Groups": partition.help,
        "Publication": publication.help,
        "Smallest group": least,
    }
    words |= partition.words(method)
    if method.effort != "fast":
        words["Effort"] = f"{method.effort}: records moved between near groups for as long as that made groups closer"
    if method.diversity == "blind":
        words["Diversity"] = (
            "blind: groups were made without looking at sensitive values, all of them larger until every one met the "
            "requirements"
        )
    words |= publication.words(method)
    words["Suppression"] = (
        f"at most {percent(method.suppression)} of the records" if method.suppression else "not allowed"
    )
    return words


def _describe_slicing(method: Method, least: str, layout: Layout) -> dict[str, str]:
    slices = "; ".join(", ".join(s.attributes) for s in layout.slices)
    return {
        "Publication": method.way_of_publishing.help,
        "Slices": f"{len(layout.slices)}: {slices}",
        "Buckets": f"cut as by Mondrian, {'strictly' if method.strict else 'relaxed'}, for as long as every bucket has "
        f"{least} and meets the requirements",
        "Sensitive columns": f"what is required holds of {'all together' if method.jointly else 'each on its own'}",
    }
