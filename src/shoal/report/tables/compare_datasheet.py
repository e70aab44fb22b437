"""Does the datasheet of a published folder say what a release with this manifest and this data says?

It is made again from the manifest and the published data, and compared word for word. Pictures are drawn again beside
the original only, for that takes longer; where they are not the same, another version of the library that draws them
may have made them, so they count as not compared.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from pydantic import ValidationError

from shoal._version import __version__
from shoal.check.evidence import group_classes
from shoal.check.tables.classes import classes_of
from shoal.check.tables.parts import ClassSizes
from shoal.check.tables.publication import PublishedRows
from shoal.check.tables.risk import Risk, risk_of
from shoal.data.tables.coded_rows import CodedRows
from shoal.data.tables.slices import SlicesApart, attributes_held
from shoal.errors import ShoalError
from shoal.kinds.tables.manifest import TableManifest
from shoal.manifest import DATASHEET
from shoal.report.tables.context import ReportContext
from shoal.report.tables.datasheet import render_datasheet

PICTURES = f"the pictures of {DATASHEET}"
_PICTURE = re.compile(r"<svg .*?</svg>", re.DOTALL)
_REMOVED = re.compile(r"The (?:identifying column was|([0-9]{1,6}) identifying columns were) removed")
_WRONG = f"{DATASHEET} is not the one that belongs to this manifest and this data"


def compare_datasheet(
    folder: Path, manifest: TableManifest, table: PublishedRows, original: Sequence[str] | None
) -> tuple[list[str], list[str]]:
    """What is wrong with the datasheet, a sentence each, and what of it was not compared, a phrase each.

    Parameters
    ----------
    folder : path
        The `publish/` folder, whose datasheet is a plain file.
    manifest, table
        What stands there too, checked before.
    original : sequence of str, optional
        The columns of the original: tells how many columns were removed; pictures are compared too.
    """
    if manifest.shoal != __version__:
        return [], [f"the words and pictures of {DATASHEET}, which another version than {__version__} wrote"]
    if manifest.layout is not None and original is None:
        return [], [f"the words and pictures of {DATASHEET}, which name columns in the order of the original"]
    try:
        shown = (folder / DATASHEET).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return [_WRONG], []
    removed = _REMOVED.search(shown)
    n_removed = 0 if removed is None else int(removed[1] or 1)
    if original is not None:
        held = attributes_held(manifest.attributes, manifest.layout)
        n_removed = len(set(original) - {*held.values(), manifest.pseudonym})
    try:
        risk = _risk(manifest, table)
        order = () if original is None else original
        context = ReportContext.of_manifest(manifest, risk, n_removed, order)
        if _PICTURE.sub("", shown) != render_datasheet(context, table, is_drawn=False):
            return [_WRONG], []
        is_same = original is not None and render_datasheet(context, table) == shown
    except (KeyError, TypeError, ValueError, ValidationError, ShoalError):
        return [_WRONG], []
    return [], [] if is_same or _PICTURE.search(shown) is None else [PICTURES]


def _risk(manifest: TableManifest, table: PublishedRows) -> Risk | None:
    if manifest.layout is not None or isinstance(table, SlicesApart):
        return None
    k = manifest.k
    if isinstance(table, CodedRows):
        return ClassSizes.of(table, manifest.names("quasi")).risk(k)
    told = next((g for g in manifest.guarantees if g["model"] == "condensation"), None)
    if told is None:
        return risk_of(classes_of(table, manifest.names("quasi"), markers=manifest.missing_markers), k)
    smallest, n_groups = int(told["achieved"]), int(told["n_classes"])
    if not 0 < smallest * n_groups <= table.n_rows:
        raise ValueError
    return risk_of(group_classes(np.repeat(np.arange(n_groups), smallest)), k)
