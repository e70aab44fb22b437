"""From one answer a target to the rates of a result."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.attack.result import Rate
from shoal.attack.strings.fragments import Fragments


def rates_of(
    fragments: Fragments, succeeds: npt.NDArray[np.bool_], is_tried: npt.NDArray[np.bool_] | None = None
) -> tuple[Rate, Rate | None]:
    """How often it succeeded on members, and on others where there are some."""
    tried = np.ones(len(succeeds), bool) if is_tried is None else is_tried
    members = np.arange(len(succeeds)) < fragments.n_main
    main = Rate(int((succeeds & tried & members).sum()), int((tried & members).sum()))
    if not fragments.n_control:
        return main, None
    return main, Rate(int((succeeds & tried & ~members).sum()), int((tried & ~members).sum()))


def beside(rate: Rate | None) -> str:
    """The control in a sentence."""
    return "" if rate is None or not rate.attempts else f" (of strings that were not in it: {100 * rate.value:.1f} %)"
