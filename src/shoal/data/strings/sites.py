"""Variants of some persons: those that enough of them carry, and those of another set of persons."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from shoal.arrays import Ints
from shoal.data.strings.strings import Strings
from shoal.errors import DataError


def only_carried(strings: Strings, rare: int) -> Strings:
    """The strings without variants of which fewer than `rare` of these persons carry an allele.

    A file is read so that enough persons of it do; some of them may have been held out since. Missing genotypes count
    as in `shoal.data.strings.formats.vcf`. Strings that are no variants stay as they are.

    Raises
    ------
    DataError
        If nothing is left.
    """
    sites = strings.source.sites
    if not sites or not len(strings):
        return strings
    calls = strings.symbols.reshape(len(strings), -1, len(sites))
    alleles = [re.split(r"[|/]", symbol) for symbol in strings.alphabet]
    holds = {a: np.array([a in held for held in alleles]) for a in ("0", "1", ".")}
    has = {a: np.asarray(held[calls].any(axis=1)) for a, held in holds.items()}
    is_kept = np.minimum(has["0"].sum(axis=0), has["1"].sum(axis=0)) >= rare
    if has["."][:, is_kept].any(axis=1).sum() < rare:
        is_kept &= ~has["."].any(axis=0)
    if not is_kept.any():
        raise DataError(
            f"no variant has two alleles that {rare} persons or more carry each, so there is nothing that can be "
            "published; lower k, hold fewer persons out, or give more"
        )
    return strings if is_kept.all() else _columns(strings, np.flatnonzero(is_kept))


def at_sites(strings: Strings, sites: Sequence[str]) -> Strings:
    """The strings at some of their variants, in the order given; identifiers do not matter."""
    if strings.source.sites == tuple(sites):
        return strings
    places = places_of(strings.source.sites, sites)
    if places is None:
        raise DataError("the others lack variants of the release; give genotypes for all of them")
    return _columns(strings, places)


def places_of(known: Sequence[str], sites: Sequence[str]) -> Ints | None:
    """Where some variants stand among others, by place and alleles; None if one does not."""
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
    chromosome, place, _, *alleles = site.split("\t")
    return (chromosome, place, *alleles)
