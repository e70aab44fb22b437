"""A clinic's table made in code, for the demo and the tests: nobody in it exists.

Every column depends on some before it, in the way that such columns do, so that the loss of a method shows:
district, age and sex first, then marital status, occupation and smoking, then diagnosis, stay and cost.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.arrays import Floats, Ints, Mask, Rows
from shoal.data.tables.hierarchy import Hierarchy
from shoal.errors import DataError


class _Diagnosis(NamedTuple):
    name: str
    chapter: str
    ward: str
    weight: float  # how common it is at the age at which it is most common
    age: float  # that age, and how far it spreads
    spread: float
    female: float  # factor for women, and for men
    male: float
    smoker: float  # factor for smokers
    days: float  # mean stay at the age of 40
    price: float  # of the treatment, without the stay


_DIAGNOSES = (
    _Diagnosis("hypertension", "circulatory", "internal medicine", 1.0, 66, 16, 1.0, 1.1, 1.3, 3, 1200),
    _Diagnosis("coronary disease", "circulatory", "internal medicine", 0.9, 70, 13, 0.6, 1.4, 2.2, 6, 9500),
    _Diagnosis("heart failure", "circulatory", "internal medicine", 0.8, 80, 10, 1.0, 1.0, 1.4, 9, 6200),
    _Diagnosis("stroke", "circulatory", "internal medicine", 0.6, 76, 12, 0.9, 1.1, 1.7, 12, 11000),
    _Diagnosis("asthma", "respiratory", "internal medicine", 0.8, 12, 14, 1.1, 0.9, 1.2, 2, 900),
    _Diagnosis("pneumonia", "respiratory", "internal medicine", 0.5, 74, 30, 1.0, 1.0, 1.4, 7, 3100),
    _Diagnosis("chronic bronchitis", "respiratory", "internal medicine", 0.6, 65, 12, 0.8, 1.2, 6.0, 6, 2600),
    _Diagnosis("type 2 diabetes", "endocrine", "internal medicine", 0.8, 61, 14, 0.9, 1.1, 1.1, 4, 1900),
    _Diagnosis("thyroid disorder", "endocrine", "internal medicine", 0.5, 48, 16, 1.8, 0.4, 1.0, 2, 2300),
    _Diagnosis("appendicitis", "digestive", "surgery", 0.7, 18, 12, 1.0, 1.0, 1.0, 4, 4300),
    _Diagnosis("gallstones", "digestive", "surgery", 0.6, 52, 15, 1.5, 0.6, 1.0, 4, 4800),
    _Diagnosis("fracture", "injury", "surgery", 0.7, 24, 18, 0.7, 1.4, 1.0, 4, 5200),
    _Diagnosis("hip fracture", "injury", "surgery", 0.7, 84, 8, 1.6, 0.7, 1.1, 13, 12500),
    _Diagnosis("breast cancer", "neoplasms", "oncology", 0.6, 61, 13, 1.9, 0.0, 1.0, 6, 17000),
    _Diagnosis("prostate cancer", "neoplasms", "oncology", 0.7, 71, 9, 0.0, 1.9, 1.0, 6, 14500),
    _Diagnosis("depression", "mental health", "mental health", 0.8, 36, 15, 1.4, 0.8, 1.5, 18, 2400),
    _Diagnosis("childbirth", "obstetrics", "obstetrics", 4.0, 30, 5, 2.0, 0.0, 0.6, 3, 3400),
)

# Three digits of the code, how many codes, share of patients, mean age: a town, two suburbs, old villages.
_DISTRICTS = (
    ("481", 14, 0.40, 38.0),
    ("482", 10, 0.25, 46.0),
    ("485", 8, 0.20, 51.0),
    ("493", 8, 0.15, 60.0),
)

_OCCUPATIONS = (
    "pupil",
    "student",
    "teacher",
    "nurse",
    "clerk",
    "engineer",
    "driver",
    "farmer",
    "builder",
    "retired",
)
_MARITAL = ("single", "married", "divorced", "widowed")

_ONSETS = ("b", "d", "f", "k", "l", "m", "n", "r", "s", "t", "v", "z", "br", "dr", "kl", "st")
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ei")
_CODAS = ("", "", "l", "n", "r", "s", "m", "nd", "rk")


def clinic(n_rows: int = 3000, seed: int = 7) -> dict[str, npt.NDArray[Any]]:
    """Make the table of a clinic's admissions.

    Parameters
    ----------
    n_rows : int, default 3000
        Number of admissions, one a patient.
    seed : int, default 7
        The same seed gives the same table.

    Returns
    -------
    dict of arrays
        ``patient_id``, ``name`` (identifying); ``age``, ``sex``, ``zip``, ``marital_status``, ``occupation``,
        ``admission`` (quasi-identifying); ``diagnosis``, ``smoker``, ``length_of_stay`` in days, ``cost``
        (sensitive). Text is an array of str objects with None where missing; a missing cost is nan.
    """
    if n_rows < 1:
        raise DataError(f"a clinic of {n_rows} rows cannot be made; ask for 1 or more")
    rng = np.random.default_rng(seed)
    district = _draw(rng, np.tile([d[2] for d in _DISTRICTS], (n_rows, 1)))
    age = np.clip(rng.normal(np.array([d[3] for d in _DISTRICTS])[district], 21), 1, 97).astype(np.int64)
    is_female = rng.random(n_rows) < 0.53
    occupation = _draw(rng, _occupation_weights(age, is_female, district))
    marital = _draw(rng, _marital_weights(age, is_female))
    smokes = rng.random(n_rows) < _smoking_rate(age, is_female, occupation)
    diagnosis = _draw(rng, _diagnosis_weights(age, is_female, smokes))
    stay = _length_of_stay(rng, age, diagnosis)
    cost = _cost(rng, age, diagnosis, stay)
    cost[rng.random(n_rows) < 0.004] = np.nan
    first_day = np.datetime64("2021-01-01", "us")
    return {
        "patient_id": _patient_ids(rng, n_rows),
        "name": _names(rng, n_rows),
        "age": age,
        "sex": _pick(("male", "female"), is_female.astype(np.intp)),
        "zip": _zip_codes(rng, district),
        "marital_status": _with_gaps(rng, _pick(_MARITAL, marital), 0.005),
        "occupation": _with_gaps(rng, _pick(_OCCUPATIONS, occupation), 0.015),
        "admission": first_day + rng.integers(0, 3 * 365, n_rows).astype("timedelta64[D]"),
        "diagnosis": _pick([d.name for d in _DIAGNOSES], diagnosis),
        "smoker": _with_gaps(rng, _pick(("no", "yes"), smokes.astype(np.intp)), 0.02),
        "length_of_stay": stay,
        "cost": cost,
    }


def diagnosis_hierarchy() -> Hierarchy:
    """The clinic's diagnoses by chapter and ward."""
    return Hierarchy(tuple((d.name, f"{d.chapter} (chapter)", d.ward, "*") for d in _DIAGNOSES))


def _draw(rng: np.random.Generator, weights: Floats) -> Rows:
    """Draw one column of each row with the row's weights."""
    cumulated = np.cumsum(weights, axis=1)
    points = rng.random((len(weights), 1)) * cumulated[:, -1:]
    return np.asarray((points >= cumulated).sum(axis=1), dtype=np.intp)


def _pick(words: tuple[str, ...] | list[str], indices: Rows) -> npt.NDArray[np.object_]:
    return np.array(words, dtype=object)[indices]


def _with_gaps(rng: np.random.Generator, cells: npt.NDArray[np.object_], share: float) -> npt.NDArray[np.object_]:
    cells[rng.random(len(cells)) < share] = None
    return cells


def _occupation_weights(age: Ints, is_female: Mask, district: Rows) -> Floats:
    works = (age >= 19) & (age < 66)
    is_rural = district == len(_DISTRICTS) - 1
    woman, man = np.where(is_female, 1.0, 0.35), np.where(is_female, 0.25, 1.0)
    weights = {
        "pupil": (age < 19) * 50.0,
        "student": ((age >= 19) & (age < 29)) * np.where(district == 0, 6.0, 2.0),
        "teacher": works * woman,
        "nurse": works * woman * 1.2,
        "clerk": works * 1.3,
        "engineer": works * man * np.where(is_rural, 0.4, 1.2),
        "driver": works * man * 0.8,
        "farmer": (age >= 17) * np.where(is_rural, 2.0, 0.1) * np.where(age < 72, 1.0, 0.1),
        "builder": works * man,
        "retired": (age >= 58) * np.where(age < 66, 1.5, 40.0),
    }
    return np.stack([np.asarray(weights[name], dtype=np.float64) for name in _OCCUPATIONS], axis=1)


def _marital_weights(age: Ints, is_female: Mask) -> Floats:
    adult = np.clip((age - 19) / 12, 0, 1)
    widowed = np.clip((age - 55) / 35, 0, 1) ** 1.5 * np.where(is_female, 2.0, 0.8)
    return np.stack([1.15 - adult, 1.6 * adult, 0.35 * adult * np.clip((age - 25) / 20, 0, 1), widowed], axis=1)


def _smoking_rate(age: Ints, is_female: Mask, occupation: Rows) -> Floats:
    manual = np.isin(occupation, [_OCCUPATIONS.index(name) for name in ("driver", "builder", "farmer")])
    rate = 0.2 + 0.08 * ~is_female + 0.15 * manual - 0.1 * (age > 70)
    return np.asarray(np.where(age < 16, 0.0, rate))


def _diagnosis_weights(age: Ints, is_female: Mask, smokes: Mask) -> Floats:
    columns = []
    for d in _DIAGNOSES:
        # The small constant lets every diagnosis occur at any age, but for births.
        near = np.exp(-0.5 * ((age - d.age) / d.spread) ** 2) + 0.004
        if d.chapter == "obstetrics":
            near = near * ((age >= 17) & (age <= 46))
        columns.append(d.weight * near * np.where(is_female, d.female, d.male) * np.where(smokes, d.smoker, 1.0))
    return np.stack(columns, axis=1)


def _length_of_stay(rng: np.random.Generator, age: Ints, diagnosis: Rows) -> Ints:
    mean = np.array([d.days for d in _DIAGNOSES])[diagnosis] * (1 + np.maximum(age - 40, 0) / 100)
    return 1 + rng.poisson(rng.gamma(4.0, (mean - 1) / 4.0)).astype(np.int64)


def _cost(rng: np.random.Generator, age: Ints, diagnosis: Rows, stay: Ints) -> Floats:
    treatment = np.array([d.price for d in _DIAGNOSES])[diagnosis] * (1 + age / 250)
    return np.round((treatment + 420.0 * stay) * rng.lognormal(0.0, 0.3, len(stay)), 2)


def _patient_ids(rng: np.random.Generator, n_rows: int) -> npt.NDArray[np.object_]:
    size = 10 ** max(6, len(str(n_rows)) + 1)
    numbers = rng.choice(size, n_rows, replace=False)
    return np.array([f"P{number:0{len(str(size)) - 1}d}" for number in numbers], dtype=object)


def _zip_codes(rng: np.random.Generator, district: Rows) -> npt.NDArray[np.object_]:
    codes = np.array([[f"{area}{7 * i % 100:02d}" for i in range(1, 15)] for area, *_ in _DISTRICTS], dtype=object)
    n_codes = np.array([d[1] for d in _DISTRICTS])[district]
    # The square draws the first codes of a district, its centre, more often.
    return codes[district, (rng.random(len(district)) ** 2 * n_codes).astype(np.intp)]  # type: ignore[no-any-return]


def _names(rng: np.random.Generator, n_rows: int) -> npt.NDArray[np.object_]:
    def words(n_words: int, n_syllables: int) -> npt.NDArray[np.object_]:
        word = np.full(n_words, "", dtype=object)
        for _ in range(n_syllables):
            for sounds in (_ONSETS, _VOWELS, _CODAS):
                word = word + _pick(sounds, rng.integers(0, len(sounds), n_words))
        return np.array([w.capitalize() for w in word], dtype=object)

    given, family = words(300, 2), words(1500, 2)
    names = given[rng.integers(0, len(given), n_rows)] + " " + family[rng.integers(0, len(family), n_rows)]
    return np.asarray(names, dtype=object)
