"""The 18 identifiers of HIPAA's Safe Harbor, 45 CFR 164.514(b)(2)(i), and which columns look like them.

A column looks like an identifier by a word of its name or by the spelling of nearly all of its values. What looks like
none may be one all the same: a board has to judge that, and the table says so.
"""

from __future__ import annotations

from shoal.data.tables.column_words import meanings_of, words_of

IDENTIFIERS = {
    "A": "Names",
    "B": "Geographic subdivisions smaller than a state, but for the first three digits of a ZIP code of enough people",
    "C": "Elements of dates but the year, and ages over 89",
    "D": "Telephone numbers",
    "E": "Fax numbers",
    "F": "E-mail addresses",
    "G": "Social security numbers",
    "H": "Medical record numbers",
    "I": "Health plan beneficiary numbers",
    "J": "Account numbers",
    "K": "Certificate and licence numbers",
    "L": "Vehicle identifiers and serial numbers, licence plates",
    "M": "Device identifiers and serial numbers",
    "N": "Web addresses (URLs)",
    "O": "IP addresses",
    "P": "Biometric identifiers, finger and voice prints",
    "Q": "Full-face photographs and comparable images",
    "R": "Any other unique identifying number, characteristic or code",
}
_BY_WORD = {
    "E": "fax",
    "F": "email mail courriel correo",
    "G": "ssn",
    "H": "mrn patientennummer patientnummer fallnummer dossiernummer",
    "I": "beneficiary versichertennummer krankenversichertennummer healthplan",
    "J": "account konto compte cuenta conto rekening iban",
    "K": "licence license certificate passport passeport reisepass rijbewijs",
    "L": "plate vin kennzeichen kenteken vehicle",
    "M": "imei device deviceid serial mac",
    "N": "url homepage website",
    "O": "ip ipaddress",
    "P": "fingerprint voiceprint biometric iris retina",
    "Q": "photo photograph portrait picture image",
}
_LETTERS = {word: letter for letter, words in _BY_WORD.items() for word in words.split()}
_BY_MEANING = {
    "name": "A",
    "contact": "D",
    "address": "B",
    "postcode": "B",
    "place": "B",
    "birth": "C",
    "event": "C",
    "age": "C",
    "document": "R",
    "account": "R",
    "key": "R",
}
_BY_FORM = {
    "names of people": "A",
    "coordinates": "B",
    "perhaps coordinates": "B",
    "postcodes": "B",
    "dates": "C",
    "times": "C",
    "seconds since 1970": "C",
    "milliseconds since 1970": "C",
    "phone numbers": "D",
    "e-mail addresses": "F",
    "social security numbers": "G",
    "account numbers": "J",
    "web addresses": "N",
    "network addresses": "O",
    "universal identifiers": "R",
    "free text, which may name people": "R",
}


def identifier_of(name: str, form: str | None) -> tuple[str, str]:
    """The letter of the identifier that a column looks like, and by what; "" where it looks like none.

    Parameters
    ----------
    name : str
        Of the column.
    form : str, optional
        What its values are by their spelling, see `shoal.data.tables.value_forms`.

    Examples
    --------
    >>> identifier_of("patient_email", None), identifier_of("x", "dates"), identifier_of("blood", None)
    (('F', 'its name'), ('C', 'its contents: dates'), ('', ''))
    """
    if form in _BY_FORM:
        return _BY_FORM[form], f"its contents: {form}"
    found = sorted(_LETTERS[word] for word in words_of(name) if word in _LETTERS)
    meanings = meanings_of(name)
    if "thing" in meanings and not found:  # the name of a drug is nobody's
        return "", ""
    found += [letter for meaning, letter in _BY_MEANING.items() if meaning in meanings]
    return (found[0], "its name") if found else ("", "")
