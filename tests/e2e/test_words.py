"""No page, file or message says more than was checked: every kind of release is made, and all its words are read."""

from __future__ import annotations

import html
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.command import RunHere, people, text_of, write
from tests.e2e.sparse_samples import baskets, carts

ROOT = Path(__file__).resolve().parents[2]
PUBLICATIONS = ("generalise", "aggregate", "condense", "bucketize", "slice", "screen")
MODELS = """
missing = "value"
[columns]
name = { role = "identifying" }
age = { role = "quasi" }
zip = { role = "quasi" }
city = { role = "quasi" }
disease = { role = "sensitive" }
cost = { role = "sensitive" }
[[require]]
model = "k-anonymity"
k = 4
"""
DIVERSE = {
    "distinct": 'model = "l-diversity"\nl = 2\nkind = "distinct"',
    "probabilistic": 'model = "l-diversity"\nl = 1.2\nkind = "probabilistic"',
    "entropy": 'model = "l-diversity"\nl = 1.2\nkind = "entropy"',
    "recursive": 'model = "l-diversity"\nl = 2\nc = 20\nkind = "recursive"',
    "t-closeness": 'model = "t-closeness"\nt = 0.9',
    "alpha-k": 'model = "alpha-k"\nalpha = 0.9\nk = 3',
    "beta-likeness": 'model = "beta-likeness"\nbeta = 20',
}

UNITS = re.compile(r"\b(persons?|people|everybody|everyone|patients?|customers?|individuals?)\b", re.IGNORECASE)
ALLOWED = (
    # What a reader is asked not to do.
    "Do not try to find persons",
    "Do not look for persons",
    "with data about persons",
    "to learn about persons",
    "Do not draw conclusions about one person",
    # What an attack is called that needs to be told whose records are.
    "guessing a secret from all records of a person",
    # What records and strings are not.
    "Several records of one person",
    "Records are counted, not persons. Similar records of one person blur one another's, and hide that person from nobody.",
    "Several strings of one person",
    "Strings are counted, not persons. Where one person gave several alike, a group of k strings may be of fewer than k persons.",
)
UNTRUE = (
    "well represented",
    "protected and kept",
    "any linear estimate",
    "occurs in nature",
    "hides the sensitive values",
    "hides among",
    "single items cannot",
    "items cannot",
    "nobody can tell",
    "cannot be told apart",
    "estimates no attribute",
    "sums over many are not",
    "by more than they differ",
    "rules out certainty",
)


def words_of(content: str) -> str:
    """The text of a page or message, without tags and line ends."""
    return " ".join(html.unescape(re.sub(r"<(style|svg).*?</\1>|<[^>]*>", " ", content, flags=re.DOTALL)).split())


def read(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".html", ".json", ".txt", ".toml", ".md"):
            yield path.name, words_of(path.read_text(encoding="utf-8"))


def assert_true_words(where: str, text: str, ours: tuple[str, ...] = ()) -> None:
    for phrase in (*ALLOWED, *ours):
        text = text.replace(phrase, "")
    found = UNITS.search(text)
    assert found is None, (where, text[max(0, found.start() - 120) : found.end() + 120])
    for claim in UNTRUE:
        assert claim not in text.lower(), (where, claim)


def assert_all_true(run_here: RunHere, folder: Path, original: str, *options: str) -> dict[str, str]:
    """Make a release, check and attack it, and read everything; the words by where they stand."""
    made = run_here("anonymize", original, *options, "--hold-out", "0.2", "-o", "out", cwd=folder)
    assert made.code == 0, made.stderr
    told = {"terminal": words_of(made.stdout)}
    again = run_here("anonymize", original, *options, "-o", "again", "--json", cwd=folder)
    assert again.code == 0, again.stderr
    told["json"] = words_of(again.stdout)
    for command in (("check",), ("check", "--json"), ("attack", "--json")):
        private = ("--private", "out/private")
        ended = run_here(*command, "out/publish", "--original", original, *private, cwd=folder)
        assert ended.code in (0, 5), ended.stderr
        told[" ".join(command)] = words_of(ended.stdout)
    told |= {f"out/{name}": text for name, text in read(folder / "out")}
    assert {"out/datasheet.html", "out/report.html", "out/manifest.json"} <= set(told)
    for where, text in told.items():
        assert_true_words(where, text)
    return told


def patients() -> str:
    draw = random.Random(3)
    return text_of(
        people(80, name=["x"], disease=["flu", "cold", "gout"], cost=[str(draw.randint(1, 3)) for _ in range(80)])
    )


@pytest.mark.parametrize("publication", PUBLICATIONS)
def test_tables_of_every_publication_say_record_and_no_more_than_was_checked(
    tmp_path: Path, run_here: RunHere, publication: str
) -> None:
    write(tmp_path / "data.csv", patients())
    required = "".join(f'[[require]]\n{text}\nsensitive = "disease"\n' for text in DIVERSE.values())
    write(tmp_path / "policy.toml", f'{MODELS}{required}[method]\npublish = "{publication}"\n')
    keep = {"generalise": ("--keep", "rows"), "aggregate": ("--keep", "rows")}.get(publication, ("--keep", "groups"))
    told = assert_all_true(run_here, tmp_path, "data.csv", "-p", "policy.toml", *keep)
    assert "They may be very unequal" in told["out/datasheet.html"]
    assert "They may be very unequal" in told["out/report.html"]


def test_every_model_alone_has_its_own_words(tmp_path: Path, run_here: RunHere) -> None:
    write(tmp_path / "data.csv", patients())
    for name, text in DIVERSE.items():
        write(tmp_path / "policy.toml", f'{MODELS}[[require]]\n{text}\nsensitive = "disease"\n')
        made = run_here("anonymize", "data.csv", "-p", "policy.toml", "-o", name, cwd=tmp_path)
        assert made.code == 0, made.stderr
        sheet = (tmp_path / name / "publish" / "datasheet.html").read_text(encoding="utf-8")
        assert '<span class="small"></span>' not in sheet, name
        assert ("They may be very unequal" in sheet) == (name == "distinct")
        for where, words in read(tmp_path / name):
            assert_true_words(f"{name}: {where}", words)


def test_a_sensitive_column_without_a_requirement_is_said_to_be_published_as_it_is(
    tmp_path: Path, run_here: RunHere
) -> None:
    write(tmp_path / "data.csv", patients())
    roles = ("--identifying", "name", "--quasi", "age,zip,city", "--sensitive", "disease,cost", "-k", "4")
    bare = run_here("anonymize", "data.csv", *roles, "-o", "bare", cwd=tmp_path).stdout
    assert "sensitive, but with no requirement of their own, so published as they are: disease, cost\n" in bare
    assert "under the requirements below" not in bare
    write(tmp_path / "policy.toml", f'{MODELS}[[require]]\n{DIVERSE["distinct"]}\nsensitive = "disease"\n')
    half = run_here("anonymize", "data.csv", "-p", "policy.toml", "-o", "half", cwd=tmp_path).stdout
    assert "sensitive, kept, under the requirements below: disease\n" in half
    assert "sensitive, but with no requirement of their own, so published as they are: cost\n" in half


@pytest.mark.parametrize("options", [("-k", "5"), ("-k", "5", "--support", "1", "--rare", "1")])
def test_strings_say_string_and_no_more_than_was_checked(
    tmp_path: Path, run_here: RunHere, options: tuple[str, ...]
) -> None:
    draw = random.Random(5)
    write(tmp_path / "lines.txt", "".join("".join(draw.choices("ACGT", k=30)) + "\n" for _ in range(60)))
    assert_all_true(run_here, tmp_path, "lines.txt", "--kind", "strings", *options)


@pytest.mark.parametrize(
    "options",
    [("--publish", "sketch", "-k", "3"), ("--model", "delta", "--delta", "0.3", "--no-recovery-cap", "--exact-counts")],
)
def test_sketches_say_what_delta_bounds_and_what_the_key_tells(
    tmp_path: Path, run_here: RunHere, options: tuple[str, ...]
) -> None:
    write(tmp_path / "baskets.dat", baskets(carts(80)))
    told = assert_all_true(run_here, tmp_path, "baskets.dat", "--kind", "sparse", "--keep", "rows,key", *options)
    assert "The usual estimate of an attribute from a sketch" in told["terminal"]
    for page in ("out/datasheet.html", "out/report.html"):
        assert "The usual estimate of an item's weight, which is right on average" in told[page]
        assert "delta bounds the variance of the usual estimate of an item, not what can be guessed" in told[page]
    assert "the linear estimate of least mean square error names an item" in told["out/report.html"]
    attacks = json.loads(told["attack --json"])["attacks"]
    assert "linear-estimate" in [a["attack"] for a in attacks]


def test_profiles_and_sweeps_say_record(tmp_path: Path, run_here: RunHere) -> None:
    write(tmp_path / "data.csv", patients())
    write(tmp_path / "baskets.dat", baskets(carts(60)))
    write(tmp_path / "lines.txt", "ACGTACGTAC\n" * 30)
    for name, more in (("data.csv", ()), ("baskets.dat", ("--kind", "sparse")), ("lines.txt", ("--kind", "strings"))):
        ended = run_here("profile", name, *more, "-o", f"{name}.toml", cwd=tmp_path)
        assert ended.code == 0, ended.stderr
        assert_true_words(name, words_of(ended.stdout))
        assert_true_words(f"{name}.toml", (tmp_path / f"{name}.toml").read_text(encoding="utf-8"))
    write(tmp_path / "policy.toml", MODELS)
    arguments = ("data.csv", "-p", "policy.toml", "--k", "2,4", "--method", "mondrian", "-o", "sweep")
    swept = run_here("sweep", *arguments, cwd=tmp_path)
    assert swept.code == 0, swept.stderr
    assert_true_words("sweep", words_of(swept.stdout))
    for where, text in read(tmp_path / "sweep"):
        assert_true_words(where, text)


def test_a_failing_check_speaks_of_records(tmp_path: Path, run_here: RunHere) -> None:
    write(tmp_path / "data.csv", patients())
    roles = ("--identifying", "name", "--quasi", "age,zip,city", "--others", "identifying", "-k", "4")
    assert run_here("anonymize", "data.csv", *roles, "-o", "out", cwd=tmp_path).code == 0
    write(tmp_path / "strict.toml", '[[require]]\nmodel = "k-anonymity"\nk = 70\n')
    ended = run_here("check", "out/publish", "-p", "strict.toml", cwd=tmp_path)
    assert ended.code == 5
    assert "some records share their published quasi-identifiers with only" in ended.stdout
    assert_true_words("check", words_of(ended.stdout))


def test_documentation_and_sources_make_no_untrue_claim() -> None:
    pages = [
        ROOT / "README.md",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "src").rglob("*.py"),
        *(ROOT / "src").rglob("*.html"),
    ]
    assert len(pages) > 300
    for page in pages:
        text = " ".join(page.read_text(encoding="utf-8").split()).lower()
        for claim in UNTRUE:
            assert claim not in text, (page.name, claim)
        assert "every person shares" not in text, page.name
