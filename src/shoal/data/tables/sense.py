"""What a text says to a reader, however it is spelled, and whether it says that nothing is known.

One rule for all of the package: two spellings that look the same on paper, or differ only in case, width, blanks, kind
of dash or kind of quote, say the same. In order:

1. characters that show nothing are removed: blanks of every kind, controls, format characters (soft hyphens, joiners,
   marks of direction), and the other default-ignorable code points of Unicode (variation selectors, fillers, tags);
2. compatibility decomposition and case folding, so that full width, ligatures, superscripts, precomposed letters and
   capitals make no difference;
3. all dashes and minus signs are one, also several in a row, as are all apostrophes, primes and single quotes; a double
   quote is two of these.

Not covered: letters of different scripts that look alike (a Cyrillic and a Latin ``a``), accents left out, misspelling,
abbreviation, translation, and codes such as 999 for a missing number.

Everything here is done once a distinct value, never once a row.
"""

from __future__ import annotations

import math
import re
import unicodedata
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Mask
from shoal.data.tables.dictionary import objects
from shoal.data.tables.parse import parse_numbers

# Default_Ignorable_Code_Point of Unicode (DerivedCoreProperties.txt), which Python's tables do not have, and some
# characters that are drawn as nothing without being of that property: the braille blank and the null notehead.
_NOTHING = (
    *((0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F)),
    *((0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF)),
    *((0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
    *((0x2800, 0x2800), (0x1D159, 0x1D159)),
)
_UNSEEN = frozenset(("Cc", "Cf", "Cs", "Zs", "Zl", "Zp"))
_DASHES = frozenset("\u02d7\u2043\u2052\u207b\u208b\u2212\u2500\u2501\u2796\u30fc\uff70\U000110bb")
_APOSTROPHES = frozenset(
    "'`\u00b4\u02b9\u02bb\u02bc\u02bd\u02be\u02bf\u02c8\u02ca\u02cb\u02f4\u0374\u0384\u055a\u055d\u05f3\u07f4\u07f5"
    "\u1fbd\u1fbf\u1fef\u1ffd\u1ffe\u2018\u2019\u201a\u201b\u2032\u2035\u2039\u203a\u275b\u275c\u275f\ua78b\ua78c\uff07\uff40"
)
_QUOTES = frozenset(
    '"\u00ab\u00bb\u02ba\u02dd\u02ee\u02f6\u05f4\u201c\u201d\u201e\u201f\u2033\u2036\u275d\u275e\u2760\u301d\u301e\u301f\uff02'
)
_DASH_RUN = re.compile("-{2,}")
# What stands alone where nothing is known; not "+", which is a result.
_FILLERS = frozenset("-?.*/_#~,;:'\\|·•…()[]{}<>")

# Without "none" and "nil", which are results in clinical data.
_MISSING_WORDS = """
na; nan; null; missing; blank; empty; undefined; unknown; unk; unkn; unspecified; undisclosed; undetermined;
unavailable; unreported; unanswered; not available; not applicable; not known; not specified; not stated; not reported;
not recorded; not given; not provided; not disclosed; not determined; not answered; not ascertained; no data; no answer;
no response; no information; no info; no value; data missing; missing value; missing data; na na; 1 ind; 1 qnan; 1 snan;
information not available; prefer not to say; refused; declined; declined to answer; don't know; do not know; tbd; tba
keine angabe; keine angaben; ohne angabe; unbekannt; nicht bekannt; fehlt; fehlend; fehlender wert; nicht verfügbar;
nicht angegeben; nicht zutreffend; nicht erhoben; weiß nicht; entfällt
inconnu; inconnue; non renseigné; non renseignée; non disponible; non précisé; non communiqué; non connu;
non applicable; manquant; manquante; donnée manquante; valeur manquante; sans objet; ne sait pas; nsp; pas de réponse
desconocido; desconocida; se desconoce; no disponible; no consta; no aplica; no especificado; no informado; sin dato;
sin datos; sin información; sin respuesta; no sabe; no contesta; faltante
desconhecido; desconhecida; não disponível; não informado; não informada; não se aplica; não aplicável; não sabe;
ignorado; ignorada; sem informação; sem dados; sem resposta
sconosciuto; sconosciuta; non disponibile; non noto; non nota; non specificato; non rilevato; mancante; dato mancante;
non applicabile; ignoto; non indicato; non risponde; non so
onbekend; niet beschikbaar; niet bekend; niet van toepassing; ontbreekt; ontbrekend; geen gegevens; geen antwoord; nvt
okänd; okänt; saknas; uppgift saknas; ej tillgänglig; ej tillämpligt; vet ej; ukendt; ukjent; mangler; uoplyst;
ikke oplyst; ikke oppgitt; ikke tilgjengelig; ikke kendt; ved ikke; tuntematon; puuttuu; ei tietoa; ei saatavilla
nieznany; nieznana; nieznane; brak danych; nie dotyczy; nie wiadomo; brak informacji; neznámý; neznámá; neznámé; chybí;
neuvedeno; nezistené; neznano; ni podatka; nepoznato; nepoznat; nema podataka; ismeretlen; nincs adat; hiányzik
necunoscut; lipsă; fără date; bilinmiyor; bilinmeyen; belirtilmemiş; veri yok; teadmata; puudub; nezināms; nežinoma
неизвестно; неизвестен; неизвестна; неизвестный; нет данных; не указано; не указан; не указана; отсутствует;
нет ответа; невідомо; немає даних; не вказано; няма данни; непознато; нема података
άγνωστο; άγνωστη; άγνωστος; μη διαθέσιμο
未知; 不详; 不詳; 不明; 缺失; 缺失值; 缺测; 暂无; 暫無; 暂无数据; 无数据; 無資料; 未填; 未填写; 未填寫
不知道; 不适用; 不適用; 未記入; 欠損; 欠測; 欠損値; 無回答; 未回答; 該当なし; データなし; 情報なし; わからない; 非該当
미상; 불명; 모름; 알 수 없음; 해당 없음; 결측; 결측치; 무응답; 자료 없음; 정보 없음
غير معروف; غير معروفة; غير متوفر; غير متاح; غير محدد; مجهول; لا ينطبق; لا توجد بيانات; نامشخص; نامعلوم
לא ידוע; לא ידועה; לא זמין; לא רלוונטי; חסר; אין נתונים; अज्ञात; उपलब्ध नहीं; लागू नहीं; অজানা
tidak diketahui; tidak ada data; tidak tersedia; tiada data; không rõ; không biết; không có dữ liệu; ไม่ทราบ; ไม่มีข้อมูล
"""
# Short forms that without their signs would be something else: the states ND and SD, a column's name.
_MISSING_SIGNS = """
n/d; n.d.; n.d; s/d; s.d.; n/c; n.c.; ns/nc; k.a.; k.a; k. a.; o.a.; k.d.; s.o.; s/o; n/v; n/r; n.r.; n/k; n.k.
δ/α; н/д; н.д.; #value!; #ref!; #name?; #num!; #div/0!; #null!; \\n; nat
"""


class _Shown(dict[int, str | None]):
    """What each character becomes, found when it is first met; None is nothing."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        category = unicodedata.category(character)
        shown: str | None = character
        if category in _UNSEEN or any(low <= code <= high for low, high in _NOTHING):
            shown = None
        elif category == "Pd" or character in _DASHES:
            shown = "-"
        elif character in _APOSTROPHES:
            shown = "'"
        elif character in _QUOTES:
            shown = "''"
        self[code] = shown
        return shown


_shown = _Shown()


def plain_text(text: str) -> str:
    """A text as it looks, without what cannot be seen and without its case, width and kind of dash or quote.

    >>> plain_text("HIV\\u200b"), plain_text("Crohn\\u2019s"), plain_text("type\\u00a02") == plain_text("TYPE 2")
    ('hiv', "crohn's", True)
    """
    seen = text.translate(_shown)
    if not seen.isascii():
        folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", seen).casefold())
        seen = unicodedata.normalize("NFC", folded.translate(_shown))
    return _DASH_RUN.sub("-", seen.casefold())


def sense_of(values: npt.NDArray[Any], *, is_code: bool = False) -> npt.NDArray[Any]:
    """What each value says to a reader, so that two spellings of one thing are not two things.

    ``HIV`` and ``hiv `` say the same, as do two ways of composing ``é``, and ``1`` and ``1.0`` unless they are codes.

    >>> sense_of(np.array(["HIV", "hiv ", "flu"], dtype=object)).tolist()
    ['hiv', 'hiv', 'flu']
    >>> sense_of(np.array(["1", "1.0"], dtype=object)).tolist()
    [1.0, 1.0]
    """
    if values.dtype != object:
        return values
    numbers_alone = None if is_code else parse_numbers(values)
    if numbers_alone is not None:
        return numbers_alone
    texts = [plain_text(str(v)) for v in values]
    if is_code:
        return objects(texts)
    numbers = [_number(text) for text in texts]
    if None not in numbers:
        return np.array(numbers, dtype=np.float64)
    said = [text if number is None else repr(number) for text, number in zip(texts, numbers, strict=True)]
    return objects(said)


def says_missing(values: npt.NDArray[Any]) -> Mask:
    """Which values say that nothing is known: by a word or sign for it in one of many languages, or by showing nothing.

    >>> says_missing(np.array(["n/a", "#N/A", "NA ", "-", "\\u200b", "flu", "+"], dtype=object)).tolist()
    [True, True, True, True, True, False, False]
    """
    if values.dtype != object:
        return np.zeros(len(values), dtype=bool)
    return np.fromiter((_is_missing(str(v)) for v in values), bool, len(values))


def _is_missing(text: str) -> bool:
    seen = plain_text(text)
    return _FILLERS.issuperset(seen) or seen in _SIGNS or _letters(seen) in _MISSING


def _letters(text: str) -> str:
    """Letters and digits alone, without accents."""
    return "".join(c for c in unicodedata.normalize("NFKD", text) if c.isalnum())


def _listed(words: str) -> list[str]:
    return [plain_text(word) for word in words.replace("\n", ";").split(";") if word.strip()]


_MISSING = frozenset(map(_letters, _listed(_MISSING_WORDS)))
_SIGNS = frozenset(_listed(_MISSING_SIGNS))


def _number(text: str) -> float | None:
    """The number that a text spells."""
    if "_" in text:  # float() reads 1_000; a person does not
        return None
    try:
        number = float(text)
    except (ValueError, OverflowError):
        return None
    return None if math.isnan(number) else number + 0.0
