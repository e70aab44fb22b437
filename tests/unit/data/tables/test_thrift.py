"""Structs are spelled as the specification of the compact protocol has them."""

from __future__ import annotations

import pytest

from shoal.data.tables.thrift import Long, struct, varint


@pytest.mark.parametrize(
    ("fields", "spelled"),
    [
        ({}, "00"),
        ({1: True, 2: False}, "11 12 00"),
        ({1: 0, 2: -1, 3: 1, 4: -2}, "15 00 15 01 15 02 15 03 00"),
        ({1: Long(150)}, "16 ac 02 00"),
        ({16: 1}, "05 20 02 00"),
        ({3: "é"}, "38 02 c3 a9 00"),
        ({1: {1: 1}}, "1c 15 02 00 00"),
        ({1: [1, 2]}, "19 25 02 04 00"),
        ({1: []}, "19 0c 00"),
        ({2: 7, 1: 7}, "15 0e 15 0e 00"),
    ],
)
def test_fields(fields: dict, spelled: str) -> None:
    assert struct(fields) == bytes.fromhex(spelled)


def test_long_lists_tell_their_length_apart() -> None:
    assert struct({1: ["a"] * 15}) == bytes.fromhex("19 f8 0f") + b"\1a" * 15 + b"\0"


@pytest.mark.parametrize("number", [0, 127, 128, 16_383, 16_384, 2**63])
def test_varints_are_read_back(number: int) -> None:
    spelled = varint(number)
    assert sum((byte & 0x7F) << 7 * i for i, byte in enumerate(spelled)) == number
    assert all(byte & 0x80 for byte in spelled[:-1])
    assert spelled[-1] < 0x80
