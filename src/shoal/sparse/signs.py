"""The random signs of sketches: a secret key, an item's name and a component's number give +1 or -1.

Every 32 components have a cubic polynomial over the integers modulo p = 2^61 - 1 with coefficients from the key; the
low bits of its value at the hashed item, masked by another hash under the key, are the signs. So they are 4-wise
independent over items whose hashes differ, within and between components, and an item has the same sign wherever and
whenever it occurs, without a list of all items.

The marginal of a sign is (p + 1) / 2p rather than one half, a bias of 2^-62, since p is odd. Without the mask, who
learns the signs of some ten items in 32 components could solve for the polynomial, and so for all items.

**Not protected**: whoever holds the key can estimate attributes. It never belongs into a release.

References
----------
C. C. Aggarwal, P. S. Yu, "On privacy-preservation of text and sparse binary data with sketches", SDM 2007, Eq. (2.1).
N. Alon, Y. Matias, M. Szegedy, "The space complexity of approximating the frequency moments", STOC 1996.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from shoal.arrays import Signs, Words
from shoal.engine.threads import Threads
from shoal.errors import PolicyError
from shoal.kernels.sparse.signs import BITS, EACH, fill_signs

KEY_BYTES = 32
_PRIME = 2**61 - 1
_WORTH_THREADS = 1 << 18


def new_key(seed: int | np.random.SeedSequence | None = None) -> bytes:
    """A key of 32 bytes: from the operating system's entropy, or, so that a run can be repeated, from a seed.

    A key from a seed is as secret as the seed. Take a new one for every release: whoever knows some of the records
    behind the sketches learns about the key from them.

    Examples
    --------
    >>> len(new_key()), new_key(7) == new_key(7)
    (32, True)
    """
    if seed is None:
        return secrets.token_bytes(KEY_BYTES)
    if not isinstance(seed, np.random.SeedSequence):
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
            raise PolicyError("the seed is not a whole number from 0 on; give one, or none")
        seed = np.random.SeedSequence(int(seed))
    return seed.generate_state(KEY_BYTES // 4, np.uint32).astype("<u4").tobytes()


def refuse_key(key: object) -> None:
    """Raise unless the key is one that `new_key` could have made."""
    if not isinstance(key, bytes) or len(key) != KEY_BYTES:
        raise PolicyError(f"the sketch key is not {KEY_BYTES} bytes; make one with shoal.sparse.new_key()")


@dataclass(frozen=True)
class SignFamily:
    """The signs of some components, from number `first` on.

    Attributes
    ----------
    numbers, coefficients : uint64 arrays (n_polynomials,), (n_polynomials, 4)
        The polynomials, ascending by power.
    secret : uint64 array (2,)
        Of the masks.
    skipped, n : int
        How many signs of the first polynomial are left out, and how many there are then.
    """

    numbers: Words = field(repr=False)
    coefficients: Words = field(repr=False)
    secret: Words = field(repr=False)
    skipped: int
    n: int

    @classmethod
    def of(cls, key: bytes, n: int, first: int = 0) -> SignFamily:
        """Draw them by the key."""
        refuse_key(key)
        numbers = np.arange(first // EACH, -(-(first + n) // EACH), dtype=np.uint64)
        rows = []
        for j in numbers.tolist():
            digest = hashlib.blake2b(j.to_bytes(8, "little"), digest_size=64, key=key, person=b"shoal-signs").digest()
            # 128 bits modulo a number of 61: the coefficients are uniform up to 2^-67.
            rows.append([int.from_bytes(digest[16 * i : 16 * i + 16], "little") % _PRIME for i in range(4)])
        secret = hashlib.blake2b(b"", digest_size=16, key=key, person=b"shoal-masks").digest()
        coefficients = np.array(rows, np.uint64).reshape(len(numbers), 4)
        return cls(numbers, coefficients, np.frombuffer(secret, "<u8").astype(np.uint64), first % EACH, n)

    def fill(self, item_keys: Words, out: Signs) -> None:
        """Write the signs of items: (n_items, n), an item's side by side."""
        fill_signs(item_keys, self.numbers, self.coefficients, self.secret, BITS, EACH, self.skipped, out)


def sign_table(item_keys: Words, key: bytes, n: int, first: int = 0) -> Signs:
    """The signs of n components, from number `first` on, for each item: (n_items, n), an item's signs side by side.

    Parameters
    ----------
    item_keys : uint64 array (n_items,)
        The hashes of the items' names: `Sparse.item_keys`.
    key : bytes
        32 secret bytes: `new_key`.
    n : int
        How many components.
    first : int, default 0
        The number of the first one.

    Examples
    --------
    >>> from shoal.data.strings.strings import symbol_keys
    >>> sign_table(symbol_keys(["bread", "milk"]), bytes(32), 4).shape
    (2, 4)
    """
    out = np.empty((len(item_keys), n), np.int8)
    keys, family = np.ascontiguousarray(item_keys, np.uint64), SignFamily.of(key, n, first)
    n_parts = (os.cpu_count() or 1) if out.size >= _WORTH_THREADS else 1
    bounds = [len(keys) * i // n_parts for i in range(n_parts + 1)]
    with Threads(n_parts, thread_name_prefix="shoal") as threads:
        jobs = [threads.submit(family.fill, keys[begin:end], out[begin:end]) for begin, end in pairwise(bounds)]
        for job in jobs:
            job.result()
    return out
