"""Raw text as sparse records: one attribute a word, by the vectorisers of scikit-learn.

The weights are 1, the number of occurrences, or that times the inverse document frequency. The last is **not**
normalised to length 1 as is usual: the guarantees of sketches are about the lengths of records, and a text of one word
would become as long as one of a thousand. It also takes the frequencies from all texts, so the weights of one record
tell a little about the others.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from shoal.data.sparse.records import Sparse, SparseSource
from shoal.data.whole_text import load_text
from shoal.errors import DataError, MissingExtra

_TOKEN_PATTERN = r"(?u)\b\w\w+\b"


def read_texts(
    texts: Sequence[str], source: SparseSource, *, weights: str = "binary", stop_words: str = "english", ngrams: int = 1
) -> Sparse:
    """Cut texts into words of two letters or more, in lower case.

    What was chosen is recorded in the source, without the vocabulary.

    Parameters
    ----------
    weights : {"binary", "counts", "tfidf"}
        The weight of a word that occurs.
    stop_words : {"english", "none"}
        Which words are left out.
    ngrams : int
        The longest run of words that is an attribute of its own.

    Raises
    ------
    MissingExtra
        If scikit-learn is not installed.
    DataError
        If no text has a word.
    """
    try:
        module = import_module("sklearn.feature_extraction.text")
    except ImportError:
        raise MissingExtra(
            'reading raw text needs scikit-learn; install it with: pip install "shoal[mining]"'
        ) from None
    choices: dict[str, Any] = {
        "lowercase": True,
        "token_pattern": _TOKEN_PATTERN,
        "stop_words": None if stop_words == "none" else stop_words,
        "ngram_range": (1, ngrams),
    }
    if weights == "tfidf":
        vectoriser = module.TfidfVectorizer(norm=None, **choices)
    else:
        vectoriser = module.CountVectorizer(binary=weights == "binary", **choices)
    try:
        matrix = vectoriser.fit_transform(texts)
    except ValueError:  # the only one that plain texts can bring about
        raise DataError(
            "no text holds a word of two letters or more besides the stop words; give other texts"
        ) from None
    reading = {
        "vectoriser": type(vectoriser).__name__,
        "weights": weights,
        "stop_words": stop_words,
        "token_pattern": _TOKEN_PATTERN,
        "lowercase": True,
        "ngrams": ngrams,
    }
    made = Sparse.from_csr(matrix, names=[str(name) for name in vectoriser.get_feature_names_out()])
    return replace(made, source=replace(source, reading=reading))


def folder_texts(path: str | os.PathLike[str]) -> tuple[list[str], list[str] | None, tuple[str, ...]]:
    """The text of each file of a folder in the order of their paths, its class, and what was done to them.

    The class is the name of the subfolder. Files may also stand in the folder itself, all of them: then there are no
    classes. Names that begin with a dot are passed over.

    Raises
    ------
    DataError
        If there are no files, files at different depths, or one that is no text.
    """
    where = Path(path)
    try:
        visible = sorted(p for p in where.iterdir() if not p.name.startswith("."))
        folders = [p for p in visible if p.is_dir()]
        if folders and len(folders) < len(visible):
            raise DataError(
                f"{where}: holds both files and folders; put the files of each class into a folder of its own"
            )
        found = [sorted(p for p in f.iterdir() if not p.name.startswith(".")) for f in folders] or [visible]
    except OSError as error:
        raise DataError(f"{where}: cannot be read ({error.strerror or 'input error'})") from None
    files = [p for group in found for p in group]
    nested = next((p for p in files if p.is_dir()), None)
    if nested is not None:
        raise DataError(f"{nested}: is a folder inside the folder of a class; put the files there directly")
    if not files:
        raise DataError(f"{where}: the folder holds no files; there is nothing to read")
    notes: list[str] = []
    texts = [_one_text(p, notes) for p in files]
    told = tuple(f"{notes.count(note)} files: {note}" for note in sorted(set(notes)))
    return texts, [p.parent.name for p in files] if folders else None, told


def _one_text(path: Path, notes: list[str]) -> str:
    try:
        if path.is_file() and not path.read_bytes().strip():
            notes.append("blank, so records without attributes")
            return ""
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or 'input error'})") from None
    text = load_text(path)
    notes.extend(text.notes)
    return text.data.decode()
