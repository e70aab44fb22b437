"""The verdict on a release, the same on the page, in the terminal, in a notebook and in JSON: three things.

- **What holds**: the guarantees, recomputed from the bytes that are published.
- **The worst thing found**, with the columns that it comes from and what to do: of everything that was measured (the
  findings of `shoal.check.finding`) and of all attacks that were run, whatever is farthest above its limit, risks to
  persons before losses. The limit of an attack is the risk that a guarantee admits, such as one link in k, and at least
  `LIMIT`; an attack that takes a secret of the owner's, such as the key of sketches, is told and has none.
- **What it cost.**

It is green only if all guarantees hold, an attack was run that the check does not rule out anyway, and nothing above
its limit was found; amber where something was, or may be (the attack adds something for sure, and more than its limit
at the upper end of its interval; or that end is far above it, of baskets anywhere above it, as too few records were
compared with), or nothing was looked for, or the time was too short for some attack; red where a guarantee does not
hold. What the policy accepts is published and stays amber, as a reason does not make it less; it is told with its
reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from shoal.check.finding import Finding
from shoal.report.points import listed

if TYPE_CHECKING:
    from shoal.attack.attack import Attack, Attacked
    from shoal.attack.result import AttackResult
    from shoal.check.guarantee import Guarantee

Level = Literal["green", "amber", "red"]
LIMIT = 0.05
"""The risk that an attack may add before it is serious: as the share of records that columns may single out."""
HEADINGS = ("Holds", "Worst", "Cost")
_NOTHING_RUN = (
    "Nothing is known about what attackers get, as no attack was run; make the release with a report, or run "
    "shoal attack."
)
_NONE_TO_COMPARE = (
    "Nothing is known about what attackers get, as no attack was run: each needs records that are not in the release "
    "to compare with; hold some out (--hold-out 0.1), or give others (--control)."
)

_NONE_BESIDE = (
    "Nothing more is known of what attackers get: each other attack takes records that were not in the release to "
    "compare with, or more time; hold some out (--hold-out 0.1), or give others (--control)."
)


@dataclass(frozen=True)
class ReleaseVerdict:
    """What is to be known first of a release.

    Attributes
    ----------
    level : {"green", "amber", "red"}
    holds, worst, cost : str
        A sentence or two each.
    columns : tuple of str
        Those that the worst thing comes from.
    risk : float
        How much of it there is, from 0 to 1.
    """

    level: Level
    holds: str
    worst: str
    cost: str
    columns: tuple[str, ...] = ()
    risk: float = 0.0

    @property
    def lines(self) -> list[tuple[str, str]]:
        """The three things with their headings."""
        return list(zip(HEADINGS, (self.holds, self.worst, self.cost), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        told = {heading.lower(): text for heading, text in self.lines}
        return {"level": self.level, **told, "columns": list(self.columns), "risk": self.risk}


@dataclass(frozen=True)
class Grounds:
    """What a verdict rests on besides attacks: all that is known when a release is made.

    Attributes
    ----------
    holds : str
        Which guarantees do, or do not.
    is_met : bool
        Whether all of them do.
    cost : str
        What the protection cost.
    findings : tuple of Finding
        What was measured.
    sampled : str
        What attacks looked at, where that is not all, in a sentence.
    """

    holds: str
    is_met: bool
    cost: str
    findings: tuple[Finding, ...] = ()
    sampled: str = ""

    @classmethod
    def of(
        cls,
        guarantees: Sequence[Guarantee],
        names: Sequence[str],
        cost: str,
        findings: Sequence[Finding] = (),
        sampled: str = "",
    ) -> Grounds:
        """From guarantees and what each is called."""
        return cls(what_holds(guarantees, names), all(g.holds for g in guarantees), cost, tuple(findings), sampled)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        findings = [{n: v for n, v in f.to_dict().items() if n != "serious"} for f in self.findings]
        told = {"holds": self.holds, "is_met": self.is_met, "cost": self.cost, "findings": findings}
        return {**told, "sampled": self.sampled} if self.sampled else told

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Grounds:
        """From what `to_dict` gave."""
        findings = tuple(Finding(**{**f, "columns": tuple(f["columns"])}) for f in told["findings"])
        sampled = str(told.get("sampled", ""))
        return cls(str(told["holds"]), bool(told["is_met"]), str(told["cost"]), findings, sampled)


def what_holds(guarantees: Sequence[Guarantee], names: Sequence[str]) -> str:
    """One sentence: whether the release meets what was required of it."""
    failed = [name for name, g in zip(names, guarantees, strict=True) if not g.holds]
    if not names:
        return "No guarantee was required of this release, and none is given."
    if failed:
        return f"This release does not meet {listed(failed)}. It must not be published."
    many = {1: "the guarantee", 2: "both guarantees"}.get(len(names), f"all {len(names)} guarantees")
    return f"This release meets {many} required of it: {listed(names)}."


def judge_release(grounds: Grounds, attacked: Attacked[Any] | None, attacks: Sequence[Attack[Any]]) -> ReleaseVerdict:
    """Put together what the pages say.

    Parameters
    ----------
    attacked : Attacked, optional
        None where no attack was run.
    attacks : sequence of Attack
        All attacks on this kind of data.
    """
    holds, is_met, cost, findings = grounds.holds, grounds.is_met, grounds.cost, grounds.findings
    known = {a.name: a for a in attacks}
    accepted = {f.name: f.accepted for f in findings if f.accepted is not None}
    results = () if attacked is None else attacked.results
    tried = [as_finding(r, known.get(r.attack), accepted) for r in results]
    above = sorted((f for f in [*findings, *tried] if f.is_above), key=lambda f: (f.is_loss, f.limit - f.share))
    serious = [f for f in above if f.is_serious]
    secrets = {known[r.attack].leaked for r in results if r.attack in known and r.succeeds} - {""}
    warning = f" Whoever has {listed(sorted(secrets))} gets more: keep it secret, or destroy it." if secrets else ""
    sampled = f" {grounds.sampled}" if grounds.sampled and results else ""
    if serious:
        worst = serious[0]
        n_more = len({f.name for f in above} - {worst.name})
        n_accepted = len({f.name for f in above} - {f.name for f in serious})
        of_them = f", {n_accepted} of them accepted" if n_accepted else ""
        more = "" if not n_more else f" ({n_more} more finding{'s' * (n_more > 1)} in the report{of_them})"
        nothing = "" if results or not _lacks_others(attacked) else f" {_NONE_TO_COMPARE}"
        text = f"{worst.sentence} What to do: {worst.remedy.removesuffix('.')}.{more}{sampled}{warning}{nothing}"
        return ReleaseVerdict("amber" if is_met else "red", holds, text, cost, worst.columns, worst.share)
    plain = [r for r in results if not (r.attack in known and known[r.attack].leaked)]
    late = _not_begun(attacked, known)
    doubt = _may_be_worse(plain, known) or _may_be_unseen(plain, known)
    found = _no_worse(findings, tried) + doubt + late + sampled + warning
    is_known = any(not (r.attack in known and known[r.attack].is_checked) for r in results)
    unknown = _NONE_TO_COMPARE if _lacks_others(attacked) else _NOTHING_RUN
    if results and not is_known:
        found += f" {_NONE_BESIDE}"
    text = found if results or findings else unknown
    level: Level = "red" if not is_met else "green" if is_known and not (above or doubt or late) else "amber"
    most = above[0] if above else max((f for f in tried if f.limit < 1), key=lambda f: f.share, default=None)
    return ReleaseVerdict(level, holds, text, cost, *(((), 0.0) if most is None else (most.columns, most.share)))


def as_finding(result: AttackResult, attack: Attack[Any] | None, accepted: Mapping[str, str | None]) -> Finding:
    """An attack's result as a finding: its share is the risk that it adds, 0 where chance explains all of it.

    Or, where that is more, how far above a half the area is by which members are told.
    """
    of = f" ({some_of([repr(c) for c in result.columns])})" if result.columns else ""
    limit = max(LIMIT, result.admitted)
    return Finding(
        result.attack,
        result.columns,
        max(result.risk.value, result.told) if result.succeeds else 0.0,
        1.0 if attack is not None and attack.leaked else limit,
        f"{result.title[:1].upper()}{result.title[1:]}{of}: {_small(result.sentence)}",
        result.remedy or ("look at what is published" if attack is None else attack.advice(result.columns)),
        None if attack is None else accepted.get(attack.accepted_as),
    )


def _no_worse(findings: Sequence[Finding], tried: Sequence[Finding]) -> str:
    """What is said where all that is above its limit was accepted: that first, the worst of each name."""
    worst = max((f for f in tried if f.is_above), key=lambda f: f.share, default=None)
    measured = sorted((f for f in findings if f.is_above), key=lambda f: -f.share)
    taken = [f for i, f in enumerate(measured) if f.name not in {m.name for m in measured[:i]}]
    told = [_accepted(f) for f in taken]
    if worst is not None:
        with_it = f"The policy thereby also accepts what an attack adds, {worst.share:.2f}. {worst.sentence}"
        told.append(with_it if taken else _accepted(worst))
    n = len({f.name for f in tried if not f.is_above})
    if n:
        left = max((f for f in tried if f.share <= f.limit < 1), key=lambda f: f.share, default=None)
        most = ""
        if left is not None and left.share:
            admitted = f", where the guarantees allow {left.limit:.2f}" if left.limit > LIMIT else ""
            most = f" The most that one adds is {left.share:.2f}{admitted}. {left.sentence}"
        what, other = "Nothing else" if told else "Nothing", "other " if worst is not None else ""
        no_more = f"{_attacks(n, other)} more risk than the guarantees allow, or more than {LIMIT:g}"
        told.append(f"{what} serious was found: {no_more}.{most}")
    return " ".join(told) if told else "Nothing serious was measured, and no attack was run."


def _accepted(finding: Finding) -> str:
    return f"Accepted, because {str(finding.accepted).removesuffix('.')}: {finding.sentence}"


def _may_be_worse(results: Sequence[AttackResult], known: Mapping[str, Attack[Any]]) -> str:
    """Which attacks add something, within their limit as measured, and beyond it by the upper ends of their intervals.

    What no interval reaches below is what the guarantees admit: that is no doubt, as they bound it.
    """
    found = [
        r
        for r in results
        if r.succeeds and r.risk.low >= r.admitted and r.risk.value <= max(LIMIT, r.admitted) < r.risk.high
    ]
    if not found:
        return ""
    highest = max(found, key=lambda r: r.risk.high)
    n_others = len(found) - 1
    others = "" if not n_others else f", and so {'does another' if n_others == 1 else f'do {n_others} others'}"
    remedy = as_finding(highest, known.get(highest.attack), {}).remedy.removesuffix(".")
    return (
        f" But the 95 % interval of {highest.title} reaches {highest.risk.high:.3f}, above the limit{others}: more "
        f"records to compare with would settle it. What else to do: {remedy}."
    )


def _may_be_unseen(results: Sequence[AttackResult], known: Mapping[str, Attack[Any]]) -> str:
    """Which attacks add nothing for sure, and might add more than their limit: too little was compared to tell."""

    def most(result: AttackResult) -> float:
        times = known[result.attack].unseen if result.attack in known else 1.0
        return times * max(LIMIT, result.admitted)

    found = [r for r in results if r.control is not None and not r.succeeds and r.may_add_more_than(most(r))]
    if not found:
        return ""
    widest = max(found, key=lambda r: r.risk.high)
    n_others = len(found) - 1
    others = "" if not n_others else f", as might {n_others} other{'s' * (n_others > 1)}"
    attack = known.get(widest.attack)
    is_cut = attack is not None and attack.in_release() not in (None, attack)
    again = "; shoal attack tries more of them" * is_cut
    return (
        f" But too few records were compared to be sure: {widest.title} might add up to {widest.risk.high:.3f} "
        f"unseen{others}. More records to compare with would tell{again}."
    )


def _lacks_others(attacked: Attacked[Any] | None) -> bool:
    """Whether some attack was not run for want of records that were not in the release."""
    from shoal.attack.attack import NO_OTHERS

    return attacked is not None and any(why == NO_OTHERS for _, why in attacked.skipped)


def _not_begun(attacked: Attacked[Any] | None, known: Mapping[str, Attack[Any]]) -> str:
    """Which attacks the time of a release was too short for: what they would have found nobody knows."""
    from shoal.attack.attack import TIME_OVER

    late = [name for name, why in (() if attacked is None else attacked.skipped) if why == TIME_OVER]
    if not late:
        return ""
    titles = [known[name].title if name in known else name for name in late]
    return f" The time was too short for {some_of(titles)}: run shoal attack."


def some_of(names: Sequence[str], most: int = 4) -> str:
    """The first of some names, and how many more there are.

    >>> some_of(["a", "b", "c"]), some_of(["a", "b", "c"], most=1)
    ('a, b and c', 'a and 2 more')
    """
    return listed([*names[:most], *([f"{len(names) - most} more"] if len(names) > most else [])])


def _attacks(n: int, other: str) -> str:
    one, many = f"the one {other}attack that was run adds no", f"none of the {n} {other}attacks that were run adds"
    return one if n == 1 else many


def _small(sentence: str) -> str:
    """The same after a colon."""
    return sentence[:1].lower() + sentence[1:]
