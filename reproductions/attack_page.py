"""The page of attacks: what each got from each release, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reproductions.attack_findings import N_RECOVERED, RECOVERY_SECONDS, Found
from reproductions.attack_leaks import leaks
from reproductions.attack_picture import KINDS
from reproductions.attack_releases import ALIKE_HOLD_OUT, HOLD_OUT, N_BASKETS
from reproductions.string_tables import fill, table
from shoal.attack.result import AttackResult, Rate
from shoal.attack.tables.membership import TableMembership
from shoal.kind import kind_named

WHO = (
    "singling-out-univariate", "singling-out", "linkage", "linkage-partial", "linkage-rank", "linkability",
    "membership", "uniqueness",
)  # fmt: skip
WHAT = (
    "inference", "inference-bayes", "homogeneity", "skewness", "similarity", "column-join", "label-ends", "downcoding",
    "intersection", "partition-replay", "minimality",
)  # fmt: skip

ABOUT = f"""
Written by `python -m reproductions.attacks`; every number is computed there. Every attack of Shoal that applies, on
every method, at k = 5 and k = 20. {HOLD_OUT:.0%} of the records are held out of each release, at random, with a
fixed seed, as the control. What each attack knows and does: [Attacks](../reference/attacks.md).
"""
READ = f"""
A cell is the **risk added**: the share of what could still be won beyond the control (without one, beyond guessing)
that the release gives, with its 95 % interval; 0 is nothing, 1 is everything. It is bold where the interval does not
reach 0. A dash: the attack does not apply. At most {TableMembership().n_attacks:,} attempts an attack on tables, 1,000
strings, {N_RECOVERED} records for recovery (or {RECOVERY_SECONDS:.0f} seconds). The successes on members, on others and
by guessing are below for strings and sketches, and for all in `reproductions/results/attacks.json`.
"""
SETS = {
    "Adult": (
        "Seven quasi-identifiers (sex, age, race, marital status, education, country, workclass), occupation "
        "sensitive; "
        "labels are ranges and sets, but with ARX's hierarchies for `full-domain` and `datafly` (2 % suppressed at "
        "most) and where it says so. The publication is the method's default unless it is named: averages for `mdav`, "
        "`v-mdav` and `curve`, labels for the others. Intersection: with a second release by `local-recoding` (by "
        "`mondrian` where that is the first) at the same k. Uniqueness: in all of Adult."
    ),
    "yeast": "All Swiss-Prot proteins of yeast.",
    "haplotypes": (
        "Made in code (`shoal.data.samples.haplotypes`): aligned strings of 125 places and two letters, children "
        f"of one ancestor, many of them equal. {ALIKE_HOLD_OUT:.0%} held out."
    ),
    "mtDNA": (
        "The first hypervariable region of 435 persons of Cameroon (Coia et al. 2005), 360 bases, aligned. "
        f"{ALIKE_HOLD_OUT:.0%} held out."
    ),
    "T10I4D100K": f"All of its {N_BASKETS:,} baskets, in random order.",
    "20 newsgroups": "All texts, binary.",
}


def page(found: Sequence[Found]) -> str:
    """The whole page."""
    lines = [
        "# Attacks on every method",
        "",
        fill(" ".join(ABOUT.split())),
        "",
        fill(" ".join(READ.split())),
        "",
        "![Risk added by every method against every attack](attacks.svg)",
        "",
        *leaks(found),
        *_adult([f for f in found if f.data == "Adult"]),
    ]
    for data in list(KINDS)[1:]:
        lines += _rates(data, [f for f in found if f.data == data])
        if data == "mtDNA":
            lines += _copies([f for f in found if KINDS[f.data] == "strings"])
    seconds = sum(f.cpu_seconds for f in found)
    lines += [fill(f"All releases and attacks took {seconds / 60:.0f} minutes of processor time."), ""]
    return "\n".join(lines)


def _adult(found: Sequence[Found]) -> Iterator[str]:
    first = found[0]
    yield "## Adult"
    yield ""
    yield fill(f"{first.n_records:,} records, {first.n_control:,} held out. {SETS['Adult']}")
    yield ""
    old = [f"`{f.method}` with k = {f.k}" for f in found if f.of("downcoding") and not f.of("label-ends")]
    if old:
        yield fill(
            f"**To be measured again**: {', '.join(old)}, measured when ranges ended at values of members, which "
            "`downcoding` claimed then and `label-ends` claims now."
        )
        yield ""
    for title, names in (("Who is it?", WHO), ("What is said of them?", WHAT)):
        yield f"### {title}"
        yield ""
        rows = [(f"`{f.method}`", str(f.k), *(_cell(f.of(name)) for name in names)) for f in found]
        yield from table(("method", "k", *names), rows)


def _rates(data: str, found: Sequence[Found]) -> Iterator[str]:
    first = found[0]
    yield f"## {data.capitalize() if data.islower() else data}"
    yield ""
    yield fill(f"{first.n_records:,} records, {first.n_control:,} held out. {SETS[data]}")
    yield ""
    if KINDS[data] == "strings" and not all(f.of("place-membership") for f in found):
        yield fill(
            "**To be measured again**: measured when templates and a support of 3 were the default, and before "
            "membership was attacked by place, by fragments, by a shadow and over several releases; those of the "
            "default are in [Strings beyond the papers](strings-beyond.md)."
        )
        yield ""
    rows = []
    for name in [a.name for a in kind_named(KINDS[data]).attacks]:
        for f in found:
            r = f.of(name)
            if r is not None:
                rows.append((name, f.method, _k(f), _rate(r.main), _rate(r.control), _rate(r.baseline), _cell(r)))
    yield from table(("attack", "method", "k", "on members %", "on others %", "by guessing %", "risk added"), rows)


def _copies(found: Sequence[Found]) -> Iterator[str]:
    """What drawing copies again tells, and what allowing them does."""
    yield "## Copies drawn again, or allowed"
    yield ""
    yield fill(
        "Of the strings that occur once, members against others that were held out. In the release: the share that "
        "stands there as it is. Then the area under the curve, with its 95 % interval, and the share of members found "
        "at 1 % of false alarms, for who takes a string that is missing among near ones for a member (`holes`) and for "
        "who takes one that stands there for a member (`echoes`). An attacker knows which of the two to take."
    )
    yield ""
    rows = []
    for f in found:
        cells = []
        for name in ("holes", "echoes"):
            r = f.of(name)
            cells += ["–", "–"] if r is None else [_area(r), f"{100 * r.main.value:.1f}"]
        seen = f.of("holes")
        shares = ["members_verbatim", "others_verbatim"]
        told = ["–", "–"] if seen is None else [f"{100 * seen.details[n]:.1f}" for n in shares]
        rows.append((f.data, f.method, _k(f), f"{f.n_published:,} of {f.n_records:,}", *told, *cells))
    yield from table(
        ("data", "method", "k", "published", "members in it %", "others in it %", "holes: area", "found %",
         "echoes: area", "found %"),
        rows,
    )  # fmt: skip


def _area(result: AttackResult) -> str:
    area, error = result.details["area_under_curve"], result.details["area_error"]
    return f"{area:.2f} ({max(area - 1.96 * error, 0):.2f} to {min(area + 1.96 * error, 1):.2f})"


def _k(found: Found) -> str:
    return "" if found.k is None else str(found.k)


def _rate(rate: Rate | None) -> str:
    if rate is None or not rate.attempts:
        return "–"
    return f"{100 * rate.value:.1f} ({100 * rate.low:.1f} to {100 * rate.high:.1f})"


def _cell(result: AttackResult | None) -> str:
    if result is None or not result.main.attempts:
        return "–"
    risk = result.risk
    text = f"{risk.value:.2f} ({risk.low:.2f} to {risk.high:.2f})"
    return f"**{text}**" if result.succeeds else text
