"""Single steps of the check of sliced tables: what a table guarantees, and whether it is a slicing of the original."""

from __future__ import annotations

from shoal.check.slices.compare import SliceRecords, compare_records, malformed
from shoal.check.slices.matching import Finder
from shoal.check.slices.sliced import sliced_of
from shoal.check.slices.verify import Judge
from shoal.data.tables.table import MARKERS
from shoal.errors import NotVerified


def verify_slices(published, require, *, original=None, missing="value", form, jointly=False, rows=None):
    """The guarantees of a table, and nothing else: what cannot be decided without the original is left out.

    What only suppressed records may have broken counts as broken.
    """
    sliced, attributes = sliced_of(published, MARKERS), published.attributes
    wrong, finder = malformed(sliced, attributes, form), None
    if original is not None:
        finder = Finder(sliced, original, attributes, missing, MARKERS, as_values=form != "screen")
        wrong += finder.findings if finder.n_unreadable else []
    if wrong:
        raise NotVerified(f"the sliced table cannot be checked: {wrong[0]}")
    judge = Judge(sliced, attributes, form, missing, MARKERS, jointly)
    return tuple(g for g, _ in judge.all(require, finder, rows) if g is not None)


def compare_slices(published, original, *, form, missing="value", rows=None, buckets=None):
    """What shows that a published table is not a slicing of the original."""
    sliced, attributes = sliced_of(published, MARKERS), published.attributes
    wrong = malformed(sliced, attributes, form)
    if wrong:
        return wrong
    finder = Finder(sliced, original, attributes, missing, MARKERS, as_values=form != "screen")
    return finder.findings + compare_records(SliceRecords(finder, original, attributes, MARKERS, form), rows, buckets)
