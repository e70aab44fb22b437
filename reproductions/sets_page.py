"""The page of the comparison of ways to publish baskets and texts, from what `reproductions.sets` measured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reproductions.string_sets import ROOT
from reproductions.string_tables import fill, table
from shoal.attack.result import AttackResult
from shoal.attack.sparse import SPARSE_ATTACKS

RESULTS = ROOT / "reproductions" / "results" / "sets.json"
PAGE = ROOT / "docs" / "reproductions" / "sets.md"
NAMES = {
    "pseudo": "pseudo-baskets",
    "disassociate": "disassociated",
    "suppress": "suppressed",
    "sketch": "sketches",
}
ADDED, LOST, PAIRS = 0.05, 0.03, 0.20  # what is wanted of pseudo-baskets
Found = dict[str, Any]


def page(found: Found, missing: list[str]) -> str:
    """The page; what was not measured is named."""
    parts = [_about(found, missing), _wanted(found), _supports(found), _kept(found), _classes(found)]
    parts += [_attacks(found), _membership(found)]
    return "\n".join(line for part in parts for line in part)


def _whole(of_set: Found) -> int:
    return int(of_set.get("of", of_set["records"] + of_set["others"]))


def _rows(found: Found) -> Iterator[tuple[str, str, Any]]:
    """Each set, each way to publish it, and what was found."""
    for name, of_set in found.items():
        for way, told in of_set["published"].items():
            if "refused" not in told:
                yield name, way, told


def _percent(share: float | None, digits: int = 1) -> str:
    return "–" if share is None else f"{100 * share:.{digits}f} %"


def _about(found: Found, missing: list[str]) -> Iterator[str]:
    yield "# Baskets and texts, before and after\n"
    sizes = "; ".join(f"{name} {f['records']:,} and {f['others']:,} (of {_whole(f):,})" for name, f in found.items())
    yield fill(
        "Written by `python -m reproductions.sets`; a set is measured by `python -m reproductions.sets NAME`, in less "
        "than ten minutes of processor time. Of each set some records are kept back: classifiers are asked about "
        "3,000 of them, and attacks are compared on them. The rest is published with the defaults: pseudo-baskets (k = "
        "10), disassociated and suppressed records (k = 5, m = 2), and sketches (k = 10, delta = 0.5). Samples are "
        "published in all these ways, and sets of full size as pseudo-baskets alone. Published and "
        f"kept back are, as samples where there are more, of {sizes}. The sets C20 are those of the paper on "
        "sketches, D200K of its size and D20K of a tenth of it; V20.I4 and V20.I6 of the paper on strings are the same "
        "ones, named by their "
        "use: two instances of the same generator, each a class. 20 newsgroups comes out as bags of words."
    )
    yield ""
    yield fill(
        "*Permuted* is what columns score that keep the supports of items and nothing else. Disassociated records are "
        "read as one way they may have been, as the paper has it. Of sketches no item can be read, so that of them "
        "only neighbours, clusters and classes stand here. CPU is that of the release with its check, in seconds."
    )
    yield ""
    if missing:
        yield fill(f"**Not measured yet**: {'; '.join(missing)}.")
        yield ""


def _wanted(found: Found) -> Iterator[str]:
    yield "## What was wanted of pseudo-baskets\n"
    rows = []
    for name, of_set in found.items():
        told = of_set["published"]["pseudo"]
        worst = max((c["before"] - c["after"] for c in told["classes"]), default=None)
        pairs = told["use"]["pairs"]["mean"]
        risks = [AttackResult.from_dict(r) for r in told["attacks"]]
        highest = max(risks, key=lambda r: r.risk.high)
        rows.append(
            (
                name,
                "–" if worst is None else _verdict(f"{100 * worst:.1f}", worst <= LOST),
                _verdict(_percent(pairs, 2), pairs <= PAIRS),
                _verdict(f"{highest.risk} by {highest.attack}", highest.risk.high <= ADDED),
            )
        )
    heads = (
        "set",
        f"most points of accuracy lost, at most {100 * LOST:.0f}",
        f"error of the top 1,000 pairs, at most {100 * PAIRS:.0f} %",
        f"largest risk added, upper end at most {ADDED}",
    )
    yield from table(heads, rows)
    yield fill(
        "A release of which more is lost or added, or may be by the upper end of its own intervals, is amber, with "
        "the reason and what to do. Its own attacks need records held out, without which it is amber too, and try "
        "fewer than here, so that it may be amber where this table says that all is met; `shoal attack` tries as "
        "many. Texts are amber besides as nearest-baskets tells members by an area above 0.55. One-more-item is "
        "above where patterns are shared by few, as in samples, and where few are kept back, so that its interval "
        "is wide. Of texts a word that fewer than k records hold is left out, and one that fewer than `support` of "
        "its class hold, as no pool reaches across classes: the fewer records there are, the more words are such."
    )
    yield ""
    examined = {name: of_set for name, of_set in found.items() if "reasons" in of_set}
    if examined:
        yield from _reasons(examined)
        yield from _settings({name: of_set["reasons"].get("settings", []) for name, of_set in examined.items()})


def _reasons(examined: Found) -> Iterator[str]:
    """What is lost before anything is dealt, and by the pools in which it is dealt."""
    (k, support), *_ = ((of_set["reasons"]["k"], of_set["reasons"]["support"]) for of_set in examined.values())
    yield fill(
        f"What is lost before anything is dealt: originals without the words that fewer than k = {k} records hold, and "
        f"also without those that fewer than {support} of their class hold. What is lost beyond that is lost by the "
        "dealing: which words of a topic stand together in one text. A smaller k or support would keep more, and is a "
        "promise less: the defaults stay. Beside the default stand smaller supports; with 1, which no policy may ask "
        "for, nearly every word stays in its own group. *Freely* is no release and no bound: in the groups of the "
        "default, items are dealt by chance, however many a record then gets, so that none is left out for want of "
        "room; with support 1, within groups alone. What is lost there with support 1 is lost by words that are left "
        "out and by the mixing of k records; what is lost between support 1 and 3, by pools of several groups."
    )
    yield ""
    for name, of_set in examined.items():
        told, published = of_set["reasons"], of_set["published"]["pseudo"]
        by_k, by_both = told["without"]
        pools, freely = told.get("pools", {}), told.get("freely", {})
        rows = [("places left out", "0 %", *(_percent(side["places_left_out"]) for side in (by_k, by_both)))]
        rows[0] += ("–",) * (1 + len(pools) + len(freely))
        learned = [side["classes"] for side in (published, *pools.values())] + list(freely.values())
        for one, both in zip(by_k["classes"], by_both["classes"], strict=True):
            dealt = [next(c for c in side if c["classifier"] == one["classifier"]) for side in learned]
            shares = (one["before"], one["after"], both["after"], *(made["after"] for made in dealt))
            rows.append((one["classifier"], *(f"{100 * share:.1f}" for share in shares)))
        sides = [[AttackResult.from_dict(r) for r in side["attacks"]] for side in (published, *pools.values())]
        added = [next(str(r.risk) for r in side if r.attack == "one-more-item") for side in sides]
        areas = [next(r.details["area_under_curve"] for r in side if r.attack == "nearest-baskets") for side in sides]
        none = ["–"] * len(freely)
        rows.append(("one-more-item, risk added", "–", "–", "–", *added, *none))
        rows.append(("nearest-baskets, area", "–", "–", "–", *(f"{area:.3f}" for area in areas), *none))
        heads = (name, "originals", f"words of {k} records", f"and of {support} of the class", "pseudo-baskets")
        more = (*(f"support {fewer}" for fewer in pools), *(f"freely, support {one}" for one in freely))
        yield from table((*heads, *more), rows)


def _settings(told: dict[str, list[Found]]) -> Iterator[str]:
    """What classifiers lose when they are set otherwise."""
    some = {name: of_set for name, of_set in told.items() if of_set}
    if not some:
        return
    yield fill(
        "What is lost depends on how the classifier is set. As above and set otherwise (nearest neighbours: as many as "
        "the square root of the number of records, three times that, and fewer; logistic regression: C, the weight of "
        "the data against the penalty, 1 by default): who asks few neighbours loses most, as a word of one text stands "
        "in another text of its group or pool. No single pseudo-basket is near an original, and many together are. A "
        "regression that follows single words closely loses as much. *Best* is what each reaches with the setting that "
        "is best for originals, and with the one that is best for pseudo-baskets."
    )
    yield ""
    for name, of_set in some.items():
        rows = [(c["classifier"], f"{100 * c['before']:.1f}", _told(c["before"], c["after"])) for c in of_set]
        for kind in ("nearest neighbours", "logistic regression"):
            alike = [c for c in of_set if kind.rstrip("s") in c["classifier"]]
            before, after = (max(c[side] for c in alike) for side in ("before", "after"))
            rows.append((f"{kind}, best", f"{100 * before:.1f}", _told(before, after)))
        yield from table((name, "originals", "pseudo-baskets"), rows)


def _membership(found: Found) -> Iterator[str]:
    yield fill(
        "Whether a record is in the data, its items being known, by the cosine to the nearest published record: the "
        "area under the curve of members against others (0.5 is guessing), beside what 1 % of false alarms find. "
        "Nothing promises that this stays hidden, and of texts, which have many rare words each, the area says more "
        "than the hits do."
    )
    yield ""
    rows = []
    for name, way, told in _rows(found):
        for r in told["attacks"]:
            if r["attack"] == "nearest-baskets":
                area, error = r["details"]["area_under_curve"], r["details"]["area_error"]
                hits = r["details"]["hits_at_1_percent_false_alarms"]
                rows.append((name, NAMES[way], f"{area:.3f} ± {1.96 * error:.3f}", _percent(hits)))
    yield from table(("set", "published as", "area", "hits at 1 % false alarms"), rows)
    yield ""


def _verdict(text: str, is_met: bool) -> str:
    return f"{text}, met" if is_met else f"{text}, **missed**"


def _supports(found: Found) -> Iterator[str]:
    yield "## Supports, itemsets and rules\n"
    yield fill(
        "An error is the mean of the absolute error as a share of the true support, of the 1,000 most frequent items, "
        "pairs, and triples that hold a frequent pair. *Kept* is the share of these that are among the 1,000 most "
        "frequent ones by what is published; of rules (who has this has that, of the 1,000 most frequent pairs) the "
        "1,000 of largest confidence. Behind them, in brackets, what permuted columns keep."
    )
    yield ""
    heads = ("set", "published as", "items off", "pairs off", "triples off")
    more = ("pairs kept", "triples kept", "rules kept", "confidence off", "records left out", "places left out", "CPU")
    rows = []
    for name, way, told in _rows(found):
        if way == "sketch":
            rows.append((name, NAMES[way], *["–"] * 7, _percent(told["left_out"], 2), "–", f"{told['cpu']:.0f}"))
            continue
        use = told["use"]
        off = [
            "–" if use[of] is None else f"{_percent(use[of]['mean'])} ({_percent(use[of]['permuted'], 0)})"
            for of in ("items", "pairs", "triples")
        ]
        kept = [
            f"{_percent(use[f'{of}_kept'], 0)} ({_percent(use[f'{of}_kept_permuted'], 0)})"
            for of in ("pairs", "triples", "rules")
        ]
        confidence = f"{use['confidence_error']:.3f} ({use['confidence_error_permuted']:.3f})"
        left = (_percent(told["left_out"], 2), _percent(told["places_left_out"]), f"{told['cpu']:.0f}")
        rows.append((name, NAMES[way], *off, *kept, confidence, *left))
    yield from table((*heads, *more), rows)
    yield ""


def _kept(found: Found) -> Iterator[str]:
    yield "## Clusters and neighbours\n"
    yield fill(
        "Ten clusters of 5,000 records, three starts: the mean cosine of an original to the centroid of its cluster, "
        "where clusters were found among originals, and among published records; originals join the nearest centroid, "
        "or, of sketches, the cluster of their own sketch. Random clusters are not at 0, so what counts is the gain "
        "over them. Where permuted columns gain as much, clusters are no test."
    )
    yield ""
    rows = []
    for name, way, told in _rows(found):
        c = told["clusters"]
        if c is None:
            continue
        gain = c["before"] - c["random"]
        by_chance = "–" if "permuted" not in c else _percent((c["permuted"] - c["random"]) / gain, 0)
        near = told.get("neighbours")
        nearest = "–" if near is None else f"{_percent(near['shares']['100'])} ({_percent(near['by_chance']['100'])})"
        cells = [f"{100 * c[of]:.1f}" for of in ("before", "after", "random")]
        rows.append((name, NAMES[way], *cells, _percent((c["after"] - c["random"]) / gain, 0), by_chance, nearest))
    heads = ("set", "published as", "originals", "published", "random", "gain kept", "permuted")
    yield from table((*heads, "ten nearest among the first 100 (by chance)"), rows)
    yield ""


def _classes(found: Found) -> Iterator[str]:
    yield "## Classes told\n"
    yield fill(
        "Of originals that were kept back, by what was learned from originals and from what was published, per cent; "
        "points lost in brackets, above 3 in bold. Naive Bayes is multinomial, with one more of each item. As many "
        "nearest neighbours vote as the square root of the number of records, the nearer the more, by the cosine of "
        "items weighted by how rare they are (tf-idf). Logistic regression has these weights in rows of length 1, and "
        "scikit-learn's default penalty. Of sketches the ones kept back are sketched with the same key, and "
        "naive Bayes (Gaussian) and logistic regression take components as attributes."
    )
    yield ""
    rows = []
    for name, of_set in found.items():
        before = {c["classifier"]: c["before"] for c in of_set["published"]["pseudo"]["classes"]}
        for classifier, share in before.items():
            cells = []
            for way in NAMES:
                told = {c["classifier"]: c for c in of_set["published"].get(way, {}).get("classes", [])}
                after = told.get(classifier, {}).get("after")
                cells.append("–" if after is None else _told(share, after))
            rows.append((name, classifier, f"{100 * share:.1f}", *cells))
    yield from table(("set", "classifier", "originals", *NAMES.values()), rows)
    yield ""


def _told(before: float, after: float) -> str:
    lost = f"{100 * (before - after):.1f}"
    return f"{100 * after:.1f} ({f'**{lost}**' if before - after > LOST else lost})"


def _attacks(found: Found) -> Iterator[str]:
    yield "## Attacks\n"
    yield fill(
        "How often each succeeds on members and on records that were kept back, and the risk added, (members - others) "
        f"/ (1 - others), with its 95 % interval; bold where its upper end is above {ADDED}. Where others make no "
        "sense, guessing stands in their place. Attacks on sketches are run as every release runs them; those that "
        "are granted the key are marked, as the key is not published."
    )
    yield ""
    rows, above = [], []
    for name, way, told in _rows(found):
        for r in map(AttackResult.from_dict, told["attacks"]):
            risk = f"**{r.risk}**" if r.risk.high > ADDED else str(r.risk)
            against = r.control or r.baseline
            mark = ", granted the key" if SPARSE_ATTACKS[r.attack].leaked else ""
            rows.append((name, NAMES[way], r.attack + mark, str(r.main), str(against or "–"), risk))
            above += [f"{name} ({r.attack})"] if way == "pseudo" and r.risk.high > ADDED else []
    yield from table(("set", "published as", "attack", "members", "others", "risk added"), rows)
    yield ""
    if above:
        yield fill(
            f"Of pseudo-baskets the interval reaches above {ADDED} for {', '.join(above)}: amber. One more item "
            "follows from patterns that records share: one of some ten records is told a little better of the members "
            "among them, whatever the groups, and of a set of few records more patterns are such. A larger support "
            "lowers it at the cost of pairs; a larger set does so for nothing."
        )
        yield ""
