"""Eight tables that nobody has seen, one a language, with dates in every usual spelling; nobody in them exists.

The words of two of the languages are not among those that columns are known by.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import numpy as np

N_ROWS = 1000
Cells = dict[str, list[str]]
_GIVEN = ("Anna", "Peter", "Marie", "Juan", "Giulia", "Pieter", "Emma", "Lukas", "Sofia", "Hugo", "Laura", "Paul")
_FAMILY = ("Adler", "Bernard", "Costa", "Diaz", "Evans", "Ferri", "Groot", "Huber", "Ito", "Jansen", "Keller", "Lopez")
_DAY, _STAMP = "%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"


def _spelled(form: str) -> Callable[[datetime], str]:
    return lambda when: when.strftime(form)


DATES: dict[str, Callable[[datetime], str]] = {
    "2002-02-25": _spelled(_DAY),
    "25-Feb-2002": _spelled("%d-%b-%Y"),
    "20020225": _spelled("%Y%m%d"),
    "Feb 25 2002": _spelled("%b %d %Y"),
    "2002-02": _spelled("%Y-%m"),
    "25.02.2002": _spelled("%d.%m.%Y"),
    "25/02/2002": _spelled("%d/%m/%Y"),
    "2002.02.25": _spelled("%Y.%m.%d"),
    "25/02/02": _spelled("%d/%m/%y"),
    "time of day": _spelled("%H:%M"),
    "with offset": lambda when: when.strftime(_STAMP) + "+01:00",
    "universal time": lambda when: when.strftime(_STAMP) + "Z",
    "seconds since 1970": lambda when: str(int((when - datetime(1970, 1, 1)).total_seconds())),
    "milliseconds": lambda when: str(1000 * int((when - datetime(1970, 1, 1)).total_seconds())),
}
"""Every spelling by an example or its name."""


class _Draw:
    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def of(self, values: Any) -> list[str]:
        return [str(v) for v in self.rng.choice(np.asarray(values, dtype=object), N_ROWS)]

    def numbers(self, low: int, high: int) -> list[str]:
        return [str(v) for v in self.rng.integers(low, high, N_ROWS)]

    def decimals(self, mean: float, spread: float, digits: int) -> list[str]:
        return [f"{v:.{digits}f}" for v in self.rng.normal(mean, spread, N_ROWS)]

    def dates(self, spelling: str, first: int = 2002) -> list[str]:
        seconds = self.rng.integers(0, 5 * 365 * 86_400, N_ROWS).tolist()
        return [DATES[spelling](datetime(first, 1, 1) + timedelta(seconds=s)) for s in seconds]

    def people(self) -> list[str]:
        return [f"{a} {b}" for a, b in zip(self.of(_GIVEN), self.of(_FAMILY), strict=True)]

    def phones(self) -> list[str]:
        return [f"+{a} {b} {c}" for a, b, c in self.rng.integers((30, 100, 10**5), (49, 999, 10**6), (N_ROWS, 3))]


def _english(draw: _Draw) -> Cells:
    return {
        "mrn": [f"{7_000_000 + 13 * i}" for i in range(N_ROWS)],
        "pat_nm": draw.people(),
        "contact": [f"{a.lower()}{i}@mail.example" for i, a in enumerate(draw.of(_FAMILY))],
        "sex": draw.of(["F", "M"]),
        "dob": draw.dates("25-Feb-2002", 1950),
        "seen": draw.dates("with offset"),
        "icd10": draw.of(["E11.9", "I10", "J45.0", "C50.1", "F32.1"]),
        "kappa": draw.decimals(1.4, 0.6, 3),
        "lambda": draw.decimals(1.7, 0.7, 3),
        "futime": draw.numbers(1, 5000),
        "mgus": draw.of([0, 0, 0, 1]),
        "chapter": draw.of(["", "Circulatory", "Neoplasms", "Respiratory"]),
    }


def _german(draw: _Draw) -> Cells:
    return {
        "Patientennummer": [f"P{i:05d}" for i in range(N_ROWS)],
        "Nachname": draw.of(_FAMILY),
        "Geschlecht": draw.of(["m", "w"]),
        "Geburtsdatum": draw.dates("25.02.2002", 1940),
        "PLZ": [f"{p:05d}" for p in draw.rng.choice([1067, 10115, 20095, 80331, 4109], N_ROWS)],
        "Größe": draw.numbers(150, 200),
        "Aufnahme": draw.dates("20020225"),
        "Hauptdiagnose": draw.of(["Diabetes", "Hypertonie", "Asthma", "Depression"]),
        "Monatseinkommen": draw.decimals(3000, 900, 2),
        "Merkmal_7": draw.numbers(0, 40),
    }


def _french(draw: _Draw) -> Cells:
    return {
        "prénom": draw.of(_GIVEN),
        "téléphone": draw.phones(),
        "sexe": draw.of(["F", "H"]),
        "date de naissance": draw.dates("25/02/2002", 1945),
        "code postal": draw.of(["75001", "69002", "13006", "31000"]),
        "heure d'arrivée": draw.dates("time of day"),
        "maladie": draw.of(["grippe", "asthme", "diabète"]),
        "revenu": draw.numbers(900, 9000),
        "variable_x": draw.decimals(0, 1, 4),
    }


def _spanish(draw: _Draw) -> Cells:
    return {
        "apellidos": draw.of(_FAMILY),
        "correo": [f"{i}@correo.example" for i in range(N_ROWS)],
        "edad": draw.numbers(18, 95),
        "fecha_ingreso": draw.dates("Feb 25 2002"),
        "mes_alta": draw.dates("2002-02"),
        "municipio": draw.of(["Sevilla", "Toledo", "Burgos", "Cádiz"]),
        "estado_civil": draw.of(["soltero", "casado", "viudo"]),
        "medicamento": draw.of(["A10BA02", "C09AA05", "N02BE01"]),
        "coste": draw.decimals(800, 300, 2),
    }


def _italian(draw: _Draw) -> Cells:
    return {
        "cognome": draw.of(_FAMILY),
        "età": draw.numbers(18, 95),
        "sesso": draw.of(["F", "M"]),
        "nascita": draw.dates("2002-02-25", 1950),
        "latitudine": draw.decimals(45.1, 0.4, 5),
        "longitudine": draw.decimals(9.2, 0.4, 5),
        "istante": draw.dates("seconds since 1970"),
        "professione": draw.of(["medico", "operaio", "insegnante", "cuoco"]),
        "reddito": draw.numbers(800, 8000),
        "anno": draw.numbers(1990, 2020),
    }


def _dutch(draw: _Draw) -> Cells:
    return {
        "bsn": [f"{100_000_000 + 97 * i}" for i in range(N_ROWS)],
        "achternaam": draw.of(_FAMILY),
        "leeftijd": draw.numbers(18, 95),
        "postcode": draw.of(["1012 AB", "3511 LN", "9711 KE"]),
        "opname": draw.dates("universal time"),
        "tijdstip_ms": draw.dates("milliseconds"),
        "ziekte": draw.of(["griep", "astma", "suikerziekte"]),
        "gewicht": draw.decimals(75, 12, 1),
        "utilname": draw.people(),
        "constante": ["ja"] * N_ROWS,
    }


def _portuguese(draw: _Draw) -> Cells:
    numbers = draw.rng.integers(0, (1000, 1000, 1000, 100), (N_ROWS, 4)).tolist()
    return {
        "CPF": [f"{a:03d}.{b:03d}.{c:03d}-{d:02d}" for a, b, c, d in numbers],
        "nascido em": draw.dates("25/02/02", 1950),
        "trimestre": [f"Q{1 + q} {y}" for q, y in draw.rng.integers((0, 2010), (4, 2020), (N_ROWS, 2))],
        "bairro": draw.of(["Baixa", "Chiado", "Graça", "Belém"]),
        "doença": draw.of(["gripe", "asma", "diabetes"]),
        "despesa": [cell.replace(".", ",") for cell in draw.decimals(800, 300, 2)],
    }


def _polish(draw: _Draw) -> Cells:
    return {
        "PESEL": draw.numbers(10**10, 10**11),
        "imię i nazwisko": draw.people(),
        "płeć": draw.of(["K", "M"]),
        "data ur.": draw.dates("2002.02.25", 1950),
        "tydzień": [f"{y}-W{w:02d}" for w, y in draw.rng.integers((1, 2010), (53, 2020), (N_ROWS, 2))],
        "miasto": draw.of(["Łódź", "Gdańsk", "Kraków"]),
        "rozpoznanie": draw.of(["E11.9", "I10", "J45.0"]),
    }


def made_tables() -> dict[str, Cells]:
    """The eight tables by language, the same each time."""
    makers = (_english, _german, _french, _spanish, _italian, _dutch, _portuguese, _polish)
    return {make.__name__.removeprefix("_"): make(_Draw(seed)) for seed, make in enumerate(makers, start=1)}
