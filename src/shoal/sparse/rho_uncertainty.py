"""rho-uncertainty by suppression: no few items that are known of a person tell a sensitive one.

A rule "who has these items has that sensitive one" of a confidence above rho is broken by leaving one of its items out
of all records of the class: the one that breaks most such rules for each record that holds it, until there is no rule.
Other rules and their confidences stay as they are, so one count is enough (SuppressControl).

**Guarantee**: of the published records that hold any combination of up to m items, none at all included, at most the
share rho holds another item that is sensitive, whichever. **Not protected**: who knows more than m items, where the
paper bounds the confidence of rules of any length; who knows the method learns from a missing item that some rule with
it was above rho; sensitive items that were left out are in the data nonetheless.

References
----------
J. Cao, P. Karras, C. Raissi, K.-L. Tan, "rho-uncertainty: inference-proof transaction anonymization", PVLDB 3(1), 2010,
section 4.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Ints, Mask
from shoal.data.sparse.records import Sparse
from shoal.sparse.combinations import Coded, coded

_SLACK = 1e-9


def without_rules(records: Sparse, rho: float, m: int, sensitive: Mask, *, owners: Ints | None = None) -> Ints:
    """Which entries of records can be published, so that no rule to a sensitive item has a confidence above rho.

    Parameters
    ----------
    sensitive : bool array (n_items,)
        Which items are.
    """
    made = coded(records, 1, owners)
    is_sensitive = sensitive[made.keys % len(sensitive)]
    class_of = made.keys // len(sensitive)
    while True:
        listed = [_rules(made, rho, size, is_sensitive) for size in range(1, m + 1)]
        rules = np.concatenate([_common(made, rho, is_sensitive, class_of), *listed])
        if not len(rules):
            return made.entries
        # Once more after that: records of nothing are not published, so that shares of all records grow.
        made = made.kept(~_hitting(rules, made.supports())[made.items])


def _hitting(rules: Ints, supports: Ints) -> Mask:
    """Items such that every rule has one of them, chosen by how many rules they are in for each record."""
    out = np.zeros(len(supports), np.bool_)
    while len(rules):
        hits = np.bincount(rules[rules >= 0], minlength=len(supports))
        worst = int(np.argmax(hits / np.maximum(supports, 1)))
        out[worst] = True
        rules = rules[~(rules == worst).any(axis=1)]
    return out


def _is_above(held: Ints, of: Ints, rho: float) -> Mask:
    return np.asarray(held > np.floor(rho * of + _SLACK))


def _common(made: Coded, rho: float, sensitive: Mask, class_of: Ints) -> Ints:
    """Sensitive items that more than the share rho of all records of their class hold."""
    filled = np.flatnonzero(np.diff(made.starts) > 0)
    classes = class_of[made.items[made.starts[:-1][filled]]]  # all items of a record are of its class
    owned = np.unique(np.stack([classes, made.owners[filled]]), axis=1)
    totals = np.bincount(owned[0], minlength=int(class_of.max(initial=0)) + 1)
    items = np.flatnonzero(sensitive & _is_above(made.supports(), totals[class_of], rho))
    rules = np.full((len(items), 4), -1, np.int64)
    rules[:, 0] = items
    return rules


def _rules(made: Coded, rho: float, size: int, sensitive: Mask) -> Ints:
    """The items of each rule of a confidence above rho from so many items to a sensitive one; -1 fills a row up."""
    found = [np.zeros((0, 4), np.int64)]
    keys, counts, _ = made.counted(size)
    rows_of = np.repeat(np.arange(len(made.rows)), np.diff(made.starts))
    for item in np.flatnonzero(sensitive).tolist():
        holds = np.zeros(len(made.rows), np.bool_)
        holds[rows_of[made.items == item]] = True
        those, held, _ = made.kept(holds[rows_of] & (made.items != item)).counted(size)
        those = those[_is_above(held, counts[np.searchsorted(keys, those)], rho)]
        rules = np.full((len(those), 4), -1, np.int64)
        rules[:, 0] = item
        for place in range(size):
            those, rules[:, place + 1] = np.divmod(those, made.n_items)
        found.append(rules)
    return np.concatenate(found)
