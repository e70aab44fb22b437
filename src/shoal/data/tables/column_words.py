"""What the names of columns say, in English, German, French, Spanish, Italian and Dutch: the one table of such words.

A name is cut into words at blanks, signs, digits and capitals. A word that is not in the table is looked at in parts:
``icd10`` begins with a word, ``utilname`` and ``Geburtsdatum`` end with one or begin with one. Accents make no
difference, and ``ß`` is ``ss``. Short words count only where they stand alone, for ``stage`` is no ``age``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

# Meaning -> words. Those that have an entry in IDENTIFYING, QUASI or SENSITIVE below decide about roles.
_WORDS = {
    "name": """name names nm surname lastname firstname forename givenname fullname maidenname nickname vorname nachname
        familienname geburtsname rufname nom prenom patronyme apellido apellidos nome cognome naam voornaam
        achternaam geboortenaam""",
    "contact": """email mail phone telephone tel mobile fax telefon handy rufnummer telefonnummer mobil courriel
        correo movil telefono cellulare telefoon telefoonnummer gsm whatsapp skype twitter""",
    "address": """address addr street housenumber adresse anschrift strasse hausnummer rue voie calle direccion
        domicilio indirizzo straat adres huisnummer""",
    "document": """ssn passport iban mrn nhs licence license plate imei vin dni nif nie nir insee bsn svnr
        sozialversicherungsnummer versichertennummer krankenversichertennummer steuernummer personalausweis reisepass
        kennzeichen codicefiscale fiscale matricule matricola securitesociale passeport pasaporte passaporto paspoort
        rijbewijs kenteken""",
    "account": "username login uuid guid ip ipaddress mac url homepage cookie deviceid benutzername usuario",
    "key": """id ids nbr no nr key hid pid uid account card customer member case serial identifier identity
        nummer kennung aktenzeichen kundennummer patientennummer fallnummer personalnummer konto kunde fall schluessel
        numero compte client dossier cuenta cliente expediente conto pratica rekening klant dossiernummer
        klantnummer patientnummer""",
    "somebody": """person patient user member customer client subject participant respondent student pupil employee
        worker driver rider passenger cab taxi subscriber resident citizen kunde patientin nutzer teilnehmer probandin
        proband fahrer schueler mitarbeiter personne utilisateur eleve salarie conducteur persona paciente usuario
        cliente alumno empleado conductor paziente utente studente dipendente persoon gebruiker klant leerling
        werknemer""",
    "thing": """file drug product brand host variable column field item medication medicament class category""",
    "age": "age ages alter lebensalter edad eta leeftijd",
    "sex": "sex gender geschlecht sexe genre sexo genero sesso genere geslacht female male weiblich maennlich",
    "origin": """race ethnicity ethnic ethnie etnia origin herkunft origine origen afkomst nationality citizenship
        native nationalitat nationalite nacionalidad nazionalita nationaliteit staatsangehorigkeit staatsburgerschaft
        cittadinanza ciudadania citoyennete tribe caste""",
    "birth": """birth birthday birthdate dob born bday geburt geburtsdatum geburtstag geburtsjahr gebdat geb naissance
        nacimiento nascita geboorte geboortedatum geboortejaar""",
    "postcode": "zip zipcode postcode postal plz postleitzahl codepostal cp cap codigopostal",
    "place": """city town village region county state province country location place district ward neighbourhood
        neighborhood parish municipality latitude latitud latitudine longitude longitud longitudine
        lat lon lng coordinates geo stadt ort wohnort gemeinde
        bundesland kreis bezirk land breitengrad langengrad ville commune departement pays quartier lieu ciudad
        municipio pais provincia comunidad localidad citta comune regione paese quartiere luogo stad gemeente
        plaats woonplaats provincie regio urbrur urban rural tract block easting northing""",
    "marital": """marital civil hhcivil relat relationship spouse familienstand etatcivil matrimonial estadocivil
        statocivile burgerlijkestaat conyuge coniuge""",
    "education": """education school degree bildung schulabschluss abschluss ausbildung diplome formation etudes
        educacion estudios titulacion istruzione scuola laurea opleiding onderwijs""",
    "work": """occupation job profession workclass employer employment industry beruf tatigkeit arbeitgeber branche
        metier emploi employeur profesion ocupacion empleo empleador professione occupazione lavoro datore beroep
        werkgever""",
    "belief": "religion language konfession sprache langue idioma religione lingua religie taal geloof",
    "household": """household family children kids haushalt familie kinder foyer menage famille enfants hogar familia
        hijos famiglia figli nucleo huishouden gezin kinderen""",
    "event": """date day month year time admission discharge admitted discharged death died visit datum jahr monat tag
        aufnahme entlassung tod sterbedatum besuch annee mois jour heure admission sortie deces fecha ano mes dia hora
        ingreso alta muerte defuncion anno mese giorno ora ricovero dimissione decesso jaar maand opname ontslag
        overlijden timestamp zeit zeitpunkt uhrzeit tijd tijdstip""",
    "body": """height weight bmi grosse groesse gewicht korpergrosse taille poids peso altura estatura altezza lengte
        shoe""",
    "insurance": """payer insurance insurer krankenkasse kasse versicherung assurance mutuelle seguro aseguradora
        assicurazione verzekering verzekeraar""",
    "disease": """disease diagnosis diagnoses diag icd illness condition symptom symptoms diagnose krankheit erkrankung
        befund maladie diagnostic pathologie cim enfermedad diagnostico patologia sintoma malattia diagnosi
        ziekte aandoening klacht hiv cancer krebs kanker cancro diabetes tumor pregnancy schwangerschaft grossesse
        embarazo gravidanza zwangerschap disability behinderung handicap discapacidad disabilita""",
    "treatment": """treatment therapy medication drug drugs atc med meds insulin medikament wirkstoff arznei behandlung
        therapie traitement medicament tratamiento medicamento terapia farmaco trattamento medicijn behandeling
        geneesmiddel""",
    "result": """outcome result readmitted genotype a1cresult glucose glu serum blood ergebnis laborwert blut
        resultat sang resultado sangre risultato sangue uitslag bloed""",
    "money": """salary income wage wages earnings expend expenditure savings cost costs charge charges debt tax price
        gehalt lohn einkommen verdienst kosten schulden steuer vermogen salaire revenu cout dette impot salario
        sueldo ingresos renta coste deuda impuesto stipendio reddito costo debito imposta salaris loon inkomen
        schuld belasting balance saldo""",
    "conduct": """crime offence offense conviction vote party union straftat vorstrafe partei gewerkschaft delit
        condamnation parti syndicat delito voto partido sindicato reato partito misdrijf partij vakbond""",
    "survey weight": "fnlwgt sampling",
    "design": "survey design household sampling",
    "weight": "weight weights wgt",
    "category": "type status code class category group kind flag",
    "count": "num number count n days years months length size los hours stay nombre anzahl cantidad aantal",
    "prefix": "zip zipcode postcode postal plz postleitzahl icd atc cim",
}
IDENTIFYING = ("name", "contact", "address", "document", "account")
SENSITIVE = ("disease", "treatment", "result", "money", "conduct")
QUASI = (
    *("age", "sex", "origin", "birth", "postcode", "place", "marital", "education", "work", "belief", "household"),
    *("event", "body", "insurance"),
)
_MEANINGS: dict[str, tuple[str, ...]] = {}
for _meaning, _listed in _WORDS.items():
    for _word in _listed.split():
        _MEANINGS[_word] = (*_MEANINGS.get(_word, ()), _meaning)
_LONG_ENOUGH = 4  # to be meant where it begins or ends a longer word
_PARTS = sorted((w for w in _MEANINGS if len(w) >= _LONG_ENOUGH), key=lambda w: (-len(w), w))
_NOT_IN_PARTS = frozenset("time case land ward male mail card host party item fall alter unit rente".split())


def words_of(name: str) -> set[str]:
    """The lower-case words of a column name.

    >>> sorted(words_of("patientNbr_zip-code"))
    ['code', 'nbr', 'patient', 'zip']
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return set(re.split(r"[\W_]+", _folded(spaced))) - {""}


@lru_cache(maxsize=4096)
def meanings_of(name: str) -> dict[str, str]:
    """What a column name says: each meaning with the word that says it.

    >>> meanings_of("icd10"), meanings_of("utilname"), meanings_of("pat_nm")["name"], meanings_of("stage")
    ({'disease': 'icd', 'prefix': 'icd'}, {'name': 'name'}, 'nm', {})
    >>> sorted(meanings_of("Geburtsdatum")), sorted(meanings_of("date_of_birth")), sorted(meanings_of("codePostal"))
    (['birth'], ['birth', 'event'], ['category', 'postcode', 'prefix'])
    """
    found: dict[str, str] = {}
    for word in sorted(words_of(name)):
        for known in _known_in(word):
            for meaning in _MEANINGS[known]:
                found.setdefault(meaning, known)
    return found


def _known_in(word: str) -> Iterator[str]:
    """The known words that a word is, or begins or ends with."""
    if word in _MEANINGS:
        yield word
        return
    bare = word.strip("0123456789")
    if bare != word and bare in _MEANINGS:
        yield bare
        return
    yield from (part for part in _PARTS if part not in _NOT_IN_PARTS and (bare.startswith(part) or bare.endswith(part)))


def _folded(name: str) -> str:
    """Without accents, in lower case."""
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    return "".join(c for c in plain if not unicodedata.combining(c)).lower()
