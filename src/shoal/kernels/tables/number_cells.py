"""Numbers out of the bytes of CSV, for those that are written in digits; the others are for a slower reader."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Bytes, Floats, Ints
from shoal.kernels.compile import compiled

MOST_DIGITS = 15  # so many make a whole number that a float holds, and the power of ten is one too


@compiled
def read_digits(text: Bytes, begins: Ints, ends: Ints, values: Floats) -> bool:
    """Fill in the numbers that stand at these places; False if one is not written as ``-12.5`` is.

    A whole number below 10**15 over a power of ten below 10**23 is one division of two floats that are exact, so that
    it is the very float that Python reads.
    """
    for i in range(len(begins)):
        at, end = begins[i], ends[i]
        is_negative = at < end and text[at] == 45
        if is_negative:
            at += 1
        whole, n_digits, n_behind = np.int64(0), 0, -1
        for place in range(at, end):
            code = text[place]
            if 48 <= code <= 57:
                whole = whole * 10 + (code - 48)
                n_digits += 1
                if n_behind >= 0:
                    n_behind += 1
            elif code == 46 and n_behind < 0 and n_digits > 0:
                n_behind = 0
            else:
                return False
            if n_digits > MOST_DIGITS:
                return False
        if n_digits == 0 or n_behind == 0:
            return False
        value = float(whole)
        if n_behind > 0:
            power = 1.0
            for _ in range(n_behind):
                power *= 10.0
            value /= power
        values[i] = -value if is_negative else value
    return True
