"""Which clauses a framework asks for, and in which order.

References
----------
ISO/IEC 27559:2022, Privacy enhancing data de-identification framework. European Medicines Agency, policy 0070, external
guidance on the anonymisation of clinical reports. 45 CFR 164.514(b) and the guidance of the Office for Civil Rights,
2012. WP29 opinion 05/2014 and recital 26 of the General Data Protection Regulation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from shoal.report.board import clauses as c
from shoal.report.board.clauses import Case, Clause
from shoal.report.board.questions import INFERENCE, LINKABILITY, SINGLING_OUT

APPENDIX = "Appendix"


@dataclass(frozen=True)
class Chapter:
    """A heading, and what is asked under it."""

    title: str
    clauses: tuple[Clause, ...]


@dataclass(frozen=True)
class Framework:
    """What a board assesses a release by."""

    name: str
    title: str
    chapters: Callable[[Case], list[Chapter]]


def with_appendix(chapters: list[Chapter]) -> list[Chapter]:
    """The chapters with their long tables at the end, so that the rest stays within a few pages."""
    shorter, moved = [], []
    for chapter in chapters:
        clauses = []
        for clause in chapter.clauses:
            if clause.in_appendix and clause.rows:
                moved.append(replace(clause, text=""))
                clause = replace(clause, text=f"{clause.text} See the appendix.", rows=())
            clauses.append(clause)
        shorter.append(replace(chapter, clauses=tuple(clauses)))
    return [*shorter, Chapter(APPENDIX, tuple(moved))] if moved else shorter


def _three(case: Case) -> tuple[Clause, ...]:
    return tuple(c.question(case, name) for name in (SINGLING_OUT, LINKABILITY, INFERENCE))


def _governance(case: Case) -> Chapter:
    return Chapter(
        "Governance",
        (
            case.said("Who is responsible for the release", "contact"),
            case.said("When it is reviewed", "review"),
            case.said("Licence or terms of use", "licence"),
            Clause("How an incident is handled"),
            Clause("How those in the data were informed"),
            c.provenance(case),
        ),
    )


def _context(case: Case) -> Chapter:
    return Chapter(
        "Context assessment",
        (
            case.said("Purpose of the release", "purpose"),
            case.said("Recipients", "recipients"),
            case.said("Release model", "release_model"),
            case.said("Possible harms", "harms"),
            Clause("What an attacker is assumed to know", c.some(list(case.facts.known))),
            c.five_safes(case),
        ),
    )


def _data(case: Case) -> Chapter:
    return Chapter(
        "Data assessment",
        (
            case.said("Source of the data", "source"),
            c.records(case),
            case.said("Population, or the share of it that was sampled", "population", "sampling_fraction"),
            c.columns(case),
        ),
    )


def _iso27559(case: Case) -> list[Chapter]:
    identifiability = (
        c.risks(case),
        c.population(case),
        c.guarantees(case),
        c.techniques(case),
        *_three(case),
        c.membership(case),
        c.intruder(case),
        c.utility(case),
        c.limits(case),
    )
    return [
        _context(case),
        _data(case),
        Chapter("Identifiability assessment and mitigation, with adversarial testing", identifiability),
        _governance(case),
    ]


def _ema(case: Case) -> list[Chapter]:
    return [
        Chapter(
            "1. Methodology",
            (
                Clause("Approach", "Risk analysis: risks are measured on the published data, and attacks are run."),
                case.said("Release model", "release_model"),
                c.risks(case),
                c.population(case),
            ),
        ),
        Chapter("2. Identification of data variables", (c.records(case), c.columns(case))),
        Chapter("3. Process", (c.techniques(case), c.guarantees(case))),
        Chapter("4. Assessment: singling out, linkability, inference", (*_three(case), c.intruder(case))),
        Chapter("5. Data utility", (c.utility(case), c.limits(case))),
        Chapter("6. Context and conclusion", (c.five_safes(case), case.said("Possible harms", "harms"))),
        _governance(case),
    ]


def _hipaa(case: Case) -> list[Chapter]:
    expert = (
        Clause("Name and experience of the expert"),
        Clause("Anticipated recipients of the data", str(case.context.get("recipients") or "")),
        Clause("Replicability and availability: what others may know", c.some(list(case.facts.known))),
        c.risks(case),
        c.population(case),
        c.techniques(case),
        c.guarantees(case),
        *_three(case),
        c.intruder(case),
        case.said("Until when the determination holds", "review"),
        c.limits(case),
    )
    return [
        Chapter("Safe Harbor", (c.safe_harbor(case), Clause("Actual knowledge that the rest could identify someone"))),
        Chapter("Expert Determination, 45 CFR 164.514(b)(1)", expert),
        _data(case),
        _governance(case),
    ]


def _gdpr(case: Case) -> list[Chapter]:
    return [
        Chapter("The three questions of WP29 opinion 05/2014", _three(case)),
        Chapter(
            "Means reasonably likely to be used (recital 26)",
            (c.intruder(case), c.membership(case), c.risks(case), c.population(case)),
        ),
        Chapter("Measures", (c.techniques(case), c.guarantees(case), c.utility(case), c.limits(case))),
        _context(case),
        _data(case),
        Chapter(
            "What the controller has to state",
            (
                Clause("Lawful basis of the processing that makes the release"),
                Clause("Whether an impact assessment (article 35) was made"),
            ),
        ),
        _governance(case),
    ]


FRAMEWORKS = {
    "iso27559": Framework("iso27559", "ISO/IEC 27559", _iso27559),
    "ema": Framework("ema", "EMA policy 0070", _ema),
    "hipaa": Framework("hipaa", "HIPAA, 45 CFR 164.514(b)", _hipaa),
    "gdpr": Framework("gdpr", "GDPR and WP29 opinion 05/2014", _gdpr),
}
