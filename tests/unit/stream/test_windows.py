"""What is said of a record that cannot be read."""

from __future__ import annotations

from shoal.errors import DataError
from shoal.stream.windows import BadRecord


def test_a_bad_record_has_a_number() -> None:
    error = BadRecord(1234, "column 'age' holds no number")
    assert isinstance(error, DataError)
    assert (error.number, str(error)) == (1234, "record 1,234: column 'age' holds no number")
