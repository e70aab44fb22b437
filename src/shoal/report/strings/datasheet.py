"""The public datasheet of strings: made from the published strings alone, and the number of strings received."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.data.strings.format import FORMATS
from shoal.report.page import judged, render
from shoal.report.points import public_points
from shoal.report.strings import pictures as string_pictures
from shoal.report.strings import words as string_words
from shoal.report.tables.words import percent

if TYPE_CHECKING:
    from shoal.kinds.strings.release import StringRelease

N_CLASSES = 40
N_SYMBOLS = 30
N_SYMBOLS_NAMED = 20


def render_datasheet(release: StringRelease) -> str:
    """Write the datasheet as one HTML page."""
    strings, policy = release.strings, release.policy
    counts = np.bincount(strings.symbols, minlength=len(strings.alphabet))
    order = np.argsort(-counts, kind="stable")[:N_SYMBOLS]
    if any(len(strings.alphabet[i]) > string_pictures.LONGEST_SIGN for i in order.tolist()):
        order = order[:N_SYMBOLS_NAMED]
    symbols = [strings.alphabet[i] for i in order.tolist()]
    shares = (counts[order] / counts.sum()).tolist()
    told = ", ".join(f"{s} {percent(x)}" for s, x in zip(symbols, shares, strict=True))
    classes = []
    if strings.labels is not None:
        sizes = np.bincount(strings.labels, minlength=len(strings.classes)).tolist()
        classes = sorted(zip(strings.classes, sizes, strict=True), key=lambda c: (-c[1], c[0]))
    source = strings.source
    between = "blanks" if source.delimiter is None else repr(source.delimiter)
    lengths = strings.lengths
    records, reasons = release.told_counts
    return render(
        "strings_datasheet.html",
        about=public_points(release.policy.context.public()),
        noun="Pseudo-strings",
        records=records,
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
        classes=classes[:N_CLASSES],
        n_more_classes=max(len(classes) - N_CLASSES, 0),
        guarantees=judged(release.guarantees, string_words.short_name, string_words.required, string_words.achieved),
        models=string_words.MODELS,
        suppressed=[(string_words.REASONS[name], n) for name, n in reasons.items()],
        method=string_words.method(policy),
        uses=string_words.GOOD_USE,
        misuses=string_words.MISUSE,
        limits=string_words.limits(policy, strings.labels is not None),
    )
