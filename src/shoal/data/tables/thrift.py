"""The compact protocol of Apache Thrift, as far as the metadata of a Parquet file needs it: writing alone.

References
----------
Apache Thrift, "Thrift compact protocol encoding" (doc/specs/thrift-compact-protocol.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_TRUE, _FALSE, _I32, _I64, _BINARY, _LIST, _STRUCT = 1, 2, 5, 6, 8, 9, 12


@dataclass(frozen=True)
class Long:
    """A number of 64 bits; a plain int is one of 32."""

    number: int


def struct(fields: Mapping[int, Any]) -> bytes:
    """Spell a struct: numbers of fields, ascending, and what they hold.

    A bool, an int (32 bits), a `Long`, a str or bytes, a mapping (again a struct) or a list of things of one type.

    >>> struct({1: 3, 2: "a"}).hex(" ")
    '15 06 18 01 61 00'
    """
    spelled, before = bytearray(), 0
    for number, held in sorted(fields.items()):
        kind = (_TRUE if held else _FALSE) if isinstance(held, bool) else _type(held)
        step = number - before
        spelled += bytes([step << 4 | kind]) if step <= 15 else bytes([kind]) + varint(_zigzag(number))
        if not isinstance(held, bool):
            spelled += _value(held)
        before = number
    return bytes(spelled) + b"\0"


def varint(number: int) -> bytes:
    """A number that is not negative, seven bits a byte, the lowest first.

    >>> varint(300).hex()
    'ac02'
    """
    spelled = bytearray()
    while number > 0x7F:
        spelled.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*spelled, number])


def _zigzag(number: int) -> int:
    return number << 1 if number >= 0 else (-number << 1) - 1


def _type(held: Any) -> int:
    if isinstance(held, Mapping):
        return _STRUCT
    if isinstance(held, str | bytes):
        return _BINARY
    if isinstance(held, int):
        return _I32
    return _I64 if isinstance(held, Long) else _LIST


def _value(held: Any) -> bytes:
    if isinstance(held, Mapping):
        return struct(held)
    if isinstance(held, str):
        held = held.encode()
    if isinstance(held, bytes):
        return varint(len(held)) + held
    if isinstance(held, Long):
        return varint(_zigzag(held.number))
    return varint(_zigzag(held)) if isinstance(held, int) else _listed(held)


def _listed(held: Sequence[Any]) -> bytes:
    kind = _type(held[0]) if held else _STRUCT
    size = bytes([len(held) << 4 | kind]) if len(held) < 15 else bytes([0xF0 | kind]) + varint(len(held))
    return size + b"".join(map(_value, held))
