"""The kinds of data and their policies: which one a file means, and which one a source needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from shoal.errors import DataError, PolicyError
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.kinds.strings.policy import StringPolicy
from shoal.kinds.tables.policy import Policy
from shoal.policy import BasePolicy, read_toml

AnyPolicy = Policy | StringPolicy | SparsePolicy

KINDS: dict[str, type[BasePolicy]] = {"table": Policy, "strings": StringPolicy, "sparse": SparsePolicy}
DEFAULT_KIND = "table"
"""What data is, and what a policy is for, where nothing says otherwise."""


def policy_class(content: dict[str, Any]) -> type[BasePolicy] | None:
    """What the content of a policy file is for; None if it names a kind that does not exist."""
    kind = content.get("kind", DEFAULT_KIND)
    return KINDS.get(kind) if isinstance(kind, str) else None


def read_policy(path: str | Path) -> AnyPolicy:
    """Read a policy file of whatever kind it says to be."""
    content, text = read_toml(path)
    policy = (policy_class(content) or KINDS[DEFAULT_KIND]).from_content(content, text, Path(path))
    return cast(AnyPolicy, policy)


def empty_policy(kind: str) -> AnyPolicy:
    """The defaults for a kind of data."""
    return cast(AnyPolicy, KINDS[kind].of())


def kind_of(source: Any) -> str:
    """The kind that a source holds for sure; a table where nothing says otherwise.

    FASTA and SPMF files, `Strings` and lists are strings; SVMlight files, `Sparse` and sparse matrices are
    sparse records.
    """
    if isinstance(source, str | Path):
        from shoal.data.sparse.files import looks_like_sparse
        from shoal.data.strings.files import looks_like_strings

        if looks_like_strings(source) is not None:
            return "strings"
        return "sparse" if looks_like_sparse(source) else "table"
    from shoal.data.sparse.records import Sparse
    from shoal.data.strings.strings import Strings

    if isinstance(source, Sparse) or (hasattr(source, "tocsr") and hasattr(source, "nnz")):
        return "sparse"
    if isinstance(source, Strings):
        return "strings"
    is_list = isinstance(source, list | tuple) and bool(source) and isinstance(source[0], str | list | tuple)
    return "strings" if is_list else "table"


def fitting_policy(source: Any, policy: AnyPolicy | None) -> AnyPolicy:
    """The policy for a source: the defaults of its kind where none is given; never a table's where it surely is none.

    Raises
    ------
    PolicyError
        If it is no policy, or if it is for a table and the source holds strings or sparse records.
    DataError
        If it is for a table and the file is none, and may hold strings or sparse records.
    """
    kind = kind_of(source)
    if policy is None:
        policy = empty_policy(kind)
    if not isinstance(policy, AnyPolicy):
        raise PolicyError(
            "the policy is not a Policy; make one with Policy.of(...), or read a file with Policy.read(path)"
        )
    if policy.kind == "table" and kind != "table":
        what = KINDS[kind].noun
        raise PolicyError(f'the data is {what}, and the policy is for a table; ask for kind = "{kind}", or give none')
    if policy.kind == "table" and isinstance(source, str | Path):
        from shoal.data.sparse.files import looks_like_item_lists

        if looks_like_item_lists(source):
            raise DataError(
                f"{source} holds lists of numbers of several lengths, not a table; read them as sets of items "
                "(--kind sparse, or a SparsePolicy) or as sequences (--kind strings --format tokens)"
            )
    return policy
