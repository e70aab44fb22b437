"""Everything that can go wrong, each with the exit code of the command line.

::

    ShoalError                      exit 1    the output cannot be written, a worker died, ...
      PolicyError                   exit 2    what was asked for is not understood
      DataError                     exit 3    the data cannot be read as asked
      Infeasible                    exit 4    the guarantee cannot be met; says what could be
      NotVerified                   exit 5    a release failed its own check; nothing was written
      MissingExtra                  exit 6    an optional package is not installed

A message is one sentence for a person: what is wrong, where, and what to do. It never quotes a record.
"""

from __future__ import annotations

from collections.abc import Iterable


class ShoalError(Exception):
    """Base of all errors that Shoal raises on purpose."""

    exit_code = 1


class PolicyError(ShoalError):
    """The policy is malformed or names something that does not exist."""

    exit_code = 2


class DataError(ShoalError):
    """The data has the wrong shape, type or encoding."""

    exit_code = 3


class Infeasible(ShoalError):
    """No release of this data can meet the requirement."""

    exit_code = 4


class NotVerified(ShoalError):
    """What would be published does not hold what was required."""

    exit_code = 5


class MissingExtra(ShoalError):
    """An optional dependency is needed and absent."""

    exit_code = 6


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """End of a message about an unknown name: the nearest known one, or all of them.

    >>> did_you_mean("agee", ["age", "zip"])
    "did you mean 'age'?"
    >>> did_you_mean("quasi-identifying", ["identifying", "quasi"])
    "did you mean 'quasi'?"
    >>> did_you_mean("salary", ["age", "zip"])
    "the choices are 'age', 'zip'"
    >>> did_you_mean("salary", ["zip"])
    'there is only one, with another name'
    """
    import difflib
    import re

    names = [str(n) for n in known]
    close = difflib.get_close_matches(str(name), names, n=1, cutoff=0.6)
    first_word = re.split(r"[\W_]", str(name))[0]
    if first_word in names:  # "quasi-identifying" is "quasi", though it has more letters of "identifying"
        close = [first_word]
    if not close:
        folded = {n.casefold(): n for n in names}
        close = [folded[c] for c in difflib.get_close_matches(str(name).casefold(), folded, n=1, cutoff=0.6)]
    if close:
        return f"did you mean {close[0]!r}?"
    if not names:
        return "there are none"
    if len(names) == 1:  # the "name" above the only column of a file may be a record
        return "there is only one, with another name"
    shown = ", ".join(repr(n) for n in names[:12])
    more = f" and {len(names) - 12} more" if len(names) > 12 else ""
    return f"the choices are {shown}{more}"
