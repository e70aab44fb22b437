"""Pseudonyms: one secret-keyed name a person, which ties the published records of a person together and nothing else.

A pseudonym is HMAC-SHA-256 of what names the person in the original, under a key of 32 bytes that is new for each
release: without the key a pseudonym is like random digits, and names cannot be tried out. It is cut to 64 bits, a
letter and 16 digits, which keeps files small; that two persons got the same one is looked for, and another key is
drawn then, so it cannot be. The pseudonyms of two releases have nothing to do with each other.

**Guarantee**: none of its own. Whoever knows all records of a person by their quasi-identifiers still finds k
pseudonyms, because histories are alike (`shoal.tables.history`), which is why there are no pseudonyms without that.

**Not protected**: what is published as it is, in all records of a person taken together.

References
----------
H. Krawczyk, M. Bellare, R. Canetti, "HMAC: keyed-hashing for message authentication", RFC 2104, 1997; M. Bellare, "New
proofs for NMAC and HMAC: security without collision-resistance", CRYPTO 2006 (it is a pseudorandom function).
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import Bytes, Ints, Words
from shoal.check.tables.shift import dates_beside
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.moments import moments_of
from shoal.data.tables.persons import person_codes
from shoal.data.tables.table import Column, Table, encode_cells
from shoal.errors import PolicyError
from shoal.secrets import KEY_BYTES
from shoal.tables.record_order import content_order

if TYPE_CHECKING:
    from shoal.kinds.tables.policy import Policy
    from shoal.tables.anonymize import Anonymized

STEP = 2**31 + 3  # of the seed
PSEUDONYM_BYTES = 8


@dataclass(frozen=True)
class PersonSecrets:
    """What a key makes of persons.

    Attributes
    ----------
    key : bytes
        Of this release. Secret.
    digests : uint8 array (n_persons, 32)
        The first bytes of each are the pseudonym; what follows is secret.
    """

    key: bytes
    digests: Bytes

    @classmethod
    def of(cls, persons: Sequence[Sequence[str]], seed: int | None) -> PersonSecrets:
        """Draw a key, and another until all persons have pseudonyms of their own.

        Parameters
        ----------
        persons : sequence of sequences of str
            What names each person, all of them different.
        seed : int or None
            None takes the operating system's entropy. A key from a seed is as secret as the seed.
        """
        messages = [b"".join(len(t).to_bytes(8, "little") + t for t in map(str.encode, names)) for names in persons]
        for attempt in count():
            key = _new_key(seed, attempt)
            made = b"".join(hmac.digest(key, message, "sha256") for message in messages)
            found = cls(key, np.frombuffer(made, dtype=np.uint8).reshape(len(messages), -1))
            if len(np.unique(found._numbers)) == len(messages):
                return found
        raise AssertionError("counting ends nowhere")

    @property
    def _numbers(self) -> Words:
        return np.ascontiguousarray(self.digests[:, :PSEUDONYM_BYTES]).view(">u8")[:, 0]

    def offsets(self, shift_days: int) -> Ints:
        """The number of days by which the dates of each person move: any from -shift_days to shift_days, 0 too.

        Each is as likely as any other, but for one part in 2**47. They are bytes of the same digests that the
        pseudonyms do not show.
        """
        drawn = np.ascontiguousarray(self.digests[:, PSEUDONYM_BYTES : PSEUDONYM_BYTES + 8]).view(">u8")[:, 0]
        return np.asarray((drawn % np.uint64(2 * shift_days + 1)).astype(np.int64) - shift_days)

    def column(self, name: str, persons: Ints) -> Column:
        """The pseudonyms of some records, given whose each is."""
        texts = np.array([f"p{number:0{2 * PSEUDONYM_BYTES}x}" for number in self._numbers.tolist()], dtype=object)
        return encode_cells(name, texts[persons])


def _new_key(seed: int | None, attempt: int) -> bytes:
    if seed is None:
        return secrets.token_bytes(KEY_BYTES)
    drawn = np.random.SeedSequence(seed, spawn_key=(STEP, attempt)).generate_state(KEY_BYTES // 4, np.uint32)
    return drawn.astype("<u4").tobytes()


def named_persons(table: Table, person: Sequence[str]) -> tuple[list[tuple[str, ...]], Ints]:
    """What names each person of a table, as it is spelled, and whose each row is."""
    codes = person_codes(table, person)
    first = np.unique(codes, return_index=True)[1]
    cells = [np.array(table[n].texts(), dtype=object)[table[n].codes[first]] for n in person]
    return list(zip(*(column.tolist() for column in cells), strict=True)), codes


def refuse_dates_beside(attributes: Mapping[str, Attribute], policy: Policy, is_shifted: bool, of: str = "") -> None:
    """Refuse to publish dates as they are beside dates that are moved, in this table or in one linked with it."""
    for name in dates_beside(attributes, policy.shifted, is_shifted):
        raise PolicyError(
            f"{name!r}{of} holds dates and would be published as they are; beside them it shows by how many days "
            "others were moved: move it too (shift), give it the role quasi or identifying, or move none"
        )


def with_pseudonyms(made: Anonymized, original: Table, policy: Policy, seed: int | None) -> Anonymized:
    """Tie the published records of each person together, in an order that tells nothing but what is published.

    Days that are to be moved are moved, all those of a person by one number.
    """
    names, persons = named_persons(original, policy.person)
    drawn = PersonSecrets.of(names, seed)
    whose = persons[made.rows]
    column = drawn.column(policy.pseudonym, whose)
    columns = {**made.table.columns, column.name: column}
    offsets = drawn.offsets(policy.shift_days)[whose]
    columns |= {n: moments_of(columns[n]).moved(columns[n], offsets) for n in policy.shifted}
    table = replace(made.table, columns={n: columns[n] for n in original.names if n in columns})
    quasi = [n for n, a in made.attributes.items() if a.role == "quasi"]
    final = content_order(table, quasi, table.names)
    return replace(made, table=table.take(final), rows=made.rows[final], groups=made.groups[final], key=drawn.key)
