"""The tests of `check/strings/folder.py`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import shoal
from shoal.check.strings.near import near_originals
from shoal.data.samples.haplotypes import haplotypes
from shoal.data.samples.proteins import protein_families
from shoal.data.strings.strings import Strings
from shoal.kinds.strings.manifest import StringManifest
from shoal.kinds.strings.policy import StringPolicy
from shoal.manifest import checksum

pytestmark = pytest.mark.unattacked


def codes(n: int, *, length: int, letters: str, seed: int) -> Strings:
    """Short strings of few letters: of little variety though they are not related."""
    rng = np.random.default_rng(seed)
    return Strings.of(["".join(rng.choice(list(letters), rng.integers(2, length + 1))) for _ in range(n)])


def sessions(n: int, seed: int) -> Strings:
    """Pages of visits, most of them few."""
    rng = np.random.default_rng(seed)
    pages = [f"page{i}" for i in range(12)]
    return Strings.of([[pages[min(int(rng.exponential(2)), 11)] for _ in range(rng.integers(1, 6))] for _ in range(n)])


VARIED: dict[str, Callable[[], Strings]] = {
    "proteins": lambda: protein_families(200, n_families=2, mean_length=60, seed=1),
    "short proteins": lambda: protein_families(200, n_families=1, mean_length=12, substitution=0.1, seed=2),
    "haplotypes": lambda: haplotypes(300, seed=3),
    "haplotypes of more variety": lambda: haplotypes(300, mutations=1.5, seed=4),
    "few places": lambda: haplotypes(200, n_places=8, seed=5),
    "two letters": lambda: codes(200, length=8, letters="ab", seed=6),
    "four letters": lambda: codes(200, length=12, letters="acgt", seed=7),
    "sessions": lambda: sessions(300, 8),
}


def edited(out: Path, change: Callable[[list[str]], None]) -> None:
    """Change the published strings and mend the checksum, as one would who wants to hide it."""
    folder = out / "publish"
    manifest = folder / "manifest.json"
    content = json.loads(manifest.read_text())
    data = folder / content["data"]
    lines = data.read_text().splitlines()
    change(lines)
    data.write_text("\n".join(lines) + "\n")
    content["checksums"][content["data"]] = checksum(data)
    manifest.write_text(json.dumps(content))


@pytest.mark.parametrize(("copies", "k"), [("redraw", 5), ("redraw", 20), ("allow", 20)])
@pytest.mark.parametrize("name", VARIED)
def test_an_honest_release_raises_no_alarm(tmp_path: Path, name: str, copies: str, k: int) -> None:
    original = VARIED[name]()
    made = shoal.anonymize(original, StringPolicy.of(k=k, copies=copies, suppression=1), seed=k)
    made.save(tmp_path / "out", keep="groups")
    n_near = int(near_originals(made.strings, original, k, k).sum())
    stated = StringManifest.read(tmp_path / "out" / "publish").near_copies
    if copies == "redraw":
        assert stated == n_near
        assert n_near == 0 or n_near >= k
        held = Counter(map(tuple, original.texts()))
        assert not [text for text in map(tuple, made.strings.texts()) if 0 < held[text] < k]
    else:
        assert stated == max(n_near, k - 1)
        assert made.suppressed.get("copies", 0) == made.n_rejected == 0
    for private in (None, tmp_path / "out"):
        found = shoal.check(tmp_path / "out", original, private=private)
        assert not found.fails, found
        assert ("no-copies" in {g.model for g in found.guarantees}) is (copies == "redraw")
    assert found.holds


@pytest.mark.parametrize("how", ["changed", "put in", "left out", "whole"])
@pytest.mark.parametrize("copies", ["redraw", "allow"])
def test_ten_planted_strings_of_two_hundred_are_caught(tmp_path: Path, how: str, copies: str) -> None:
    original = protein_families(200, n_families=2, mean_length=60, seed=1)
    original = Strings.of(original.texts())
    out = shoal.anonymize(original, StringPolicy.of(k=10, copies=copies), seed=1).save(tmp_path / "out", keep="groups")
    texts = original.texts()

    def plant(lines: list[str]) -> None:
        for i in range(10):
            text, place = texts[11 * i], 3 + i
            letter = "W" if text[place] != "W" else "C"  # which few strings have after the same letter
            lines[2 * i] = {
                "changed": text[:place] + letter + text[place + 1 :],
                "put in": text[:place] + letter + text[place:],
                "left out": text[:place] + text[place + 1 :],
                "whole": text,
            }[how]

    assert not shoal.check(out, original).fails
    edited(out, plant)
    found = shoal.check(out, original)
    assert found.fails
    assert "near-copies" in {g.model for g in found.guarantees if not g.holds}
    with_groups = shoal.check(out, original, private=out)
    # Of a group that holds them, originals could have been drawn.
    impossible = set() if how == "whole" else {"string-condensation"}
    assert {"near-copies"} | impossible <= {g.model for g in with_groups.guarantees if not g.holds}


def test_a_string_of_another_group_is_caught(tmp_path: Path) -> None:
    """Two kinds of strings that share no column; one of each changes places."""
    rng = np.random.default_rng(3)
    texts = [
        "".join(rng.choice(list(side), p=[0.98, 0.02]) for _ in range(30)) for side in ("AC", "GT") for _ in range(60)
    ]
    out = shoal.anonymize(texts, StringPolicy.of(k=20), seed=1).save(tmp_path / "out", keep="groups")
    assert shoal.check(out, texts, private=out).holds

    def swap(lines: list[str]) -> None:
        one, two = (next(i for i, line in enumerate(lines) if line[0] in side) for side in ("AC", "GT"))
        lines[one], lines[two] = lines[two], lines[one]

    edited(out, swap)
    found = shoal.check(out, texts, private=out)
    assert "string-condensation" in {g.model for g in found.guarantees if not g.holds}


def test_near_copies_planted_among_haplotypes_are_caught(tmp_path: Path) -> None:
    """Where most strings are near copies anyway, more of them than were counted are still too many."""
    original = haplotypes(200, mutations=1.5, seed=2)
    out = shoal.anonymize(original, StringPolicy.of(k=10), seed=1).save(tmp_path / "out")
    stated = StringManifest.read(out / "publish").near_copies
    assert stated is not None
    assert stated >= 10

    def plant(lines: list[str]) -> None:
        is_near = near_originals(Strings.of(lines), original, 10, 10)
        for i, row in enumerate(np.flatnonzero(~is_near)[:10].tolist()):
            text = original.texts()[i]
            lines[row] = text[:50] + ("A" if text[50] == "G" else "G") + text[51:]

    edited(out, plant)
    found = shoal.check(out, original)
    assert found.fails
    near = next(g for g in found.guarantees if g.model == "near-copies")
    assert (near.holds, near.achieved) == (False, stated + 10)


def test_a_string_of_another_group_is_caught_with_the_groups(tmp_path: Path) -> None:
    original = Strings.of(protein_families(200, n_families=4, mean_length=60, seed=1).texts())
    made = shoal.anonymize(original, StringPolicy.of(k=10, generator="template"), seed=1)
    out = made.save(tmp_path / "out", keep="groups")
    groups = [int(line.split(",")[1]) for line in (out / "private" / "published-groups.csv").read_text().split()[1:]]
    other = next(i for i, g in enumerate(groups) if g != groups[0] and len(made.strings.texts()[i]) >= 55)

    def swap(lines: list[str]) -> None:
        lines[0], lines[other] = lines[other], lines[0]

    edited(out, swap)
    assert not shoal.check(out, original).fails
    found = shoal.check(out, original, private=out)
    assert "string-condensation" in {g.model for g in found.guarantees if not g.holds}


def test_a_policy_that_forbids_copies_finds_those_of_a_release_that_allows_them(tmp_path: Path) -> None:
    original = haplotypes(300, seed=3)
    out = shoal.anonymize(original, StringPolicy.of(k=20, copies="allow"), seed=1).save(tmp_path / "out")
    assert not shoal.check(out, original).fails
    found = shoal.check(out, original, StringPolicy.of(k=20))
    assert "no-copies" in {g.model for g in found.guarantees if not g.holds}


def test_a_manifest_that_states_no_number_is_not_taken_on_trust(tmp_path: Path) -> None:
    original = haplotypes(300, seed=3)
    out = shoal.anonymize(original, StringPolicy.of(k=20), seed=1).save(tmp_path / "out", keep="groups")
    path = out / "publish" / "manifest.json"
    content = json.loads(path.read_text())
    del content["near_copies"], content["method"]["copies"]  # as earlier versions wrote it
    content["guarantees"] = [g for g in content["guarantees"] if g["model"] != "near-copies"]
    content["shoal"] = "0.1.0"
    path.write_text(json.dumps(content))
    found = shoal.check(out, original, private=out)
    assert not found.fails
    assert not found.holds
    assert "does not say how many" in found.unverified[-1]
    for wrong in (-1, True, "3", 1.5):
        path.write_text(json.dumps(content | {"near_copies": wrong}))
        with pytest.raises(shoal.DataError):
            shoal.check(out, original)
