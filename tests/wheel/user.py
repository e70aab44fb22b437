"""What a user's own code looks like to a type checker: checked, not run, against the built wheel (`make test-wheel`).

Wrong uses are marked with the error that a checker must give; `warn_unused_ignores` fails where it gives none, as it
would if the package came without its types.
"""

from __future__ import annotations

import shoal

people = {"age": [31, 34, 33], "zip": ["48103", "48104", "48107"], "disease": ["flu", "asthma", "gout"]}
policy: shoal.Policy = shoal.Policy.of(quasi=["age", "zip"], sensitive=["disease"], k=3)
release: shoal.TableRelease = shoal.anonymize(people, policy, seed=1)
smallest: float | None = release.guarantees[0].achieved
held: bool = all(guarantee.holds for guarantee in release.guarantees)
release.save("out", keep=["groups"])

strings: shoal.StringRelease = shoal.anonymize(["ACGT"] * 50, shoal.StringPolicy.of(k=20))
records: shoal.SparseRelease | shoal.BasketRelease | shoal.KMRelease = shoal.anonymize(
    [["milk", "bread"]] * 50, shoal.SparsePolicy.of(k=10)
)
checked: bool = shoal.check("out/publish", people).holds

print(release.no_such_name)  # type: ignore[attr-defined]
shoal.anonymize(people, policy, seed="one")  # type: ignore[call-overload]
