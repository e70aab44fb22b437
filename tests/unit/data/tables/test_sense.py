"""What texts say however they are spelled: against a slow twin, and for every character that shows nothing."""

from __future__ import annotations

import sys
import unicodedata

import numpy as np
import pytest

from shoal.data.tables.dictionary import objects
from shoal.data.tables.sense import plain_text, says_missing, sense_of
from shoal.data.tables.table import MARKERS

# Of DerivedCoreProperties.txt, Default_Ignorable_Code_Point: those that are of neither Cf nor Cc, one of each range.
IGNORABLE = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180f\u3164\ufe00\ufe0f\uffa0\ufff0\ufff8\U000e0100\U000e01ef\U000e0fff"
)


def slow_plain(text: str) -> str:
    """One character after the other, by the tables of `unicodedata` alone."""

    def seen(text: str) -> list[str]:
        kept = []
        for c in text:
            if unicodedata.category(c) in ("Cc", "Cf", "Zs", "Zl", "Zp") or c in IGNORABLE:
                continue
            if unicodedata.category(c) == "Pd" or unicodedata.name(c, "").endswith("MINUS SIGN"):
                c = "-"
            elif c in "'`\u00b4\u2018\u2019\u201a\u201b\u2032":
                c = "'"
            elif c in '"\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb':
                c = "''"
            if not (c == "-" and kept and kept[-1] == "-"):
                kept.append(c)
        return kept

    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", "".join(seen(text))).casefold())
    return unicodedata.normalize("NFC", "".join(seen(folded)))


def test_all_that_shows_nothing_is_removed_wherever_it_stands():
    unseen = [
        chr(i) for i in range(sys.maxunicode + 1) if unicodedata.category(chr(i)) in ("Cc", "Cf", "Zs", "Zl", "Zp")
    ]
    assert len(unseen) > 200
    for c in [*unseen, *IGNORABLE]:
        assert plain_text(f"H{c}IV{c}") == plain_text(f"{c}HIV") == "hiv", hex(ord(c))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("HIV", "hiv"),
        ("HIV", "ＨＩＶ"),
        ("Crohn's", "Crohn\u2019s"),
        ("Crohn's", "CROHN\u00b4S"),
        ("5''", "5\u2033"),
        ('"x"', "\u201cX\u201d"),
        ("covid-19", "covid\u201119"),
        ("covid-19", "Covid\u201319"),
        ("a - b", "a \u2014 b"),
        ("a--b", "a\u2014b"),
        ("-5 C", "\u22125\u00a0C"),
        ("type 2", "type\u00a02"),
        ("type 2", "Type  2 "),
        ("caf\u00e9", "cafe\u0301"),
        ("cafe\u0301", "cafe\u200d\u0301"),
        ("\u1e9b\u0323", "s\u0323\u0307"),
        ("stra\u00dfe", "STRASSE"),
        ("\u03a3\u03c2", "\u03c3\u03c3"),
        ("\ufb01t", "fit"),
    ],
)
def test_spellings_of_one_thing_say_the_same(one, other):
    assert plain_text(one) == plain_text(other)
    assert len(set(sense_of(objects([one, other, "flu"])).tolist())) == 2


@pytest.mark.parametrize(
    ("one", "other"), [("HIV", "HPV"), ("a-b", "ab"), ("resume", "résumé"), ("A+", "A-"), ("5'", '5"')]
)
def test_things_that_look_different_stay_different(one, other):
    assert plain_text(one) != plain_text(other)


def test_the_rule_agrees_with_the_slow_one_character_by_character():
    rng = np.random.default_rng(0)
    pool = list("aAbB1 -'\"éÉßﬁＡ\u0301\u0323") + list("\u200b\u00ad\u2011\u2019\u201c\u00a0\u2033\u0130\u1e9b\u03c2")
    for _ in range(3000):
        text = "".join(rng.choice(pool, rng.integers(0, 9)))
        assert plain_text(text) == slow_plain(text), ascii(text)
        assert plain_text(plain_text(text)) == plain_text(text), ascii(text)


def test_numbers_say_the_same_also_beside_texts_but_not_codes():
    assert len(set(sense_of(objects(["1", "1.0", "１", "1\u200b", "x"])).tolist())) == 2
    assert len(set(sense_of(objects(["1", "1.0", "1\u200b"])).tolist())) == 1
    assert len(set(sense_of(objects(["1", "1.0", "x"]), is_code=True).tolist())) == 3
    assert len(set(sense_of(objects(["1_0", "10"])).tolist())) == 2


MISSING = [
    *MARKERS,
    *(
        "n/a",
        "#N/A",
        "NA ",
        "N.A.",
        "n.a",
        "<NA>",
        "-",
        "--",
        "\u2014",
        ".",
        "..",
        "?",
        "???",
        "*",
    ),
    *(
        " ",
        "\u200b",
        "\ufeff",
        "\u3164",
        "Unknown",
        "UNKNOWN ",
        "(unknown)",
        "not available",
        "Not-Applicable",
        "#NULL!",
    ),
    *("-1.#IND", "1.#QNAN", "-nan", "\\N", "NaT", "keine Angabe", "k. A.", "k.A.", "unbekannt", "non renseigné"),
    *("NON RENSEIGNE", "desconocido", "s/d", "não informado", "n.d.", "onbekend", "okänd", "brak danych", "неизвестно"),
    *("н/д", "不明", "未知", "알 수 없음", "غير معروف", "לא ידוע", "अज्ञात", "don\u2019t know", "[missing]"),
]


@pytest.mark.parametrize("text", MISSING, ids=[ascii(t) for t in MISSING])
def test_spellings_of_missing_say_that_nothing_is_known(text):
    assert says_missing(objects([text])).tolist() == [True]


@pytest.mark.parametrize(
    "text", ["HIV", "0", "no", "None", "+", "-1", "A-", "negative", "ND", "nationality", "Nancy", "9", "<30", "a"]
)
def test_values_do_not(text):
    assert says_missing(objects([text])).tolist() == [False]


def test_numbers_and_dates_of_a_frame_never_say_it():
    assert not says_missing(np.array([0.0, 1.0])).any()
    assert not says_missing(np.array(["2020-01-01"], dtype="datetime64[us]")).any()


def test_one_long_text_does_not_make_all_as_long() -> None:
    """As an array of texts of one width does: this one would take 120 GB."""
    texts = np.array([*(f"t{i}" for i in range(30_000)), "X" * 1_000_000], dtype=object)
    assert sense_of(texts).tolist() == [*texts[:-1].tolist(), "x" * 1_000_000]
