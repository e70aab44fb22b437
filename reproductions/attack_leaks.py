"""Where a method leaks, in plain words, with the numbers of the tables."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from reproductions.attack_findings import Found
from reproductions.string_tables import fill
from shoal.attack.result import AttackResult

LABELS = ("mondrian", "k-member", "nearest-neighbours", "local-recoding")
CLUSTERS = ("k-member", "nearest-neighbours", "local-recoding", "mdav, generalise")
LEFT = "mondrian, hours and capital left as they are"
CAPPED = ("k-variance (default)", "delta = 0.5 alone")
UNCAPPED = "delta = 0.2, no recovery cap"


class Look:
    """Results by data set, method, k and attack."""

    def __init__(self, found: Sequence[Found]) -> None:
        self.found = {(f.data, f.method, f.k): f for f in found}

    def one(self, method: str, k: int | None, attack: str, data: str = "Adult") -> AttackResult:
        """One result, which has to be there."""
        result = self.found[data, method, k].of(attack)
        assert result is not None, (data, method, k, attack)
        return result

    def main(self, method: str, k: int | None, attack: str, data: str = "Adult") -> str:
        """The success on members, in per cent."""
        return _percent(self.one(method, k, attack, data).main.value)

    def others(self, method: str, k: int | None, attack: str, data: str = "Adult") -> str:
        """The success on others."""
        control = self.one(method, k, attack, data).control
        assert control is not None
        return _percent(control.value)

    def detail(self, method: str, k: int | None, attack: str, name: str, data: str = "Adult") -> float:
        """Another figure."""
        return float(self.one(method, k, attack, data).details[name])

    def risks(self, methods: Sequence[str], k: int, attack: str) -> str:
        """The range of risks of several methods."""
        values = [f"{self.one(m, k, attack).risk.value:.2f}" for m in methods]
        low, high = min(values), max(values)
        return low if low == high else f"{low} to {high}"


def leaks(found: Sequence[Found]) -> Iterator[str]:
    """The section."""
    look = Look(found)
    yield "## Where a method leaks"
    yield ""
    yield fill("Written from the numbers below. First what holds for all tables, then what one kind of release does.")
    yield ""
    for line in (*_tables(look), *_slices(look), *_strings(look), *_sketches(look)):
        yield textwrap.fill(f"- {line}", 120, subsequent_indent="  ", break_on_hyphens=False)
    yield ""


def _tables(look: Look) -> Iterator[str]:
    area = "area_under_curve"
    yield (
        "**A label and a secret together single records out, whatever k is.** A group has k records, but often one "
        f"alone of an occupation: {look.main('mondrian', 5, 'singling-out')} of the descriptions that Mondrian's table "
        f"suggests fit exactly one record at k = 5 and {look.main('mondrian', 20, 'singling-out')} at k = 20, against "
        f"{look.others('mondrian', 5, 'singling-out')} and {look.others('mondrian', 20, 'singling-out')} among others. "
        "By quasi-identifiers alone none does. Mondrian's regions do not overlap, so nobody else fits; labels of "
        "clusters "
        f"overlap, and the risk falls with k ({look.risks(CLUSTERS, 5, 'singling-out')} at k = 5, "
        f"{look.risks(CLUSTERS, 20, 'singling-out')} at k = 20). k-anonymity says nothing about a sensitive value that "
        "is known; who fears that gives the column the role quasi, or takes `screen`."
    )
    yield (
        "**Columns that are published as they are undo the groups.** With hours and capital left beside the groups, "
        f"{look.main(LEFT, 5, 'singling-out-univariate')} of the rare single values fit one record "
        f"({look.others(LEFT, 5, 'singling-out-univariate')} among others), at k = 20 as at k = 5, and the area "
        "under the "
        f"curve of membership rises from {look.detail('mondrian', 5, 'membership', area):.2f} to "
        f"{look.detail(LEFT, 5, 'membership', area):.2f}. Remedy: the role quasi, or drop them."
    )
    ends = {name: _percent(_baseline(look.one(name, 5, "label-ends"))) for name in ("mondrian", "local-recoding")}
    yield (
        "**Ends of ranges are rounded, and tell no more than guesses.** Of the claims that a member has the least and "
        f"the greatest value that a range covers, {look.main('mondrian', 5, 'label-ends')} are right for `mondrian` "
        f"and {look.main('local-recoding', 5, 'label-ends')} for `local-recoding` at k = 5, and of values drawn from "
        f"the ranges {ends['mondrian']} and {ends['local-recoding']}; with exact ends all claims "
        "are ([Roles that fail closed](roles.md))."
    )
    listed = _percent(_baseline(look.one("mondrian", 5, "downcoding")))
    yield (
        "**Sets of categories list what occurs in a group**, so every claim about a member of one is right, and "
        f"nothing can be added to guesses among them ({listed} are right for `mondrian`, k = 5). It tells what occurs "
        "in a group, not whose it is. With hierarchies, or one recoding for all, there is nothing to claim."
    )
    yield (
        "**Links are as rare as k allows.** With all quasi-identifiers known, the right record is named for "
        f"{look.main('mondrian', 5, 'linkage')} (k = 5) and {look.main('mondrian', 20, 'linkage')} (k = 20), where k "
        "allows 20 % and 5 %; guessing hits one of all, so the attack counts as a success all the same. One "
        "recoding "
        f"for all leaves {look.main('full-domain', 5, 'linkage')}, at a much higher loss."
    )
    yield (
        "**Secrets are guessed better of members than of others**, by "
        f"{look.risks(LABELS, 5, 'inference-bayes')} of what could still be won at k = 5 and "
        f"{look.risks(LABELS, 20, 'inference-bayes')} at k = 20. l = 3 hardly helps "
        f"({look.one('mondrian, l = 3', 5, 'inference-bayes').risk.value:.2f}): it stops certainty (homogeneity: "
        f"{look.main('mondrian, l = 3', 5, 'homogeneity')}), not good guesses. t = 0.2 does "
        f"({look.one('mondrian, t = 0.2', 5, 'inference-bayes').risk.value:.2f}, skewness "
        f"{look.main('mondrian, t = 0.2', 5, 'skewness')}), as do recodings for all and larger groups."
    )
    yield (
        "**Membership** is near chance where 1 % of false alarms are allowed, in every table of groups (at most "
        f"{look.main(LEFT, 5, 'membership')}). On average members do look a little more like members: an area of "
        f"{look.detail('mondrian', 5, 'membership', area):.2f} at k = 5 and "
        f"{look.detail('mondrian', 20, 'membership', area):.2f} at k = 20."
    )
    yield (
        "**Averages that are whole categories and ages can be somebody's.** Of the averages by `mdav`, "
        f"{look.main('mdav', 5, 'uniqueness')} at k = 5 and {look.main('mdav', 20, 'uniqueness')} at k = 20 fit "
        "exactly "
        f"one record of Adult, of Mondrian's pseudo-records {look.main('mondrian, condense', 5, 'uniqueness')}. "
        "That is "
        "chance, for they stand for groups, but it looks like a disclosure to the one who finds it."
    )
    yield (
        "**Two releases** of the same records tell a secret for certain of "
        f"{look.main('mondrian', 5, 'intersection')} of them at k = 5, where one alone tells "
        f"{_percent(_baseline(look.one('mondrian', 5, 'intersection')))}, and others "
        f"{look.others('mondrian', 5, 'intersection')}; at k = 20 {look.main('mondrian', 20, 'intersection')}."
    )


def _slices(look: Look) -> Iterator[str]:
    yield (
        "**Bucketized and sliced tables show quasi-identifiers as they are**, so "
        f"{look.main('bucketize, l = 3', 5, 'singling-out')} and {look.main('slice, l = 3', 5, 'singling-out')} of the "
        "descriptions fit one record, at k = 20 too. It is what they are for: k is the size of buckets there, and "
        "protects the link to the secret alone. Screening, which publishes regions, "
        f"brings it to {look.main('screen, l = 3', 5, 'singling-out')} "
        f"({look.others('screen, l = 3', 5, 'singling-out')} among others). Do not take the first two where being "
        "in the table is itself to be hidden from those who know the quasi-identifiers (membership: an area of "
        f"{look.detail('bucketize, l = 3', 5, 'membership', 'area_under_curve'):.2f})."
    )
    yield (
        "**The column join** finds no certain secret in any of them; the largest belief is "
        f"{look.detail('bucketize, l = 3', 5, 'column-join', 'largest_belief'):.3f} (bucketize) and "
        f"{look.detail('screen, l = 3', 5, 'column-join', 'largest_belief'):.3f} (screen): distinct l-diversity allows "
        "that, probabilistic does not."
    )


def _strings(look: Look) -> Iterator[str]:
    default, paper, data, area = (
        "condensation, support 3 (default)",
        "condensation, support 1",
        "yeast",
        "area_under_curve",
    )
    yield (
        "**Strings.** No protein is copied, none for a half. A fragment of 12 symbols that one string alone has stands "
        f"in the release for {look.main(paper, 5, 'unique-fragments', data)} (k = 5) and "
        f"{look.main(paper, 20, 'unique-fragments', data)} (k = 20) of the strings with the paper's support of 1 "
        "(others "
        f"{look.others(paper, 5, 'unique-fragments', data)} and "
        f"{look.others(paper, 20, 'unique-fragments', data)}), and "
        f"for {look.main(default, 5, 'unique-fragments', data)} and "
        f"{look.main(default, 20, 'unique-fragments', data)} with "
        "the default of 3. Membership has an area under the curve of "
        f"{look.detail(default, 5, 'membership', area, data):.2f} at k = 5 and "
        f"{look.detail(default, 20, 'membership', area, data):.2f} at k = 20 (support 1: "
        f"{look.detail(paper, 5, 'membership', area, data):.2f} and "
        f"{look.detail(paper, 20, 'membership', area, data):.2f}); at 1 % of false alarms it finds next to nobody."
    )
    again, allowed, alike = (
        "condensation, copies drawn again (default)",
        "condensation, copies allowed",
        "haplotypes",
    )
    yield (
        "**Strings that are much alike tell who is in the data.** Of haplotypes that one person alone has, the area is "
        f"{look.detail(again, 20, 'holes', area, alike):.2f} at k = 20 and "
        f"{look.detail(again, 5, 'holes', area, alike):.2f} at k = 5 for who takes a string that is missing among near "
        f"ones for a member ({look.main(again, 20, 'holes', alike)} and {look.main(again, 5, 'holes', alike)} found at "
        "1 % of false alarms). With copies allowed it is "
        f"{look.detail(allowed, 20, 'echoes', area, alike):.2f} and "
        f"{look.detail(allowed, 5, 'echoes', area, alike):.2f} for who takes a string that stands there for a member "
        f"({look.main(allowed, 20, 'echoes', alike)} and {look.main(allowed, 5, 'echoes', alike)}), but "
        f"{_percent(look.detail(allowed, 20, 'echoes', 'members_verbatim', alike))} and "
        f"{_percent(look.detail(allowed, 5, 'echoes', 'members_verbatim', alike))} of these members' strings are "
        "published as they are. Larger groups help against both."
    )


def _sketches(look: Look) -> Iterator[str]:
    baskets, texts = "T10I4D100K", "20 newsgroups"
    kept = CAPPED[0]
    yield (
        "**Whole records are not recovered from sketches, even with the key, as long as the recovery cap is on**: "
        f"{look.main(kept, 5, 'recovery-programme', baskets)} of the baskets, and none of the "
        f"{look.one(kept, 5, 'recovery-programme', texts).main.attempts} texts that were tried before the time "
        "was over "
        "(how many that are depends on the machine). Without it, at delta = 0.2, linear programming gives "
        f"{look.main(UNCAPPED, None, 'recovery-programme', baskets)} of the baskets back, and "
        f"{look.one(UNCAPPED, None, 'recovery-programme', texts).main.successes:.0f} of "
        f"{look.one(UNCAPPED, None, 'recovery-programme', texts).main.attempts} texts. Leave it on."
    )
    yield (
        "**The number of components tells the length.** Of the baskets it gives the squared length to 10 % for "
        f"{look.main(kept, 5, 'length', baskets)}, where naming the median gives "
        f"{_percent(_baseline(look.one(kept, 5, 'length', baskets)))} and the components themselves "
        f"{_percent(look.detail(kept, 5, 'length', 'within_by_mean_square', baskets))}; of the texts "
        f"{look.main(kept, 5, 'length', texts)} against "
        f"{_percent(_baseline(look.one(kept, 5, 'length', texts)))}. No key "
        "is needed. And every component has the parity of the sum of a whole-numbered record."
    )
    yield (
        "**With a leaked key records are found.** Who knows half of the items ranks the right sketch first for "
        f"{look.main(kept, 5, 'neighbour-linkage', baskets)} of the baskets "
        f"({look.main(kept, 20, 'neighbour-linkage', baskets)} at k = 20, "
        f"{look.main(CAPPED[1], None, 'neighbour-linkage', baskets)} without k-variance, "
        f"{look.main(UNCAPPED, None, 'neighbour-linkage', baskets)} without cap) but for "
        f"{look.main(kept, 5, 'neighbour-linkage', texts)} and {look.main(kept, 20, 'neighbour-linkage', texts)} "
        "of the "
        "texts, whose sketches are longer. Membership is then plain "
        f"({look.main(kept, 5, 'membership', baskets)} and {look.main(kept, 5, 'membership', texts)}); without "
        "the key it "
        f"is blind (areas {look.detail(kept, 5, 'membership', 'area_under_curve_without_key', baskets):.2f} and "
        f"{look.detail(kept, 5, 'membership', 'area_under_curve_without_key', texts):.2f}). So the key is what "
        "protects "
        "here, and it is best destroyed."
    )
    yield (
        "**With a leaked key single items are named.** delta bounds the variance of the usual estimate of an item, "
        "which names one that is there for "
        f"{_percent(look.detail(kept, 5, 'linear-estimate', 'named_usual', baskets))} of the baskets; the "
        "linear estimate of least mean square error, which knows how popular items are, does for "
        f"{look.main(kept, 5, 'linear-estimate', baskets)} "
        f"({look.main(UNCAPPED, None, 'linear-estimate', baskets)} without cap), on held-out records for "
        f"{look.others(kept, 5, 'linear-estimate', baskets)}, and naming the most popular item for "
        f"{_percent(_baseline(look.one(kept, 5, 'linear-estimate', baskets)))}; of the texts "
        f"{look.main(kept, 5, 'linear-estimate', texts)} against "
        f"{_percent(_baseline(look.one(kept, 5, 'linear-estimate', texts)))}. With 200 known pairs in place of the key "
        f"it is {_percent(look.detail(kept, 5, 'linear-estimate', 'named_with_known_pairs_and_no_key', baskets))} and "
        f"{_percent(look.detail(kept, 5, 'linear-estimate', 'named_with_known_pairs_and_no_key', texts))}."
    )
    yield (
        "**Known pairs break the key of small sets of items.** From records that are known with their sketches "
        f"{look.main(kept, 5, 'known-pairs', baskets)} of the signs of the baskets' items are learned (chance is "
        "half), "
        f"but {look.main(kept, 5, 'known-pairs', texts)} of those of the texts, which have far more items than pairs. "
        "Under the cap nothing is recovered with them, but other records can be looked up. Hence a new key for "
        "every release."
    )


def _baseline(result: AttackResult) -> float:
    assert result.baseline is not None
    return result.baseline.value


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
