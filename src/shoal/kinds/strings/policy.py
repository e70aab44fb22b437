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
    support = 5
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from shoal.data.strings.alphabets import KNOWN, LEARNED
from shoal.data.strings.blocks import IN_BLOCKS
from shoal.data.tables.header import Header
from shoal.models.k_anonymity import KAnonymity
from shoal.policy import (
    BasePolicy,
    Option,
    Strict,
    header_option,
    named_in,
    option,
    person_option,
    refuse_bound,
    size_in_bytes,
)
from shoal.registry import Registry

if TYPE_CHECKING:
    from typing_extensions import Self

    from shoal.data.strings.format import StringFormat
    from shoal.kinds.strings.profile import StringProfile
    from shoal.kinds.strings.release import StringRelease


def alphabet_of(text: str | None) -> str | tuple[str, ...] | None:
    """An alphabet as an option gives it: a name, or symbols with commas between, or characters without.

    >>> alphabet_of("dna"), alphabet_of("ACGT"), alphabet_of("home,cart,pay")
    ('dna', 'ACGT', ('home', 'cart', 'pay'))
    """
    if text is None or text.casefold() in (*KNOWN, LEARNED) or "," not in text:
        return text
    return tuple(symbol.strip() for symbol in text.split(",") if symbol.strip())


def formats() -> Registry[StringFormat]:
    """Every file format of strings, by its name."""
    from shoal.data.strings.format import FORMATS

    return FORMATS


class StringInput(Strict):
    """How the file is read; what is None is told by its content. See `shoal.data.strings.files.read_strings`."""

    format: Annotated[str | None, named_in(formats, or_none=True)] = option(
        None, "Format of the strings.", instead="detected", names=formats
    )
    label: str | None = option(
        None, "Regular expression with one group, which finds the class in a FASTA description.", metavar="REGEX"
    )
    column: str | None = option(None, "Column of a table that holds the strings.", metavar="COLUMN")
    class_column: str | None = option(None, "Column of a table that holds their classes.", metavar="COLUMN")
    alphabet: str | tuple[str, ...] | None = option(
        None,
        "What may occur: protein, dna, rna, learned, or the symbols, with commas between tokens.",
        instead="guessed",
        metavar="SYMBOLS",
        parse=alphabet_of,
    )
    delimiter: str | None = option(None, "Character between tokens.", instead="blanks")
    header: Header | None = header_option()
    person: tuple[str, ...] = person_option()
    time: str | None = option(None, "Column of a table of events with the time.", metavar="COLUMN")
    columns: tuple[str, ...] = option(
        (), "Columns of a table whose rows are strings, by name or pattern such as rs*.", metavar="COLUMNS"
    )

    @field_validator("person", "columns", mode="before")
    @classmethod
    def _one_or_several(cls, person: Any) -> Any:
        return (person,) if isinstance(person, str) else person


class StringMethod(Strict):
    """How pseudo-strings are made. See `shoal.strings.Condensation`."""

    eps: float = option(1.5, "Lengths in a group differ by a factor of 1 + eps at most.", ge=0, lt=1e6)
    order: int = option(2, "A symbol depends on order - 1 symbols before it.", ge=1)
    support: int = option(5, "How many strings of a group must share what a symbol depends on.", ge=1)
    generator: Literal["window", "template", "markov"] = option(
        "window",
        "Symbols are drawn from windows of the group's strings, from their templates as in the papers, or after the "
        "symbol before from all strings of the class (markov).",
    )
    window: float = option(
        0.05, "Share of a string to either side of a place from which its symbols are drawn.", gt=0, le=0.5
    )
    lengths: Literal["template", "spread"] = option(
        "spread", "One length for each segment (template), or lengths from between those of the group (spread)."
    )
    homogenize: Literal["optimal", "greedy"] = option(
        "optimal", "Leave out as few strings as possible for their lengths, or as many as the paper does (greedy)."
    )
    rare: int | None = option(
        None,
        "Symbols that fewer strings of a class hold are not shown, nor pairs of them drawn from the class.",
        instead="k, or 1 where support is 1",
        ge=1,
    )
    copies: Literal["redraw", "allow"] = option(
        "redraw", "Whether a pseudo-string that equals an original held by fewer than k is drawn again, or kept."
    )
    unaligned: Literal["refuse", "accept"] = option(
        "refuse",
        "Whether strings that are nearly the same but differ in length are refused until they are aligned, or taken as "
        "they are.",
    )
    suppression: float = option(
        0.1, "Share of strings that may be left out; more is refused.", metavar="SHARE", ge=0, le=1
    )


class StringPolicy(BasePolicy):
    """All that a release of strings is asked to be.

    Examples
    --------
    >>> policy = StringPolicy.of(k=10, order=3)
    >>> policy.k, policy.method.order, policy.rare
    (10, 3, 10)
    """

    noun: ClassVar[str] = "strings"
    plural: ClassVar[str] = "strings"
    surely: ClassVar[str] = "FASTA, VCF"
    arguments: ClassVar[tuple[Option, ...]] = (Option("k", int, "Groups of at least k.", is_common=True),)

    kind: Literal["strings"] = "strings"
    input: StringInput = Field(StringInput(), description="How a file is read.")
    require: tuple[KAnonymity, ...] = Field((KAnonymity(k=20),), description="The guarantee.")
    method: StringMethod = Field(StringMethod(), description="How pseudo-strings are made.")
    memory: str | None = option(
        None,
        "Read FASTA or lines in blocks, and never hold all strings, in about this much memory, such as 2GB; drawn from "
        "windows alone.",
        instead="hold the strings",
        metavar="SIZE",
    )

    @model_validator(mode="after")
    def _can_be_bounded(self) -> Self:
        if self.memory is None:
            return self
        refuse_bound(self.memory)
        reading = self.input
        asked = {
            f'generator = "{self.method.generator}"': self.method.generator != "window",
            f'format = "{reading.format}"': reading.format not in (None, *IN_BLOCKS),
            "a column": reading.column is not None or reading.class_column is not None,
            "columns": bool(reading.columns),
            "events of a person": bool(reading.person) or reading.time is not None,
            "a header": reading.header is not None,
        }
        refused = [what for what, is_refused in asked.items() if is_refused]
        if refused:
            raise ValueError(
                f"{refused[0]} needs all strings in memory: leave memory out, or take FASTA, one string a line or one "
                'sequence of tokens a line, and draw from windows (generator = "window")'
            )
        return self

    @property
    def n_bytes(self) -> int | None:
        """The bound on memory in bytes; None without one."""
        return size_in_bytes(self.memory)

    @field_validator("require")
    @classmethod
    def _one(cls, require: tuple[KAnonymity, ...]) -> tuple[KAnonymity, ...]:
        if len(require) != 1:
            raise ValueError("of strings one guarantee is required, k-anonymity")
        return require

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

    def changed(self, *, k: int | None = None, **values: Any) -> Self:
        """The same policy with some things asked otherwise.

        Parameters
        ----------
        k : int, optional
            Fewest strings of a group.
        **values
            Keys of the policy, of its method or of its input, such as ``order=3`` or ``column="sequence"``.
        """
        if k is not None:
            values["require"] = ({"model": "k-anonymity", "k": k},)
        return super().changed(**values)

    def told(self) -> dict[str, Any]:
        """All parameters of the method, for the manifest."""
        return {"name": "condensation"} | self.method.model_dump() | {"rare": self.rare}
