"""A release of strings in Python: what comes back, what is checked, what is written."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shoal
from shoal.check.strings.folder import read_string_groups
from shoal.data.samples.proteins import protein_families
from shoal.data.strings.strings import Strings
from shoal.errors import DataError, NotVerified, PolicyError
from shoal.kinds.strings import release as string_release
from shoal.kinds.strings.manifest import StringManifest
from shoal.kinds.strings.policy import StringPolicy
from shoal.secrets import PrivateFolder
from shoal.strings import GroupStatistics

pytestmark = pytest.mark.unattacked

POLICY = StringPolicy.of(k=10)


@pytest.fixture(scope="module")
def families() -> Strings:
    return protein_families(120, n_families=2, mean_length=40, unevenness=0.2, seed=5)


@pytest.fixture(scope="module")
def release(families: Strings) -> string_release.StringRelease:
    return shoal.anonymize(families, POLICY, seed=1)


def test_the_kind_that_came_in_comes_back(families: Strings, release: string_release.StringRelease) -> None:
    assert isinstance(release.data, Strings)
    texts = families.texts()
    assert isinstance(shoal.anonymize(texts, POLICY).data[0], str)
    tokens = [list(t) for t in texts]
    found = shoal.anonymize(tokens, POLICY)
    assert all(isinstance(t, list) for t in found.data)
    assert found.strings.source.format == "tokens"
    default = shoal.anonymize(texts)
    assert isinstance(default, shoal.StringRelease)
    assert default.policy.k == 20


def test_everything_that_is_claimed_was_checked(families: Strings, release: string_release.StringRelease) -> None:
    assert [g.model for g in release.guarantees] == [
        "string-condensation",
        "context-support",
        "no-copies",
        "near-copies",
        "rare-symbols",
    ]
    assert all(g.holds for g in release.guarantees)
    assert release.records == {"in": 120, "out": len(release.strings), "suppressed": 120 - len(release.strings)}
    assert sum(release.suppressed.values()) == release.records["suppressed"]
    assert not set(release.strings.texts()) & set(families.texts())
    assert release.strings.classes == families.classes
    assert release.verbatim.published.n_whole == 0


def test_the_bytes_are_what_is_checked(
    families: Strings, monkeypatch: pytest.MonkeyPatch, release: string_release.StringRelease, tmp_path: Path
) -> None:
    """A writer that puts one original in is caught when the release is made, and when it is saved."""
    honest = string_release.write_strings

    def dishonest(strings: Strings, path: Path) -> None:
        rows = np.arange(len(strings))
        texts = [*strings.take(rows[:-1]).texts(), families.texts()[0]]
        assert strings.labels is not None
        labels = [strings.classes[c] for c in strings.labels.tolist()]
        honest(Strings.of(texts, labels, source=strings.source), path)

    monkeypatch.setattr(string_release, "write_strings", dishonest)
    with pytest.raises(NotVerified):
        shoal.anonymize(families, POLICY)
    with pytest.raises(NotVerified):
        replace(release, _file=None).save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
    release.save(tmp_path / "out")  # the bytes that were checked before
    assert shoal.check(tmp_path / "out", families).findings == ()


def test_a_failed_check_publishes_nothing(families: Strings, monkeypatch: pytest.MonkeyPatch) -> None:
    real = string_release.verify_strings

    def doubtful(*given: object) -> object:
        verdict = real(*given)  # type: ignore[arg-type]  # whatever the release gives
        return replace(verdict, guarantees=(replace(verdict.guarantees[0], holds=False), *verdict.guarantees[1:]))

    monkeypatch.setattr(string_release, "verify_strings", doubtful)
    with pytest.raises(NotVerified, match="failed its own check"):
        shoal.anonymize(families, POLICY)


@pytest.mark.parametrize("lengths", ["template", "spread"])
def test_a_folder_checks_with_its_groups(families: Strings, tmp_path: Path, lengths: str) -> None:
    policy = POLICY.changed(generator="template")
    made = shoal.anonymize(families, policy.changed(lengths=lengths))
    made.save(tmp_path / "out", keep=("groups", "statistics"))
    found = shoal.check(tmp_path / "out", families, private=tmp_path / "out")
    assert found.holds, found
    assert found.guarantees[0].achieved == made.guarantees[0].achieved
    again = shoal.check(tmp_path / "out", families, policy, tmp_path / "out" / "private")
    assert again.fails is (lengths == "template")  # the policy says that lengths are spread
    statistics = GroupStatistics.load(tmp_path / "out" / "private" / "statistics.npz")
    assert statistics.n_groups == made.n_groups


def test_strings_of_no_file_with_classes_become_a_table(families: Strings, tmp_path: Path) -> None:
    assert families.labels is not None
    labels = [families.classes[c] for c in families.labels.tolist()]
    for texts in (families.texts(), [list(t) for t in families.texts()]):
        given = Strings.of(texts, labels)
        out = shoal.anonymize(given, POLICY).save(tmp_path / str(given.is_tokens), keep="groups")
        assert (out / "publish" / "data.csv").read_text().startswith("string,class\n")
        assert shoal.check(out, given, private=out).holds


def test_groups_of_another_release_do_not_fit(families: Strings, tmp_path: Path) -> None:
    shoal.anonymize(families, POLICY, seed=1).save(tmp_path / "a", keep="groups")
    shoal.anonymize(families, POLICY.changed(k=20), seed=2).save(tmp_path / "b", keep="groups")
    assert shoal.check(tmp_path / "a", families, private=tmp_path / "b").fails
    evidence = read_string_groups(PrivateFolder(tmp_path / "a" / "private"), families)
    assert evidence.template_lengths is not None
    assert evidence.template_lengths.min() > 0


def test_the_manifest_is_read_as_it_was_written(
    families: Strings, release: string_release.StringRelease, tmp_path: Path
) -> None:
    release.save(tmp_path / "out")
    manifest = StringManifest.read(tmp_path / "out" / "publish")
    assert manifest.policy.require == POLICY.require
    assert manifest.policy.method == POLICY.method.model_copy(update={"rare": 10})
    assert (manifest.source.format, manifest.source.alphabet, manifest.classes) == ("fasta", "protein", True)
    assert manifest.records == release.records
    assert "seed" not in json.loads((tmp_path / "out" / "publish" / "manifest.json").read_text())["method"]
    broken = tmp_path / "out" / "publish" / "manifest.json"
    broken.write_text(broken.read_text().replace('"k": 10', '"k": 1'))
    with pytest.raises(DataError, match="is not the manifest"):
        StringManifest.read(tmp_path / "out" / "publish")


def test_near_copies_are_told() -> None:
    rng = np.random.default_rng(0)
    alike = ["".join(c if rng.random() > 0.01 else "T" for c in "ACGAC" * 20) for _ in range(100)]
    made = shoal.anonymize(alike, StringPolicy.of(k=10))
    assert "near copies" in made.verbatim_sentence or "more than originals share" in made.verbatim_sentence


def test_what_was_suppressed_is_told_by_reason(families: Strings) -> None:
    texts = [*families.texts(), "", "A" * 5000, "?"]
    made = shoal.anonymize([str(t) for t in texts], StringPolicy.of(k=10, eps=1.0))
    assert made.suppressed["empty"] == 1
    assert made.suppressed["rare_symbols"] == 1
    assert made.suppressed["length"] >= 1
    assert made.suppressed_lengths is not None
    assert made.suppressed_lengths[1] == 5000
    assert "1 is empty" in made.suppressed_sentence
    small = Strings.of([*families.texts(), "ACD"], [*("xy"[i % 2] for i in range(120)), "z"])
    assert shoal.anonymize(small, POLICY).suppressed["small_class"] == 1


@pytest.mark.parametrize(
    ("source", "policy", "says"),
    [
        (["ab", "cd"], shoal.Policy(), "the data is strings"),
        ({"a": [1, 2]}, StringPolicy(), "the policy is for strings"),
        (7, StringPolicy(), "the policy is for strings"),
        (["ab"], 3, "the policy is not a Policy"),
        (["ab"], "k=3", "k=3"),
        (["ab"], {"knots": 3}, "knots"),
    ],
)
def test_kinds_that_do_not_fit(source: object, policy: object, says: str) -> None:
    with pytest.raises(PolicyError, match=says):
        shoal.anonymize(source, policy)  # type: ignore[call-overload]  # that is the point


def test_symbols_outside_the_alphabet_are_refused(families: Strings) -> None:
    with pytest.raises(DataError, match="not in the alphabet"):
        shoal.anonymize(families.texts(), StringPolicy.of(k=10, alphabet="dna"))


def test_keeping_is_checked_before_anything_is_written(release: string_release.StringRelease, tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="did you mean 'groups'"):
        release.save(tmp_path / "out", keep="group")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (lambda m: m["method"].update(certified="by nobody"), "'method.certified' is none of a release"),
        (lambda m: m.update(certified="by nobody"), "'certified' is none of a release"),
        (lambda m: m.update(classes="no"), None),
        (lambda m: m.pop("shoal"), None),
    ],
)
def test_an_entry_of_the_manifest_that_nobody_wrote_is_found(
    release: string_release.StringRelease, tmp_path: Path, edit: Any, says: str | None
) -> None:
    release.save(tmp_path / "out", report=False)
    path = tmp_path / "out" / "publish" / "manifest.json"
    content = json.loads(path.read_text())
    edit(content)
    path.write_text(json.dumps(content))
    if says is None:
        with pytest.raises(DataError, match="is not the manifest"):
            shoal.check(tmp_path / "out")
    else:
        assert any(says in finding for finding in shoal.check(tmp_path / "out").findings)


def test_frames_and_records_of_biopython_are_strings() -> None:
    from types import SimpleNamespace

    import pandas as pd

    from shoal.kinds.strings.kind import StringKind

    frame = pd.DataFrame({"id": [1, 2], "read": ["ACGT", "GGA"], "site": ["x", "y"]})
    policy = StringPolicy.of(k=2, column="read", class_column="site")
    made = StringKind().load(frame, policy)
    assert (made.texts(), made.classes) == (["ACGT", "GGA"], ("x", "y"))
    with pytest.raises(DataError, match=r"has no column 'reed'.*'read'"):
        StringKind().load(frame, StringPolicy.of(k=2, column="reed"))
    with pytest.raises(DataError, match="is missing"):
        StringKind().load(pd.DataFrame({"read": ["A", None]}), StringPolicy.of(k=2, column="read"))
    for asked in ({"person": "id"}, {"time": "id"}, {"delimiter": ","}):
        with pytest.raises(PolicyError, match="are read from files"):
            StringKind().load(frame, StringPolicy.of(k=2, column="read", **asked))
    records = [SimpleNamespace(seq="ACGT"), SimpleNamespace(seq="TT")]
    assert StringKind().load(records, StringPolicy.of(k=2)).texts() == ["ACGT", "TT"]


def test_a_string_that_k_hold_is_published() -> None:
    texts = ["abc"] * 25 + ["abd"] * 25
    made = shoal.anonymize(texts, StringPolicy.of(k=20), seed=1)
    assert set(made.data) <= {"abc", "abd"}
    assert len(made.data) == 50


def test_groups_that_are_no_nearer_than_random_ones_are_told() -> None:
    rng = np.random.default_rng(0)
    letters = ["".join(row) for row in rng.choice(list("abcdefghijklmnopqrstuvwxyz"), (400, 20))]
    alike = [t for a in "abcdef" for t in ["".join(rng.permutation(list(a * 4 + "g"))) for _ in range(50)]]
    for texts, is_told in ((letters, True), (alike, False)):
        notes = shoal.anonymize(texts, StringPolicy.of(k=20, copies="allow"), seed=1).notes
        assert any("hardly nearer than random" in str(note) for note in notes) is is_told
