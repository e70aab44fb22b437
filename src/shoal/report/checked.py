"""What pages of every kind say of a guarantee that was checked: its name, and what the check rests on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from shoal.report.tables.words import number

if TYPE_CHECKING:
    from shoal.check.guarantee import Guarantee


def named(guarantee: Guarantee, names: Mapping[str, str]) -> str:
    """What a guarantee is called, with what was required of it in the place of each ``{name}``.

    >>> from shoal.check.guarantee import Guarantee
    >>> held = Guarantee("no-copies", "", "", {"k": 20.0}, 0.0, True, 1, 0, (), "None is a copy.")
    >>> named(held, {"no-copies": "no copies of what fewer than {k} hold"})
    'no copies of what fewer than 20 hold'
    >>> named(held, {})
    'no-copies'
    """
    values = {n: number(v, 4) for n, v in guarantee.required.items()}
    return names.get(guarantee.model, guarantee.model).format_map(_Known(values))


def recomputed(sources: str, *, publicly: bool = False) -> str:
    """What a check was made from: what else was read besides the published bytes, and who may repeat it.

    >>> recomputed(" and the original")[:76]
    'Every guarantee was recomputed from the bytes of the published file and the '
    """
    who = "" if publicly else " Without the original nobody can recompute it."
    return (
        f"Every guarantee was recomputed from the bytes of the published file{sources}, by a checker that is "
        f"independent of the method.{who}"
    )


class _Known(dict[str, str]):
    """Values by name; what is not known is called by its name."""

    def __missing__(self, name: str) -> str:
        return name
