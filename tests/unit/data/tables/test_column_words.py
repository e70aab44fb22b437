"""Names of columns in six languages, whole and in parts."""

from __future__ import annotations

import pytest

from shoal.data.tables.column_words import IDENTIFYING, QUASI, SENSITIVE, meanings_of, words_of

NAMES = {
    "name": "name pat_nm utilname Nachname prénom apellidos cognome achternaam customerName last_name",
    "contact": "e_mail phone Telefonnummer téléphone correo telefono telefoonnummer",
    "address": "street Straße adresse dirección indirizzo straat",
    "document": "SSN passport MRN nhs_number bsn Versichertennummer codiceFiscale",
    "age": "age Alter edad età leeftijd",
    "sex": "Sex gender Geschlecht sexe sexo sesso geslacht",
    "birth": "dob date_of_birth Geburtsdatum date_naissance fecha_nacimiento nascita geboortedatum",
    "postcode": "zip zip_code PLZ code_postal codigo_postal cap postcode",
    "place": "city Wohnort ville ciudad città woonplaats lat longitude",
    "work": "occupation Beruf métier profesión professione beroep",
    "disease": "icd10 diag_1 Hauptdiagnose maladie enfermedad malattia ziekte",
    "treatment": "atc_code Medikament traitement medicamento farmaco medicijn",
    "money": "salary-class Monatseinkommen revenu sueldo reddito inkomen",
    "event": "admission_date Aufnahme sortie fecha_alta dimissione ontslag",
}


@pytest.mark.parametrize("meaning", NAMES)
def test_names_in_six_languages(meaning: str) -> None:
    for name in NAMES[meaning].split():
        assert meaning in meanings_of(name), (name, meanings_of(name))


@pytest.mark.parametrize("name", ["stage", "package", "percentage", "kappa", "c12", "x", "", "résumé", "capital-gain"])
def test_names_that_say_nothing(name: str) -> None:
    assert not meanings_of(name).keys() & {*IDENTIFYING, *QUASI, *SENSITIVE}


def test_words_are_cut_at_signs_and_capitals_and_lose_accents() -> None:
    assert words_of("Straßen-Name_Größe2") == {"strassen", "name", "grosse2"}
    assert words_of("") == set()
