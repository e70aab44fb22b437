"""Places that have names, variants or columns: those that enough persons carry, and those of another set of persons."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from shoal.arrays import Ints, Mask
from shoal.data.strings.strings import Strings
from shoal.errors import DataError

MISSING = "NA"
"""How a cell of a matrix without a value is read."""


def only_carried(strings: Strings, rare: int) -> Strings:
    """The strings without variants of which fewer than `rare` of these persons carry an allele.

    A file is read so that enough persons of it do; some of them may have been held out since. Missing genotypes count
    as in `shoal.data.strings.formats.vcf`. Of the columns of a matrix two values are held by as many persons each.
    Strings whose places have no names stay as they are.

    Raises
    ------
    DataError
        If nothing is left.
    """
    if not strings.source.sites or not len(strings):
        return strings
    is_matrix = strings.source.format == "matrix"
    is_kept = (_two_values if is_matrix else _two_alleles)(strings, rare)
    if not is_kept.any():
        what = "column has two values" if is_matrix else "variant has two alleles"
        raise DataError(
            f"no {what} that {rare} persons or more {'hold' if is_matrix else 'carry'} each, so there is nothing that "
            "can be published; lower k, hold fewer persons out, or give more"
        )
    if is_kept.all():
        return strings
    made = _columns(strings, np.flatnonzero(is_kept))
    if not is_matrix:
        return made
    # A column that was asked for by its name and left out is not named.
    named = tuple(one for one in made.source.columns if "*" in one or one in made.source.sites)
    notes = (
        *made.source.notes,
        f"{int((~is_kept).sum()):,} of {len(is_kept):,} columns were left out: fewer than {rare} persons hold a "
        "second value there",
    )
    return replace(made, source=replace(made.source, columns=named, notes=notes))


def _two_alleles(strings: Strings, rare: int) -> Mask:
    """Which variants have two alleles that as many persons carry each."""
    calls = strings.symbols.reshape(len(strings), -1, len(strings.source.sites))
    alleles = [re.split(r"[|/]", symbol) for symbol in strings.alphabet]
    holds = {a: np.array([a in held for held in alleles]) for a in ("0", "1", ".")}
    has = {a: np.asarray(held[calls].any(axis=1)) for a, held in holds.items()}
    is_kept = np.minimum(has["0"].sum(axis=0), has["1"].sum(axis=0)) >= rare
    if has["."][:, is_kept].any(axis=1).sum() < rare:
        is_kept &= ~has["."].any(axis=0)
    return np.asarray(is_kept)


def _two_values(strings: Strings, rare: int) -> Mask:
    """Which columns have two values that as many persons hold each; no value is none."""
    n_sites, n_symbols = len(strings.source.sites), len(strings.alphabet)
    place = np.tile(np.arange(n_sites, dtype=np.int64), len(strings))
    holders = np.bincount(place * n_symbols + strings.symbols, minlength=n_sites * n_symbols).reshape(n_sites, -1)
    if MISSING in strings.alphabet:
        holders[:, strings.alphabet.index(MISSING)] = 0
    return np.asarray((holders >= max(rare, 1)).sum(axis=1) >= 2)


def at_sites(strings: Strings, sites: Sequence[str]) -> Strings:
    """The strings at some of their variants or columns, in the order given; identifiers of variants do not matter."""
    if strings.source.sites == tuple(sites):
        return strings
    places = places_of(strings.source.sites, sites)
    if places is None:
        what = (
            "columns of the release; give all"
            if strings.source.format == "matrix"
            else "variants of the release; give genotypes for all"
        )
        raise DataError(f"the others lack {what} of them")
    return _columns(strings, places)


def places_of(known: Sequence[str], sites: Sequence[str]) -> Ints | None:
    """Where some variants stand among others, by place and alleles, or columns by name; None if one does not."""
    at = {_without_identifier(site): i for i, site in enumerate(known)}
    found = [at.get(_without_identifier(site), -1) for site in sites]
    return None if -1 in found else np.array(found, dtype=np.int64)


def _columns(strings: Strings, places: Ints) -> Strings:
    sites = strings.source.sites
    calls = strings.symbols.reshape(len(strings), -1, len(sites))[:, :, places]
    return replace(
        strings,
        symbols=np.ascontiguousarray(calls).ravel(),
        starts=np.arange(len(strings) + 1, dtype=np.int64) * (calls.shape[1] * calls.shape[2]),
        source=replace(strings.source, sites=tuple(sites[i] for i in places.tolist())),
    )


def _without_identifier(site: str) -> tuple[str, ...]:
    parts = site.split("\t")
    return (*parts[:2], *parts[3:])
