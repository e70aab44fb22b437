"""The public datasheet of strings: made from the published strings alone, and the number of strings received."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.data.strings.format import FORMATS
from shoal.report.page import classes_shown, draw_datasheet
from shoal.report.strings import pictures as string_pictures
from shoal.report.strings import words as string_words
from shoal.report.tables.words import percent

if TYPE_CHECKING:
    from shoal.kinds.strings.release import StringRelease

N_SYMBOLS = 30
N_SYMBOLS_NAMED = 20


def render_datasheet(release: StringRelease) -> str:
    """Write the datasheet as one HTML page."""
    strings, policy = release.facts, release.policy
    counts = strings.counts
    order = np.argsort(-counts, kind="stable")[:N_SYMBOLS]
    if any(len(strings.alphabet[i]) > string_pictures.LONGEST_SIGN for i in order.tolist()):
        order = order[:N_SYMBOLS_NAMED]
    symbols = [strings.alphabet[i] for i in order.tolist()]
    shares = (counts[order] / counts.sum()).tolist()
    told = ", ".join(f"{s} {percent(x)}" for s, x in zip(symbols, shares, strict=True))
    source = strings.source
    between = "blanks" if source.delimiter is None else repr(source.delimiter)
    lengths = strings.lengths
    return draw_datasheet(
        "strings_datasheet.html",
        release,
        string_words,
        noun="Pseudo-strings",
        n_groups=release.n_groups,
        k=policy.k,
        copies=policy.method.copies,
        form=FORMATS[source.format].help.format(between=between, column=repr(source.column)),
        is_tokens=strings.is_tokens,
        alphabet=source.alphabet,
        n_symbols=len(strings.alphabet),
        n_unnamed=len(strings.alphabet) - len(symbols),
        composition=string_pictures.composition(symbols, None, shares, f"Shares of the published symbols: {told}."),
        lengths=string_pictures.lengths(None, lengths, "Histogram of the lengths of the published strings."),
        mean_length=float(lengths.mean()),
        n_lengths=len(np.unique(lengths)),
        **classes_shown(strings.labels, strings.classes),
        method=string_words.method(policy),
        uses=string_words.GOOD_USE,
        limits=string_words.limits(policy, strings.labels is not None),
    )
