"""The people of the sweeps."""

from __future__ import annotations

from typing import Any

from shoal.kinds.tables.policy import Policy

SECRET = "Zanzibar77"

N = 40

PEOPLE: dict[str, list[Any]] = {
    "name": [f"person {i}" for i in range(N)],
    "age": [20 + (7 * i) % 50 for i in range(N)],
    "zip": [f"{10000 + 37 * ((5 * i) % 11)}" for i in range(N)],
    "city": [SECRET if i == 20 else ("Ayr", "Bath", "Cork")[i % 3] for i in range(N)],
    "disease": [("flu", "cold", "gout", "ulcer")[(i * i + i // 4) % 4] for i in range(N)],
}

ROLES = Policy.of(quasi=["age", "zip", "city"], sensitive=["disease"], identifying=["name"], k=3)
