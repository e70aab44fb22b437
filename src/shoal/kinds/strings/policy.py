"""What the user asks for of strings: one small object, equally a TOML file.

::

    kind = "strings"
    [input]
    label = "OX=(\\d+)"
    [[require]]
    model = "k-anonymity"
    k = 20
    [method]
    eps = 1.5
    order = 2
    support = 3
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, ValidationError, field_validator

from shoal.data.strings.alphabets import KNOWN, LEARNED
from shoal.data.tables.header import Header
from shoal.errors import PolicyError
from shoal.kinds.tables.policy import KAnonymity, Strict, explain, read_toml

if TYPE_CHECKING:
    from shoal.kinds.strings.profile import StringProfile
    from shoal.kinds.strings.release import StringRelease


class StringInput(Strict):
    """How the file is read; what is None is told by its content. See `shoal.data.strings.files.read_strings`."""

    format: Literal["fasta", "lines", "tokens", "spmf", "column"] | None = None
    label: str | None = None
    column: str | None = None
    class_column: str | None = None
    alphabet: str | tuple[str, ...] | None = None
    delimiter: str | None = None
    header: Header | None = None


class StringMethod(Strict):
    """How pseudo-strings are made. See `shoal.strings.Condensation`."""

    eps: float = Field(default=1.5, ge=0, lt=1e6)
    order: int = Field(default=2, ge=1)
    support: int = Field(default=3, ge=1)
    lengths: Literal["template", "spread"] = "spread"
    homogenize: Literal["optimal", "greedy"] = "optimal"
    rare: int | None = Field(default=None, ge=1)
    copies: Literal["redraw", "allow"] = "redraw"


class StringPolicy(Strict):
    """All that a release of strings is asked to be.

    Examples
    --------
    >>> policy = StringPolicy.of(k=10, order=3)
    >>> policy.k, policy.method.order, policy.rare
    (10, 3, 10)
    """

    kind: Literal["strings"] = "strings"
    input: StringInput = StringInput()
    require: tuple[KAnonymity, ...] = (KAnonymity(k=20),)
    method: StringMethod = StringMethod()

    @field_validator("require")
    @classmethod
    def _one(cls, require: tuple[KAnonymity, ...]) -> tuple[KAnonymity, ...]:
        if len(require) != 1:
            raise ValueError("of strings one guarantee is required, k-anonymity")
        return require

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise PolicyError(explain(error, "the policy", known_keys=_known_keys)) from error

    @property
    def k(self) -> int:
        """Fewest strings of a group."""
        return self.require[0].k

    @property
    def rare(self) -> int:
        """How many strings of a class must hold a symbol that is shown: by default k, or 1 where `support` is 1."""
        if self.method.rare is not None:
            return self.method.rare
        return 1 if self.method.support == 1 else self.k

    if TYPE_CHECKING:

        def _release(self) -> StringRelease: ...

        def _profile(self) -> StringProfile: ...

    @classmethod
    def of(cls, **asked: Any) -> StringPolicy:
        """Write a policy in one line; see `changed` for what can be asked."""
        return cls().changed(**asked)

    def changed(self, *, k: int | None = None, **values: Any) -> StringPolicy:
        """The same policy with some things asked otherwise.

        Parameters
        ----------
        k : int, optional
            Fewest strings of a group.
        **values
            Keys of the policy, of its method or of its input, such as ``order=3`` or ``column="sequence"``.
        """
        whole = StringPolicy(input=values.pop("input", {}), method=values.pop("method", {}))
        method = self.method.model_dump() | whole.method.model_dump(exclude_unset=True)
        given = self.input.model_dump() | whole.input.model_dump(exclude_unset=True)
        method |= {n: values.pop(n) for n in list(values) if n in StringMethod.model_fields}
        given |= {n: values.pop(n) for n in list(values) if n in StringInput.model_fields}
        require: Any = values.pop("require", self.require)
        if k is not None:
            require = ({"model": "k-anonymity", "k": k},)
        return StringPolicy(**{"require": require, "method": method, "input": given, **values})

    def told(self) -> dict[str, Any]:
        """All parameters of the method, for the manifest."""
        return {"name": "condensation"} | self.method.model_dump() | {"rare": self.rare}

    @classmethod
    def read(cls, path: str | Path) -> StringPolicy:
        """Read a TOML file."""
        return cls.from_content(*read_toml(path), Path(path))

    @classmethod
    def from_content(cls, content: dict[str, Any], text: str, path: Path) -> StringPolicy:
        """From what `read_toml` read."""
        if (kind := content.get("kind", "table")) in ("table", "sparse"):
            what = "a table" if kind == "table" else "sparse records"
            raise PolicyError(f'{path} is a policy for {what}; ask for kind = "strings" if it is meant for strings')
        try:
            return cls(**content)
        except PolicyError as error:
            if isinstance(error.__cause__, ValidationError):
                raise PolicyError(explain(error.__cause__, str(path), text, _known_keys)) from None
            raise


def alphabet_of(text: str | None) -> str | tuple[str, ...] | None:
    """An alphabet as an option gives it: a name, or symbols with commas between, or characters without.

    >>> alphabet_of("dna"), alphabet_of("ACGT"), alphabet_of("home,cart,pay")
    ('dna', 'ACGT', ('home', 'cart', 'pay'))
    """
    if text is None or text.casefold() in (*KNOWN, LEARNED) or "," not in text:
        return text
    return tuple(symbol.strip() for symbol in text.split(",") if symbol.strip())


def _known_keys(location: Sequence[int | str]) -> list[str]:
    head = location[0] if location else ""
    if len(location) > 1 and head == "method":
        return list(StringMethod.model_fields)
    if len(location) > 1 and head == "input":
        return list(StringInput.model_fields)
    return list(KAnonymity.model_fields if len(location) > 1 and head == "require" else StringPolicy.model_fields)
