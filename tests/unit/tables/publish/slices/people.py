"""People to be sliced, and what is asked of their slices."""

from __future__ import annotations

from typing import Any

import numpy as np

import shoal

N = 120


def people() -> dict[str, list[Any]]:
    rng = np.random.default_rng(0)
    age = rng.integers(18, 60, N)
    return {
        "age": age.tolist(),
        "town": rng.choice(["ab", "cd", "ef"], N).tolist(),
        "sex": rng.choice(["m", "f"], N).tolist(),
        "pay": (age * 1000 + rng.permutation(N)).tolist(),
        "disease": rng.choice(list("uvwxyz"), N).tolist(),
    }


def asked(publish: str, sensitive: str = "disease", **more: Any) -> shoal.Policy:
    return shoal.Policy.of(
        quasi=["age", "town", "sex"], sensitive=[sensitive], others="identifying", k=5, publish=publish, **more
    )
