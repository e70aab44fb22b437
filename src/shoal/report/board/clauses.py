"""The clauses that pages for boards are made of: a heading and an answer, or "not stated".

A clause is answered from what a release measured or a policy says, never from what would be good to hear.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shoal.attack.attack import Attacked
from shoal.attack.result import AttackResult, Rate
from shoal.report.board.facts import RISKS, BoardFacts
from shoal.report.board.questions import MEANINGS, MEMBERSHIP, question_of
from shoal.report.board.safe_harbor import IDENTIFIERS
from shoal.report.board.threshold import Threshold
from shoal.report.points import listed, public_points
from shoal.report.verdict import ReleaseVerdict

NOT_STATED = "not stated"
_NOT_OF_WP29 = "WP29 opinion 05/2014, whose questions are the three above, does not ask this."
_MOST_NAMES = 12
_TIED = "\u00a0"
_MOST_COLUMNS = 200


@dataclass(frozen=True)
class Clause:
    """What is asked, and the answer: a text, a table, or neither, which is shown as "not stated"."""

    title: str
    text: str = ""
    headings: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    in_appendix: bool = False
    """Whether the table goes there; the text then has to do without it."""

    @property
    def is_stated(self) -> bool:
        """Whether there is an answer."""
        return bool(self.text or self.rows)


@dataclass(frozen=True)
class Case:
    """All that a page for a board is made from."""

    content: Mapping[str, Any]
    facts: BoardFacts
    verdict: ReleaseVerdict
    attacked: Attacked[Any] | None
    titles: Mapping[str, str]
    """What attacks are called on pages, by name."""

    @property
    def context(self) -> Mapping[str, Any]:
        """What the policy says of the release."""
        found: Mapping[str, Any] = self.content.get("context") or {}
        return found

    @property
    def threshold(self) -> Threshold:
        """The highest acceptable risk."""
        return Threshold.of(self.context)

    @property
    def results(self) -> Sequence[AttackResult]:
        """What attacks got."""
        return () if self.attacked is None else self.attacked.results

    def said(self, title: str, *keys: str) -> Clause:
        """A clause that the context answers."""
        told = public_points({key: self.context[key] for key in keys if key in self.context})
        return Clause(title, told[0].text if len(told) == 1 else "; ".join(f"{p.title}: {p.text}" for p in told))

    def of_question(self, question: str) -> list[AttackResult]:
        """What attacks got that answer a question."""
        return [r for r in self.results if question_of(r.attack) == question]


def some(names: Sequence[str]) -> str:
    """Names in a sentence, not too many."""
    more = [f"{len(names) - _MOST_NAMES} more"] if len(names) > _MOST_NAMES else []
    return listed([*names[:_MOST_NAMES], *more])


def records(case: Case) -> Clause:
    """How many came in and went out."""
    n, unit = case.facts.records, case.facts.unit
    whose = f" of {n['persons']:,} persons" if "persons" in n else ""
    held = f"; {n['held_out']:,} more were held out to test attacks on" if n.get("held_out") else ""
    plural = "trajectories" if unit == "trajectory" else f"{unit}s"
    if unit == "person":  # whose records are counted here
        plural = "records"
    return Clause(
        "Size of the data",
        f"{n['in']:,} {plural}{whose} went in, {n['out']:,} are published and {n['suppressed']:,} were left out{held}.",
    )


def columns(case: Case) -> Clause:
    """The columns with their roles."""
    shown = case.facts.columns[:_MOST_COLUMNS]
    rows = tuple((c.name, c.role, c.type, c.treatment) for c in shown)
    by_role = Counter(c.role for c in case.facts.columns)
    text = f"{len(case.facts.columns):,} attributes: {listed([f'{n:,} {role}' for role, n in by_role.items()])}."
    headings = ("Attribute", "Role", "Type", "Treatment")
    return Clause("Attributes, and what was done to them", text if rows else "", headings, rows, in_appendix=True)


def techniques(case: Case) -> Clause:
    """What was done, by the names of the standard."""
    title = "Techniques, by their names in ISO/IEC 20889"
    return Clause(title, headings=("Technique", "What was done"), rows=tuple(case.facts.techniques))


def guarantees(case: Case) -> Clause:
    """The formal models, recomputed."""
    found = case.content.get("guarantees", ())
    rows = tuple((name, need, got, "holds" if g["holds"] else "FAILS") for g, name, need, got in found)
    title = "Formal privacy measurement models, recomputed from the published bytes"
    return Clause(title, headings=("Model", "Required", "Achieved", "Result"), rows=rows)


def risks(case: Case) -> Clause:
    """Three attackers, before and after, beside the threshold."""
    facts, limit = case.facts, case.threshold
    title = f"Risk of re-identification against the threshold of {limit.value:g}"
    why = f"The threshold is {limit.value:g}, {limit.why}."
    if facts.after is None:
        told = "" if facts.bound is None else f" At most {facts.bound:.3f} for the prosecutor: "
        told += (f"{limit.verdict(facts.bound)} the threshold." if facts.bound is not None else "") + (
            f" {facts.bound_by}" if facts.bound_by else ""
        )
        return Clause(title, f"{why}{told}" if told.strip() else "")
    before = facts.before or {}
    rows = tuple(
        (name, _share(before.get(key)), _share(facts.after[key]), limit.verdict(facts.after[key]))
        for key, name in RISKS
    )
    bounds = (
        ""
        if facts.population_known
        else " No population was counted, so the figures of the journalist and the marketer are upper bounds."
    )
    return Clause(title, f"{why}{bounds}", ("Attacker", "Before", "After", "The threshold"), rows)


def question(case: Case, name: str) -> Clause:
    """One of the three questions, answered by attacks."""
    title = f"{name[:1].upper()}{name[1:]}: {MEANINGS[name]}"
    found = case.of_question(name)
    if not found:
        return Clause(title)
    won = [r for r in found if r.succeeds]
    whose = "The one attack" if len(found) == 1 else f"{len(won) or 'None'} of {len(found)} attacks"
    got = "got no more" if not won and len(found) == 1 else "got more"
    names = f": {listed([r.title for r in won])}" if won and len(found) > 1 else ""
    answer = f"{whose} {got} from the release than chance or the control explains{names}."
    headings = ("Attack", "On the release", "On others (control)", "By guessing", "Risk added, 95 % interval")
    rows = tuple((r.title, _rate(r.main), _rate(r.control), _rate(r.baseline), _added(r)) for r in found)
    return Clause(title, answer, headings, rows)


def membership(case: Case) -> Clause:
    """Whether somebody is in the data."""
    found = question(case, MEMBERSHIP)
    return replace(found, text=f"{found.text} {_NOT_OF_WP29}") if found.text else found


def intruder(case: Case) -> Clause:
    """The motivated intruder: what was assumed known, what was tried, what was found."""
    if not case.results:
        return Clause("Motivated intruder test")
    known = some(list(case.facts.known))
    names = sorted({r.title.split(" (")[0] for r in case.results})
    worst = case.verdict.worst
    return Clause(
        "Motivated intruder test",
        headings=("Step", "Answer"),
        rows=(
            ("Assumed known", known or NOT_STATED),
            ("Tried", f"{some(names)}."),
            ("Found", worst),
            ("Not tried", _skipped(case)),
        ),
    )


def _skipped(case: Case) -> str:
    skipped = () if case.attacked is None else case.attacked.skipped
    automatic = "The attacks are programs: nobody searched registers, news or social media by hand."
    return f"{some([case.titles.get(name, name) for name, _ in skipped])}. {automatic}" if skipped else automatic


def limits(case: Case) -> Clause:
    """What is not protected."""
    rows = tuple((point["title"], point["text"]) for point in case.content.get("limits", ()))
    return Clause("What remains possible", headings=("What", "Why"), rows=rows)


def utility(case: Case) -> Clause:
    """What it cost."""
    return Clause("Remaining usefulness", case.verdict.cost)


def population(case: Case) -> Clause:
    """What was estimated of the population."""
    told = case.facts.population
    sentences = [str(told[key]) for key in ("sentence", "k_map") if told.get(key)]
    return Clause("The population: uniques and k-map, estimated", " ".join(sentences))


def five_safes(case: Case) -> Clause:
    """Five Safes, a line each."""
    model = {"safe setting": "A safe setting.", "agreement": "Under an agreement.", "public": "None: it is public."}
    highest, limit = case.facts.highest, case.threshold
    data = case.verdict.holds
    if highest is not None:
        data += f" Highest risk of the prosecutor {highest:.3f}, {limit.verdict(highest)} the threshold."
    rows = (
        ("Safe project", str(case.context.get("purpose") or NOT_STATED)),
        ("Safe people", str(case.context.get("recipients") or NOT_STATED)),
        ("Safe setting", model.get(str(case.context.get("release_model")), NOT_STATED)),
        ("Safe data", data),
        ("Safe outputs", "What users publish is not checked; the datasheet asks them not to look for anyone."),
    )
    return Clause("Five Safes", headings=("", "Answer"), rows=rows)


def provenance(case: Case) -> Clause:
    """What the release was made from."""
    told = case.content.get("provenance") or {}
    rows = [(f"SHA-256 of {name} (original)", digest) for name, digest in told.get("sources", ())]
    rows += [(f"SHA-256 of publish/{name}", digest) for name, digest in told.get("published", ())]
    if told:
        rows = [("Program", f"Shoal {case.content['version']}"), ("Command", told["command"] or NOT_STATED), *rows]
    text = "The version of the program, the command, and checksums of the original and of every published file."
    return Clause("Provenance", text if rows else "", ("What", "Value"), tuple(rows), in_appendix=True)


def safe_harbor(case: Case) -> Clause:
    """The 18 identifiers against columns and contents."""
    if not case.facts.columns:
        return Clause(
            "Safe Harbor, 45 CFR 164.514(b)(2)",
            "The data has no columns to compare with the 18 identifiers; somebody who knows it has to judge each.",
        )
    rows = []
    for letter, name in IDENTIFIERS.items():
        like = [c for c in case.facts.columns if c.identifier == letter]
        gone = [c.name for c in like if c.treatment == "removed"]
        left = [c for c in like if c.treatment != "removed"]
        answer = (
            "no column looks like it"
            if not like
            else "; ".join(
                [*([f"removed: {some(gone)}"] if gone else []), *(f"published: {c.name} ({c.treatment})" for c in left)]
            )
        )
        verdict = "none seen" if not left else "yes: remove it, or let an expert judge"
        rows.append((f"({letter}) {name}", answer, verdict))
    return Clause(
        "Safe Harbor, 45 CFR 164.514(b)(2)",
        "Columns are compared with the 18 identifiers by the words in their names and the form of their values. A "
        "column that looks like none of them may still be one; actual knowledge (164.514(b)(2)(ii)) is for the covered "
        "entity to state.",
        ("Identifier", "Columns", "Published in some form"),
        tuple(rows),
    )


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _rate(rate: Rate | None) -> str:
    return "–" if rate is None or not rate.attempts else _unbroken(str(rate))


def _added(result: AttackResult) -> str:
    """The risk that an attack adds; nothing is told of one that found nothing to try on."""
    return _unbroken(str(result.risk)) if result.main.attempts else "no case to try it on"


def _unbroken(figure: str) -> str:
    """A figure whose interval stays on one line, below the value where the column is narrow."""
    return figure.replace(" ", _TIED).replace(f"{_TIED}(", " (")
