"""Windows beside the papers' templates and beside a Markov chain: `python -m reproductions.strings_beyond [SET ...]`.

Half of each set is released with the defaults (k = 20), the other half is the control: what a figure would be if the
release were other strings of the same source. Writes docs/reproductions/strings-beyond.md; where sets are named, their
sections alone are written anew.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import t

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
SEED_OF_RELEASE = 1
FEWEST_SPLITS = 5
APART = "; symbols after earlier ones"
"""Stands in what was measured since symbols are drawn after earlier ones too."""
N_SETS = 4
SIZES = (1200, 4800)
BETTER, EQUAL, WORSE = "better", "equal", "**worse**"
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
    """Means over some releases, and their standard deviation."""
    means, spread = np.mean(figures, axis=0), np.std(figures, axis=0, ddof=1)
    digits = (1, 1, 1, 1, 2)
    return [
        f"{m:.{d}f} ± {s:.{d}f}" for m, s, d in zip(means[: len(USE)].tolist(), spread.tolist(), digits, strict=False)
    ]


def nearest(original: Strings, shown: Strings, control: Strings) -> ScoreEstimate:
    """How many classes of others a nearest neighbour tells."""
    return compare_classifiers(original, shown, control, classifiers=("nearest-neighbour",))[0].after


def told(figures: list[list[float]]) -> str:
    """The last of the figures, where there are classes."""
    found = [f[len(USE)] for f in figures if len(f) > len(USE)]
    return f"{np.mean(found):.0f} ± {np.std(found, ddof=1):.0f}" if found else "–"


def with_classes(original: Strings, shown: Strings, control: Strings) -> list[float]:
    """`use`, and in % how many classes of others are told, where there are classes."""
    told = [] if original.labels is None else [100 * nearest(original, shown, control).value]
    return [*use(original, shown), *told]


def compared(figures: dict[str, list[list[float]]]) -> list[str]:
    """What the default loses of each figure beside the chain, split by split, and what the other half differs by."""
    itself, control, ours, chain = (
        np.array(figures[name]) for name in ("the originals", "control", "window (default)", "Markov chain")
    )
    lines = ["| lost, of | default | chain | difference | control | the default is |", "|---" * 6 + "|"]
    for i, name in enumerate([*USE, "classes told"][: itself.shape[1]]):
        lost = [np.abs(side[:, i] - itself[:, i]) for side in (ours, chain)]
        less = lost[0] - lost[1]
        half = float(t.ppf(0.975, len(less) - 1)) * less.std(ddof=1) / np.sqrt(len(less))
        digits = 3 if name == "subsequences kept" else 2
        apart = "–" if name == "classes told" else f"{np.abs(control[:, i] - itself[:, i]).mean():.{digits}f}"
        cells = [f"{side.mean():.{digits}f}" for side in lost]
        cells += [f"{less.mean():+.{digits}f} ± {half:.{digits}f}", apart, verdict(float(less.mean()), float(half))]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def verdict(less: float, half: float) -> str:
    """In a word, what a difference of losses says."""
    return EQUAL if abs(less) <= half else WORSE if less > 0 else BETTER


def risk(
    splits: list[tuple[Strings, Strings]], releases: Sequence[Strings], again: Callable[[Strings, int], Strings]
) -> list[str]:
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
        case = StringCase(releases[i], original, control, again)
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
        refuse_unaligned(original, original.labels)
    except Infeasible as refusal:
        return [f'A release is refused: "{refusal}". The table is of `unaligned = "accept"`.', ""]
    return []


def section(name: str) -> list[str]:
    """One set."""
    strings = strings_of(name)
    n_splits = N_SPLITS.get(name, 3)
    splits = [halves(strings, MOST.get(name), i) for i in range(max(n_splits, FEWEST_SPLITS))]
    original, control = splits[0]
    sizes = f"{len(original):,} released, {len(control):,} not"
    sizes += f"; use of {len(splits)} such splits, attacks on {n_splits}{APART}."
    lines = [f"## {name}", "", sizes, "", *refused(original)]
    lines += ["| " + " | ".join(HEADER) + " |", "|---" * len(HEADER) + "|"]
    figures = {
        "the originals": [with_classes(o, replace(o), c) for o, c in splits],
        "control": [use(o, c) for o, c in splits],
    }
    for title, found in figures.items():
        cells = [f"{len(original if title != 'control' else control):,}", *shown_use(found), told(found)]
        longest_run = longest(control, original) if title == "control" else "–"
        lines.append(f"| {title} | " + " | ".join([*cells, *["–"] * 6, longest_run]) + " |")
    for title, settings in WAYS.items():
        again = partial(release, settings)
        releases = [again(o, SEED_OF_RELEASE + i) for i, (o, _) in enumerate(splits)]
        figures[title] = [with_classes(o, shown, c) for (o, c), shown in zip(splits, releases, strict=True)]
        cells = [f"{len(releases[0]):,}", *shown_use(figures[title]), told(figures[title])]
        cells += [*risk(splits[:n_splits], releases, again), longest(releases[0], original)]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    more = over_sizes() if name == "families" else []
    return [*lines, "", *compared(figures), *more, ""]


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


def summary(kept: dict[str, list[str]]) -> list[str]:
    """Of every set and figure of use, whether the default is better than the chain, and which sets are missing."""
    figures = [*USE, "classes told"]
    lines = [
        "The default beside the chain, by the tables of differences below:",
        "",
        "| set | " + " | ".join(figures) + " |",
        "|---" * (len(figures) + 1) + "|",
    ]
    for name in SETS:
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in kept.get(name, [])]
        found = {row[0]: row[-1] for row in rows if row[-1] in (BETTER, EQUAL, WORSE)}
        if found:
            lines.append(f"| {name} | " + " | ".join(found.get(figure, "–") for figure in figures) + " |")
    missing = [name for name in SETS if name not in kept]
    old = [name for name in SETS if name in kept and not any(APART in line for line in kept[name])]
    said = [f"Not measured: {', '.join(missing)}."] if missing else []
    if old:
        said.append(
            f"**To be measured again**: {', '.join(old)}, measured before symbols were drawn after earlier ones."
        )
    return [*lines, "", *([" ".join(said), ""] if said else [])]


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
        "always as many) the share is given that is among as many of the release. Classes are told by the nearest "
        "neighbour, in % of strings that were not released. All these are means over some releases, each of another "
        "half of the set and by another seed, with their standard deviation; numbers of strings and longest runs are "
        "of the first. Below each table stands what is lost of every figure (how far it is from that of the originals) "
        "by the default and by the chain on the same halves, the mean difference with half of its 95 % interval "
        "(Student's t), and how far the other half of the set is from the originals. A difference within its interval "
        "is called equal. Attacks on membership are areas under the curve "
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
        "What is worse than the chain is the price of windows. In families a letter is common at some places and not "
        "at the next ones; a window that is wider than these lets it be followed by what stands beside them, so that "
        "it repeats a little less. A chain, which knows no places, keeps repeats and loses the families. Narrower "
        "windows lose less of this, and tell more shares of each member.",
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
        PAGE.write_text("\n".join([*intro, *summary(kept), *lines]), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
