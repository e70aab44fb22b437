"""Generalisation, bucketization, slicing and screening at equal l on Adult: `python -m reproductions.screening`.

Slicing's authors compare attribute disclosure and classifiers that predict the sensitive attribute or a
quasi-identifier (T. Li, N. Li, J. Zhang, I. Molloy, "Slicing", IEEE TKDE 24(3), 2012, section 6); screening's paper has
no experiments. Writes `docs/reproductions/screening.md` and a picture; every number is computed here.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np

import shoal
from reproductions.screening_measures import (
    GENERALISATION,
    KINDS,
    N_SAMPLES,
    NAMES,
    OTHER_TARGET,
    SENSITIVE,
    SEVEN,
    Analyst,
    Hits,
    K,
    Kind,
    Told,
    Worth,
    difference,
    members,
    read_adult,
    release_of,
    require,
    told,
)
from shoal.check.slices.membership import BINS, Membership

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reproductions" / "screening.md"
PICTURE = PAGE.with_name("screening.svg")

ATTRIBUTES = {7: SEVEN, 15: NAMES}
SETTINGS = ((5, "probabilistic"), (8, "entropy"), (8, "distinct"), (10, "entropy"), (10, "distinct"))
MODELS = tuple((target, model) for target in (SENSITIVE, OTHER_TARGET) for model in ("naive Bayes", "tree"))
HEADS = tuple(f"{target}, {model}" for target, model in MODELS)
NAIVELY = (Kind("screening, 2 slices", "screen", 2), Kind("screening, 3 slices", "screen", 3))
K_ALONE = [{"model": "k-anonymity", "k": K}]

fill = partial(textwrap.fill, width=120, break_on_hyphens=False)


@dataclass(frozen=True)
class Found:
    """One release, or why there is none."""

    n_attributes: int
    l: float  # noqa: E741  the paper's name
    of_kind: str
    kind: str
    slices: tuple[int, ...]
    told: Told | None
    worth: Worth | None
    members: Mapping[bool, Membership]  # by strict
    infeasible: str = ""


@cache
def analyst(n_attributes: int) -> Analyst:
    """Training and test records with so many attributes."""
    names = list(ATTRIBUTES[n_attributes])
    return Analyst(read_adult("adult.data").select(names), read_adult("adult.test").select(names))


def measure(task: tuple[int, float, str, Kind]) -> Found:
    """Make one release and take everything from it."""
    n_attributes, l, of_kind, kind = task  # noqa: E741  the paper's name
    table = analyst(n_attributes).table
    try:
        release = release_of(table, kind, require(l, of_kind))
    except shoal.Infeasible as error:
        return Found(n_attributes, l, of_kind, kind.name, (), None, None, {}, str(error))
    among = {}
    if (l, of_kind) == SETTINGS[0]:
        among[True] = members(release)
        among[False] = members(release_of(table, kind, require(l, of_kind), strict=False))
    slices = tuple(len(set(s.attributes) - {SENSITIVE}) for s in release.layout.slices) if release.layout else ()
    return Found(
        n_attributes, l, of_kind, kind.name, slices, told(release), analyst(n_attributes).worth(release), among
    )  # fmt: skip


def measure_k_alone(task: tuple[int, Kind]) -> tuple[int, str, Told]:
    """What k alone gives away, by the join and by the naive check."""
    n_attributes, kind = task
    table = analyst(n_attributes).table
    layout = release_of(table, kind, require(*SETTINGS[0])).layout
    assert layout is not None
    # The same slices by name: left to itself, k alone would not be given any that can be joined.
    named = tuple(tuple(a for a in s.attributes if a != SENSITIVE) for s in layout.slices)
    return n_attributes, kind.name, told(release_of(table, replace(kind, slices=named), K_ALONE))


def learned_from_original(n_attributes: int) -> Mapping[tuple[str, str], Hits]:
    """The models of the original."""
    found = analyst(n_attributes)
    return found.learned([found.original])


def most_frequent(n_attributes: int, target: str) -> float:
    """How often a guess is right that looks at nothing: the most frequent value of the training records."""
    held = analyst(n_attributes)
    values, counts = np.unique(held.original[target], return_counts=True)
    return float((held.test[target] == values[counts.argmax()]).mean())


def page(
    found: Sequence[Found],
    before: Mapping[int, Mapping[tuple[str, str], Hits]],
    alone: Sequence[tuple[int, str, Told]],
) -> str:
    """Everything as Markdown."""
    values = analyst(7).original[SENSITIVE]
    shares = np.unique(values, return_counts=True)[1] / len(values)
    effective = float(np.exp(-(shares * np.log(shares)).sum()))
    lines = [
        "# Generalisation, bucketization, slicing and screening at equal l",
        "",
        fill(
            f"Written by `python -m reproductions.screening`. Adult, the {len(values):,} complete records of "
            f"`adult.data`; `{SENSITIVE}` is sensitive, every other attribute quasi-identifying, no hierarchies, "
            f"k = {K}, strict cuts. Seven attributes: {', '.join(SEVEN)}, our reading of slicing's OCC-7; fifteen: "
            "all. Generalisation is Mondrian with the same k and l."
        ),
        "",
        fill(
            f"Which l: the most frequent of {len(shares)} occupations has {shares.max():.1%} of the records, so that "
            f"probabilistic l above {1 / shares.max():.2f} cannot be had by any method; l = 5 is probabilistic. The "
            f"entropy of the whole table is that of {effective:.2f} equal values, so entropy l = 8 and 10 can be had, "
            "the latter nearly by the whole table alone; distinct l = 8 and 10 are there too. Every release passed the "
            "checker at its k and l."
        ),
        "",
        "## What an attacker gets",
        "",
        fill(
            "The attacker knows all quasi-identifiers of everybody and joins the slices on the sensitive value. "
            "Highest and average are beliefs in the likeliest value of a person, *naive* as the check printed with "
            "screening has them, without the join; *right* is the share of records whose likeliest value is the true "
            f"one, where always naming the most frequent value is right for {shares.max():.1%}. *Slices* tells the "
            "quasi-identifiers in each."
        ),
        "",
    ]
    lines += [line for n in ATTRIBUTES for line in _told_table([f for f in found if f.n_attributes == n], n)]
    lines += [
        "## What the naive check does not see",
        "",
        fill(
            f"Screening at k = {K} with no l required. The naive check sees what stands beside a person's values in "
            "one slice; the join leaves only the sensitive values that stand beside them in every slice. *Certain* is "
            "the share of records of which one value is left."
        ),
        "",
        "| attributes | release | highest, naive | highest, joined | average, naive | average, joined | certain |",
        "|---:|---|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {n} | {name} | {t.naive_highest:.3f} | {t.highest:.3f} | {t.naive_average:.3f} | {t.average:.3f} "
        f"| {t.certain:.1%} |"
        for n, name, t in alone
    ]
    lines += [
        "",
        "## What an analyst gets",
        "",
        fill(
            f"Of each release, {N_SAMPLES} samples of plausible records (`shoal.sample_records` with `draw=True`): "
            "slices are put together at random inside a bucket, screened ones on the sensitive value, and a label "
            "becomes a value drawn evenly from what it covers. A generalised table is sampled in the same way, as one "
            f"slice. Models are trained on a sample and tested on the {len(analyst(7).test[SENSITIVE]):,} complete "
            "records of `adult.test`, which no release was made of: naive Bayes on categories and tenths, and a "
            "decision tree with leaves of 20 or more. Accuracies are means over samples; **+** or **-** behind one "
            "says that it differs from generalisation's by more than the half width of a 95 % interval, over test "
            "records in pairs and over samples. *Query* is the median relative error of random counts over two "
            "attributes of all. *Pairs* is the share of records in the wrong cell of a table of two attributes, the "
            f"mean over pairs of quasi-identifiers, and over those with `{SENSITIVE}`."
        ),
        "",
    ]
    lines += [
        line for n in ATTRIBUTES for line in _worth_table([f for f in found if f.n_attributes == n], n, before[n])
    ]
    lines += [
        "![Accuracy of naive Bayes by l](screening.svg)",
        "",
        "## Screening against generalisation, plainly",
        "",
        *_plainly(found),
        "",
        "## Who is in the table",
        "",
        fill(
            f"Share of the records, and of fakes, by the number of buckets that match them, at {SETTINGS[0][1]} "
            f"l = {SETTINGS[0][0]}. Fakes are slices of different records put together; where one slice has all "
            "quasi-identifiers, values drawn apart. What a bucketized table matches is in it. Of a generalised or "
            "screened one, every record matches its own bucket and, with strict cuts, no other; the protection is in "
            "the fakes that match as well."
        ),
        "",
        "| attributes | release | cuts | who | " + " | ".join(BINS) + " |",
        "|---:|---|---|---|" + "---:|" * len(BINS),
    ]
    for f in found:
        if (f.l, f.of_kind) != SETTINGS[0]:
            continue
        for strict, m in f.members.items():
            cuts = "strict" if strict else "relaxed"
            for who, row in (("records", m.originals), (f"fakes, {m.how}", m.fakes)):
                lines.append(
                    f"| {f.n_attributes} | {f.kind} | {cuts} | {who} | " + " | ".join(f"{x:.1%}" for x in row) + " |"
                )
    return "\n".join([*lines, ""])


def _told_table(found: Sequence[Found], n_attributes: int) -> list[str]:
    lines = [
        f"### {n_attributes} attributes",
        "",
        "| l | release | slices | highest | highest, naive | average | average, naive | right |",
        "|---|---|---|---:|---:|---:|---:|---:|",
    ]
    for f in found:
        if f.told is None:
            lines.append(f"| {f.l:g} {f.of_kind} | {f.kind} | cannot be had | | | | | |")
            continue
        t = f.told
        lines.append(
            f"| {f.l:g} {f.of_kind} | {f.kind} | {_slices(f)} | {t.highest:.3f} | {t.naive_highest:.3f} "
            f"| {t.average:.3f} | {t.naive_average:.3f} | {t.right:.1%} |"
        )
    return [*lines, ""]


def _slices(found: Found) -> str:
    sizes = [str(s) for s in found.slices]
    return "+".join(sizes) if len(sizes) <= 6 else f"{len(sizes)} slices"


def _worth_table(found: Sequence[Found], n_attributes: int, before: Mapping[tuple[str, str], Hits]) -> list[str]:
    lines = [
        f"### Learning and counting, {n_attributes} attributes",
        "",
        "| l | trained on | " + " | ".join(HEADS) + " | query | pairs | pairs with sensitive |",
        "|---|---|" + "---:|" * (len(HEADS) + 3),
        "| | the original | " + " | ".join(f"{before[m].mean():.3f}" for m in MODELS) + " | 0 | 0 | 0 |",
        "| | nothing: the most frequent | "
        + " | ".join(f"{most_frequent(n_attributes, target):.3f}" for target, _ in MODELS)
        + " | | | |",
    ]
    for f in found:
        if f.worth is None:
            continue
        beside = _generalised(found, f)
        cells = [f"{f.worth.hits[m].mean():.3f}{_sign(f, beside, m)}" for m in MODELS]
        lines.append(
            f"| {f.l:g} {f.of_kind} | {f.kind} | {' | '.join(cells)} | {f.worth.query_error:.3f} "
            f"| {f.worth.pairs:.3f} | {f.worth.pairs_sensitive:.3f} |"
        )
    return [*lines, ""]


def _generalised(found: Sequence[Found], other: Found) -> Found | None:
    for f in found:
        same = (f.n_attributes, f.l, f.of_kind) == (other.n_attributes, other.l, other.of_kind)
        if same and f.kind == GENERALISATION.name and f.worth is not None:
            return f
    return None


def _sign(found: Found, beside: Found | None, model: tuple[str, str]) -> str:
    if beside is None or beside is found or beside.worth is None or found.worth is None:
        return ""
    by, half_width = difference(found.worth.hits[model], beside.worth.hits[model])
    return "" if abs(by) <= half_width else " **+**" if by > 0 else " **-**"


def _plainly(found: Sequence[Found]) -> list[str]:
    """Count better, worse and undecided, and say why."""
    lines = ["| screening with | l | accuracy better | worse | no difference | pairs better | worse |"]
    lines.append("|---|---|---:|---:|---:|---:|---:|")
    for kind in (k for k in KINDS if k.publish == "screen"):
        for l, of_kind in SETTINGS:  # noqa: E741  the paper's name
            some = [f for f in found if (f.kind, f.l, f.of_kind) == (kind.name, l, of_kind) and f.worth is not None]
            signs = [_sign(f, _generalised(found, f), m).strip(" *") for f in some for m in MODELS]
            pairs = []
            for f in some:
                beside = _generalised(found, f)
                if f.worth is not None and beside is not None and beside.worth is not None:
                    pairs += [f.worth.pairs - beside.worth.pairs]
                    pairs += [f.worth.pairs_sensitive - beside.worth.pairs_sensitive]
            n_better, n_worse = (sum(p * s > 0.01 for p in pairs) for s in (-1, 1))
            lines.append(
                f"| {kind.name.partition(', ')[2]} | {l:g} {of_kind} | {signs.count('+')} | {signs.count('-')} "
                f"| {signs.count('')} | {n_better} | {n_worse} |"
            )
    single = [f for f in found if f.kind == "screening, best" and len(f.slices) == 1]
    told = "; ".join(f"{f.n_attributes} attributes, {f.of_kind} l = {f.l:g}" for f in single)
    return [
        *lines,
        "",
        fill(
            "Each cell counts tasks over 7 and 15 attributes, two targets and two models; pairs count where they "
            "differ by more than 0.01. "
            + (f"`best` chose one slice, which is Mondrian's generalisation itself, for: {told}. " if single else "")
            + WHY
        ),
    ]


WHY = (
    "Why screening does not win where shares are limited (probabilistic, entropy): every slice carries the sensitive "
    "value, so the slices of a bucket can be joined again on it, and what is left possible for a person is what stands "
    "beside their values in all slices at once. A region may then be cut only if the intersection keeps the required "
    "shares, which is hardly ever so: two halves with slightly different shares of a value, in two slices, multiply. "
    "Screening then has the regions of generalisation at best, and loses the link between slices on top. Where `best` "
    "is clearly worse, the measure that slices are chosen by, pairs in bins of its own, does not agree with those "
    "here. Distinct l asks only that enough values are left, however unlikely, which more records in a "
    "bucket give; there regions become much smaller than groups of generalisation, and screening keeps more. It is "
    "not for nothing: at the same distinct l an attacker who joins is surer of a value, and more often right, than "
    "with generalisation (above), and of some people nearly certain. Who wants shares limited should ask for "
    "probabilistic or entropy l. Bucketization and slicing keep the quasi-identifiers as they are and so win wherever "
    "only they matter, at the price of telling who is in the table."
)


def draw(found: Sequence[Found], before: Mapping[int, Mapping[tuple[str, str], Hits]]) -> None:
    """Accuracy of naive Bayes, a panel for each number of attributes and target."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams.update({"svg.hashsalt": "shoal", "svg.fonttype": "path"})
    figure = Figure(figsize=(10, 7), layout="constrained")
    names = [f"{setting[0]:g}\n{setting[1]}" for setting in SETTINGS]
    panels = figure.subplots(2, 2, sharex=True)
    for row, n in zip(panels, ATTRIBUTES, strict=True):
        for axes, target in zip(row, (SENSITIVE, OTHER_TARGET), strict=True):
            at = (target, "naive Bayes")
            axes.axhline(before[n][at].mean(), color="black", linewidth=1, label="the original")
            for kind, marker in zip(KINDS, "osD^v*", strict=True):
                places, heights = [], []
                for place, setting in enumerate(SETTINGS):
                    for f in found:
                        if (f.n_attributes, f.kind, (f.l, f.of_kind)) == (n, kind.name, setting) and f.worth:
                            places.append(place)
                            heights.append(f.worth.hits[at].mean())
                axes.plot(places, heights, marker=marker, linestyle=":", label=kind.name)
            axes.set(title=f"{target}, {n} attributes", xticks=range(len(names)), xticklabels=names)
            axes.set_ylim(bottom=0)
    panels[0][0].set_ylabel("accuracy of naive Bayes")
    panels[0][0].legend(frameon=False, fontsize=8)
    figure.savefig(PICTURE, metadata={"Date": None})


def main() -> None:
    """Compute everything on two cores and write the page."""
    tasks = [(n, *setting, kind) for n in ATTRIBUTES for setting in SETTINGS for kind in KINDS]
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        before = dict(zip(ATTRIBUTES, pool.map(learned_from_original, ATTRIBUTES), strict=True))
        alone = list(pool.map(measure_k_alone, [(n, kind) for n in ATTRIBUTES for kind in NAIVELY]))
        found = list(pool.map(measure, tasks))
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(found, before, alone), encoding="utf-8")
    draw(found, before)


if __name__ == "__main__":
    main()
