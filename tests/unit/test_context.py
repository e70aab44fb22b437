"""What is said of a release besides its data: printed as it is given, and public only where it may be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import shoal
from shoal.context import PUBLIC, TITLES, Context
from shoal.errors import DataError, PolicyError
from shoal.kind import kinds
from shoal.manifest import Manifest

pytestmark = pytest.mark.unattacked

GIVEN = {
    "title": "Town <b>",
    "source": "a register",
    "purpose": "research",
    "recipients": "the university",
    "release_model": "safe setting",
    "contact": "data@example.org",
    "licence": "CC-BY-4.0",
    "date": "2025-01-31",
    "review": "2027-01-31",
    "population": 98_765,
    "sampling_fraction": 0.0125,
    "harms": "stigma",
    "acceptable_risk": 0.2,
}
PEOPLE = {"age": [31, 32, 33, 47, 48, 49], "disease": ["flu", "cold", "flu", "flu", "cold", "ulcer"]}


def release(**context: object) -> shoal.TableRelease:
    policy = shoal.Policy.of(quasi=["age"], sensitive=["disease"], k=3, l=2, context=context)
    return shoal.anonymize(PEOPLE, policy, seed=1)


def test_every_key_has_a_heading_and_is_public_or_not() -> None:
    assert list(TITLES) == list(Context.model_fields)
    assert set(PUBLIC) < set(TITLES)
    assert set(TITLES) - set(PUBLIC) == {"recipients", "population", "sampling_fraction", "harms", "acceptable_risk"}


@pytest.mark.parametrize("kind", [k.name for k in kinds()])
def test_policies_of_every_kind_take_it(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(f'kind = "{kind}"\n[context]\ntitle = "T"\nreview = 2027-01-31\n', encoding="utf-8")
    context = shoal.read_policy(path).context
    assert (context.title, context.review, context.is_given) == ("T", "2027-01-31", True)
    assert not Context().is_given


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("titel", "x", "did you mean 'title'"),
        ("title", "two\nlines", "one line of at most 500 characters"),
        ("title", " ", "one line of at most 500 characters"),
        ("harms", "x" * 501, "one line of at most 500 characters"),
        ("release_model", "open", "public, agreement or safe setting|public"),
        ("date", "yesterday", "it takes a day, as in 2025-01-31"),
        ("population", 0, "greater than or equal to 1"),
        ("sampling_fraction", 1.5, "less than or equal to 1"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_key(key: str, value: object, said: str) -> None:
    with pytest.raises(PolicyError, match=said) as caught:
        shoal.Policy(context={key: value})
    assert f"context.{key}" in str(caught.value)


def test_the_fraction_is_the_one_that_is_given_or_follows_from_the_population() -> None:
    assert Context().fraction(10) is None
    assert Context(population=40).fraction(10) == 0.25
    assert Context(population=4).fraction(10) == 1
    assert Context(population=40, sampling_fraction=0.5).fraction(10) == 0.5


def test_it_is_printed_where_it_may_be_and_nowhere_else(tmp_path: Path) -> None:
    out = release(**GIVEN).save(tmp_path / "out")
    sheet, manifest = ((out / "publish" / name).read_text("utf-8") for name in ("datasheet.html", "manifest.json"))
    told = json.loads((out / "private" / "report.json").read_text("utf-8"))["report"]
    page = (out / "private" / "report.html").read_text("utf-8")
    assert told["context"] == GIVEN
    assert json.loads(manifest)["context"] == {name: GIVEN[name] for name in PUBLIC}
    for text in (sheet, page):
        assert "Town &lt;b&gt;" in text
        assert "safe setting" in text
    for secret in ("the university", "stigma", "98,765", "98765", "0.0125"):
        assert secret not in sheet + manifest
    assert "98,765" in page
    assert "stigma" in page
    assert shoal.check(out / "publish", PEOPLE).is_whole


def test_without_it_nothing_is_said(tmp_path: Path) -> None:
    out = release().save(tmp_path / "out")
    assert "context" not in json.loads((out / "publish" / "manifest.json").read_text("utf-8"))
    assert "About this release" not in (out / "publish" / "datasheet.html").read_text("utf-8")


def test_the_data_does_not_depend_on_it(tmp_path: Path) -> None:
    with_it, without = release(**GIVEN).save(tmp_path / "a"), release().save(tmp_path / "b")
    assert (with_it / "publish" / "data.csv").read_bytes() == (without / "publish" / "data.csv").read_bytes()
    again = release(**GIVEN).save(tmp_path / "c")
    for name in ("data.csv", "datasheet.html", "manifest.json"):
        assert (with_it / "publish" / name).read_bytes() == (again / "publish" / name).read_bytes()


def test_a_manifest_that_tells_another_context_is_found_out(tmp_path: Path) -> None:
    out = release(title="T").save(tmp_path / "out")
    path = out / "publish" / "manifest.json"
    content = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**content, "context": {"title": "U"}}), "utf-8")
    assert shoal.check(out / "publish").findings
    path.write_text(json.dumps({**content, "context": {"harms": "secret"}}), "utf-8")
    with pytest.raises(DataError, match="not the manifest"):
        Manifest.read(out / "publish")
