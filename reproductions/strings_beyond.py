"""Windows beside the papers' templates and beside a Markov chain: `python -m reproductions.strings_beyond [SET ...]`.

Half of each set is released with the defaults (k = 20), the other half is the control: what a figure would be if the
release were other strings of the same source. Writes docs/reproductions/strings-beyond.md; where sets are named, their
sections alone are written anew.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from reproductions.string_sets import ROOT, SEED, whole
from shoal.attack.strings.best_matches import FragmentMembership, PlaceMembership
from shoal.attack.strings.case import StringCase
from shoal.attack.strings.membership import StringMembership
from shoal.attack.strings.several_releases import N_RELEASES, SeveralReleases
from shoal.attack.strings.shadow_membership import ShadowMembership
from shoal.attack.strings.share_tracing import ShareTracing
from shoal.check.strings.verbatim import verbatim
from shoal.data.samples.proteins import protein_families
from shoal.data.samples.quest import labelled_baskets
from shoal.data.strings.strings import Strings
from shoal.errors import Infeasible
from shoal.strings import Condensation
from shoal.strings.homology import refuse_unaligned
from shoal.utility.strings.classification import compare_classifiers
from shoal.utility.strings.composition import compare_composition
from shoal.utility.strings.k_mers import compare_k_mers
from shoal.utility.strings.subsequences import N_FREQUENT, WITHIN, adjacent_repeats, subsequences_kept
from shoal.utility.tables.scores import ScoreEstimate

K = 20
PAGE = ROOT / "docs" / "reproductions" / "strings-beyond.md"
SETS = ("promoters", "splice", "families", "mtdna", "mtdna cut", "sessions", "V20.I4", "yeast", "human")
MOST = {"human": 4000}
N_SPLITS = {
    "promoters": 30,
    "mtdna": 6,
    "mtdna cut": 6,
    "V20.I4": 10,
}
WAYS: dict[str, dict[str, Any]] = {
    "window (default)": {},
    "template (the papers' way)": {"generator": "template", "support": 3},
    "Markov chain": {"generator": "markov"},
    "independent symbols": {"generator": "markov", "order": 1},
}
SEEDS = (1, 2, 3)
OVERLAPPING = "; wide windows overlap"
"""Stands in what was measured since they do; before, members were fewer for what windows tell."""
FEWEST_SPLITS = 20
N_SETS = 4
SIZES = (1200, 4800)
USE = ("composition", "pairs", "triples", "repeats", "subsequences kept")
HEADER = (
    "released as",
    "strings",
    *USE,
    "classes told",
    "by place",
    "by fragments",
    "by runs",
    "by shares",
    "by a shadow",
    f"by {N_RELEASES} releases",
    "longest run",
)


def sessions(n: int, seed: int = SEED) -> Strings:
    """Made-up visits of 300 pages: most are short, and many are equal, as clicks on a news site are."""
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(1, 301) ** 1.2
    share /= share.sum()
    following = rng.permuted(np.tile(np.arange(300), (300, 1)), axis=1)[:, :6]
    out = []
    for size in rng.geometric(0.35, n).tolist():
        visit = [int(rng.choice(300, p=share))]
        while len(visit) < size:
            is_link = rng.random() < 0.7
            page = following[visit[-1]][min(int(rng.geometric(0.5)) - 1, 5)] if is_link else rng.choice(300, p=share)
            visit.append(int(page))
        out.append([f"page{p}" for p in visit])
    return Strings.of(out)


def cut_ends(seed: int = SEED) -> Strings:
    """Mitochondrial sequences of which up to ten letters are missing at either end, as reads begin and end."""
    rng = np.random.default_rng(seed)
    return Strings.of([text[rng.integers(11) : len(text) - rng.integers(11)] for text in whole("mtdna").texts()])


def strings_of(name: str) -> Strings:
    """A set."""
    made: dict[str, Callable[[], Strings]] = {
        "sessions": partial(sessions, 10_000),
        "families": families,
        "mtdna cut": cut_ends,
        "V20.I4": partial(labelled_baskets, "V20.I4.D12K", seed=SEED),
    }
    return made[name]() if name in made else whole(name)


def halves(strings: Strings, most: int | None, split: int) -> tuple[Strings, Strings]:
    """What is released, and what is not."""
    rows = np.random.default_rng(SEED + split).permutation(len(strings))[:most]
    half = len(rows) // 2
    return strings.take(np.sort(rows[:half])), strings.take(np.sort(rows[half:]))


def use(original: Strings, shown: Strings) -> list[float]:
    """What is kept of the originals, by the names of `USE`."""
    return [
        100 * compare_composition(original, shown).difference,
        *(100 * compare_k_mers(original, shown, w).total_variation for w in (2, 3)),
        100 * (adjacent_repeats(shown) or 0.0),
        subsequences_kept(original, shown) or 0.0,
    ]


def shown_use(figures: list[list[float]]) -> list[str]:
    """Means over some releases, and the standard deviation where there are several."""
    means, spread = np.mean(figures, axis=0), np.std(figures, axis=0, ddof=1) if len(figures) > 1 else None
    digits = (1, 1, 1, 1, 2)
    return [
        f"{m:.{d}f}" + ("" if spread is None else f" ± {spread[i]:.{d}f}")
        for i, (m, d) in enumerate(zip(means.tolist(), digits, strict=True))
    ]


def nearest(original: Strings, shown: Strings, control: Strings) -> ScoreEstimate:
    """How many classes of others a nearest neighbour tells."""
    return compare_classifiers(original, shown, control, classifiers=("nearest-neighbour",))[0].after


def told(original: Strings, shown: Strings, control: Strings) -> str:
    """The same with half of a 95 % interval."""
    if original.labels is None:
        return "–"
    found = nearest(original, shown, control)
    return f"{100 * found.value:.0f} ± {50 * (found.high - found.low):.0f}"


def told_over_splits(splits: list[tuple[Strings, Strings]]) -> list[str]:
    """Where there are many splits: by how much more classes the default tells than the chain, split by split."""
    if len(splits) < FEWEST_SPLITS:
        return []
    found = np.array(
        [
            [
                nearest(original, release(WAYS[title], original, SEEDS[0] + i), control).value
                for title in ("window (default)", "Markov chain")
            ]
            for i, (original, control) in enumerate(splits)
        ]
    )
    more = 100 * (found[:, 0] - found[:, 1])
    ours, chain = 100 * found.mean(axis=0)
    half = 1.96 * more.std(ddof=1) / np.sqrt(len(splits))
    return [
        "",
        f"Over all {len(splits)} splits the default tells {ours:.1f} % of the classes and the chain {chain:.1f} %: "
        f"{more.mean():.1f} ± {half:.1f} more, split by split.",
    ]


def compared(figures: dict[str, list[list[float]]], itself: list[float]) -> str:
    """Whether the default keeps as much as the chain."""
    ours, chain = (np.array(figures[name]) for name in ("window (default)", "Markov chain"))
    noise = 2 * np.sqrt((ours.var(axis=0, ddof=1) + chain.var(axis=0, ddof=1)) / len(SEEDS))
    worse = []
    for i, name in enumerate(USE):
        lost = [np.abs(side.mean(axis=0) - itself)[i] for side in (ours, chain)]
        if lost[0] > lost[1] + noise[i]:
            worse.append(f"{name} (by {lost[0] - lost[1]:.2g}, noise {noise[i]:.2g})")
    if not worse:
        return "In no figure of use is the default worse than the chain by more than noise."
    return f"The default is worse than the chain, by more than noise, in {', '.join(worse)}."


def risk(splits: list[tuple[Strings, Strings]], again: Callable[[Strings, int], Strings]) -> list[str]:
    """Areas under the curve, and half of a 95 % interval of their mean over the splits."""
    attacks = (
        PlaceMembership(),
        FragmentMembership(),
        StringMembership(),
        ShareTracing(),
        ShadowMembership(),
        SeveralReleases(),
    )
    areas: list[list[tuple[float, float]]] = [[] for _ in attacks]
    for i, (original, control) in enumerate(splits):
        case = StringCase(again(original, SEEDS[0] + i), original, control, again)
        for attack, found in zip(attacks, areas, strict=True):
            if attack.missing(case) is None:
                details = attack.run(case, np.random.default_rng(SEED + i)).details
                found.append((float(details["area_under_curve"]), float(details["area_error"])))
    return [
        f"{np.mean([a for a, _ in found]):.2f} ± {1.96 * np.sqrt(np.sum([e**2 for _, e in found])) / len(found):.2f}"
        if found
        else "–"
        for found in areas
    ]


def release(settings: dict[str, Any], strings: Strings, seed: int) -> Strings:
    """A release."""
    made: Strings = Condensation(K, seed=seed, workers=1, **settings).fit_transform(strings)
    return made


def longest(shown: Strings, original: Strings) -> str:
    runs = verbatim(shown, original).published
    return f"{runs.mean:.1f} / {runs.longest}"


def refused(original: Strings) -> list[str]:
    """What a release says of strings that are nearly the same and not aligned; nothing where they are not."""
    try:
        refuse_unaligned(original)
    except Infeasible as refusal:
        return [f'A release is refused: "{refusal}". The table is of `unaligned = "accept"`.', ""]
    return []


def section(name: str) -> list[str]:
    """One set."""
    strings = strings_of(name)
    splits = [halves(strings, MOST.get(name), i) for i in range(N_SPLITS.get(name, 3))]
    original, control = splits[0]
    sizes = f"{len(original):,} released, {len(control):,} not; attacks on {len(splits)} such splits{OVERLAPPING}."
    lines = [f"## {name}", "", sizes, "", *refused(original)]
    lines += ["| " + " | ".join(HEADER) + " |", "|---" * len(HEADER) + "|"]
    itself = use(original, original)
    cells = [f"{len(original):,}", *shown_use([itself]), told(original, replace(original), control)]
    lines.append("| the originals | " + " | ".join([*cells, *["–"] * 7]) + " |")
    cells = [f"{len(control):,}", *shown_use([use(original, control)]), "–", *["–"] * 6, longest(control, original)]
    lines.append("| control | " + " | ".join(cells) + " |")
    figures = {}
    for title, settings in WAYS.items():
        again = partial(release, settings)
        releases = [again(original, seed) for seed in SEEDS]
        shown = releases[0]
        figures[title] = [use(original, one) for one in releases]
        cells = [f"{len(shown):,}", *shown_use(figures[title]), told(original, shown, control)]
        cells += [*risk(splits, again), longest(shown, original)]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    more = over_sizes() if name == "families" else told_over_splits(splits)
    return [*lines, "", compared(figures, itself), *more, ""]


def families(n: int = 4800, seed: int = 1) -> Strings:
    """Made-up protein families, as the demonstration has."""
    return protein_families(n, n_families=4, mean_length=120.0, unevenness=0.5, seed=seed)


def over_sizes() -> list[str]:
    """What a shadow tells of members of small sets and of large ones."""
    told = []
    for n in SIZES:
        areas: dict[str, list[float]] = {"window (default)": [], "Markov chain": []}
        for seed in range(N_SETS):
            original, control = halves(families(n, seed), None, seed)
            for title, found in areas.items():
                again = partial(release, WAYS[title])
                case = StringCase(again(original, seed), original, control, again)
                result = ShadowMembership().run(case, np.random.default_rng(seed))
                found.append(float(result.details["area_under_curve"]))
        ours, chain = (
            f"{np.mean(found):.3f} ± {1.96 * np.std(found, ddof=1) / np.sqrt(N_SETS):.3f}" for found in areas.values()
        )
        told.append(f"of {n // 2:,} strings {ours} ({chain} for the chain)")
    return [
        "",
        "Shares of symbols tell of members of small sets, however they are drawn, and less of large ones. By a shadow, "
        f"over {N_SETS} sets of families each: {'; '.join(told)}.",
    ]


def set_aside(kept: dict[str, list[str]]) -> list[str]:
    """What to say of the sets whose section is missing, or was measured before."""
    missing = [name for name in SETS if name not in kept]
    old = [name for name in SETS if name in kept and not any(OVERLAPPING in line for line in kept[name])]
    said = [f"Not measured: {', '.join(missing)}."] if missing else []
    if old:
        said.append(
            f"**To be measured again**: {', '.join(old)}, where the default was measured before wide windows "
            "overlapped, and without `share-tracing`."
        )
    return [" ".join(said), ""] if said else []


def main(names: list[str]) -> None:
    """Measure and write the page, or the sections of some sets."""
    intro = [
        "# Strings beyond the papers",
        "",
        "The default generator, `window`, beside the papers' `template` (support 3) and beside `markov`, a chain whose "
        "pairs at least k strings of the class hold. k = 20. Made by "
        "`python -m reproductions.strings_beyond`.",
        "",
        "Composition is the sum of differences in %, pairs and triples are total variation in %, repeats are symbols "
        f"that follow one like them in %, to be as many as among the originals; of the {N_FREQUENT} subsequences that "
        f"most originals hold (6 bases, 3 amino acids or 2 tokens, each at most {WITHIN} places after the one before, "
        "always as many) the share is given that is among as many of the release. These are means of three releases, "
        "with their standard deviation, of one split of the set; the rest is of the first. Classes are told by the "
        "nearest neighbour, in % of strings that were not released. Attacks on membership are areas under the curve "
        "with 95 % intervals, means over some splits, 0.5 being blind: `place-membership`, `fragment-membership`, "
        "`membership`, `share-tracing`, `shadow-membership` and `several-releases`. Independent symbols are drawn from "
        "the composition of a class alone: what shares tell of them is the least that any release with that "
        "composition tells. Longest runs that stand in an original: mean and "
        "maximum. The control of a use figure is "
        "the other half of the source; that of classes is in the line of the originals. `families` are made-up protein "
        "families, as the demonstration has; `mtdna cut` are the sequences of `mtdna` without up to ten letters at "
        "either end, so not aligned. Of sessions, the symbols that fewer than k strings hold, which may not be shown, "
        "are 11 % of all, and move the composition by 22 %. Of the human proteins "
        f"{MOST['human']:,} are looked at, drawn at random.",
        "",
    ]
    kept: dict[str, list[str]] = {}
    if names and PAGE.exists():
        for part in re.split(r"^(?=## )", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            if f"| {HEADER[0]} | " in part:
                kept[part.splitlines()[0].removeprefix("## ")] = [*part.rstrip("\n").splitlines(), ""]
    for name in names or SETS:
        kept[name] = section(name)
        lines = [line for n in SETS for line in kept.get(n, [])]
        # After each set, since all of them take some minutes.
        PAGE.write_text("\n".join([*intro, *set_aside(kept), *lines]), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
