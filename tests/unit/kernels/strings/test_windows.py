"""The tests of `kernels/strings/windows.py`: against a slow, obvious twin."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from shoal.kernels.strings.hash import BASES
from shoal.kernels.strings.windows import generate_from_windows
from shoal.strings.windows import bins_of, make_pool
from tests.unit.kernels.strings.test_generate import SlowRandom, flat, some_strings

N_SYMBOLS = 5


def slow_string(
    members: list[list[int]],
    pool: list[list[int]],
    size: int,
    n_bins: int,
    reach: int,
    order: int,
    support: int,
    by_group: bool,
    random: SlowRandom,
) -> list[int]:
    """One pseudo-string, by lists."""
    out: list[int] = []
    for t in range(size):
        at = (2 * t + 1) * n_bins // (2 * size)
        window = [
            (j, u)
            for j, m in enumerate(members)
            for u in range(len(m))
            if abs((2 * u + 1) * n_bins // (2 * len(m)) - at) <= reach
        ]
        window.sort(key=lambda ju: (members[ju[0]][ju[1] - 1] if ju[1] else -1, ju))

        def is_held(symbol: int, window: list[tuple[int, int]] = window) -> bool:
            return len({j for j, u in window if members[j][u] == symbol}) >= support

        picked = None
        for depth in range(min(order - 1, t), 0, -1) if by_group else ():
            found = [(j, u) for j, u in window if u >= depth and members[j][u - depth : u] == out[t - depth :]]
            if len({j for j, _ in found}) >= support:
                j, u = found[int(random.uniform() * len(found))]
                picked = members[j][u] if is_held(members[j][u]) else None
                break
        if picked is None and t > 0 and order > 1:
            after = [(i, u) for i, p in enumerate(pool) for u in range(1, len(p)) if p[u - 1] == out[-1]]
            if after:
                i, u = after[int(random.uniform() * len(after))]
                pair = (out[-1], pool[i][u])
                n_holders = sum(any(p[v : v + 2] == list(pair) for v in range(len(p) - 1)) for p in pool)
                picked = pair[1] if n_holders >= support else None
        if picked is None and by_group:
            j, u = window[int(random.uniform() * len(window))]
            picked = members[j][u] if is_held(members[j][u]) else None
        if picked is None:
            other = pool[int(random.uniform() * len(pool))]
            picked = other[(2 * t + 1) * len(other) // (2 * size)]
        out.append(picked)
    return out


@pytest.mark.parametrize(
    ("order", "support", "by_group"), [(1, 2, True), (2, 1, True), (2, 3, True), (4, 2, True), (2, 2, False)]
)
@pytest.mark.parametrize(("shortest", "longest", "window"), [(9, 9, 0.05), (4, 12, 0.1), (20, 40, 0.05)])
def test_windows_draw_what_the_slow_ones_draw(
    order: int, support: int, by_group: bool, shortest: int, longest: int, window: float
) -> None:
    strings = some_strings(3, 14, shortest, longest, N_SYMBOLS)
    symbols, starts = flat(strings)
    group_starts = np.array([0, 6, 14])
    n_bins, reaches = bins_of(np.diff(starts), group_starts, window)
    pool = make_pool(symbols, starts, N_SYMBOLS, support)
    sizes = np.array([len(s) for s in strings[:6]] + [shortest] * 8)
    out_starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    out, is_kept = np.empty(out_starts[-1], np.int32), np.empty(14, np.bool_)
    state = np.array([11, 99], np.uint64)
    n_rejected = generate_from_windows(
        symbols,
        starts,
        group_starts,
        n_bins,
        reaches,
        order,
        support,
        by_group,
        pool.symbols,
        pool.starts,
        pool.after,
        pool.after_starts,
        pool.pairs,
        1,
        np.zeros(0, np.uint64),
        np.arange(1, N_SYMBOLS + 1).astype(np.uint64),
        BASES[0],
        state,
        out_starts,
        out,
        is_kept,
    )
    assert n_rejected == 0
    assert is_kept.all()
    for group, seed in enumerate((11, 99)):
        random = SlowRandom(seed)
        rows = range(int(group_starts[group]), int(group_starts[group + 1]))
        for row in rows:
            drawn: npt.NDArray[np.int32] = out[out_starts[row] : out_starts[row + 1]]
            expected = slow_string(
                [strings[r] for r in rows],
                strings,
                int(sizes[row]),
                int(n_bins[group]),
                int(reaches[group]),
                order,
                support,
                by_group,
                random,
            )
            assert drawn.tolist() == expected
