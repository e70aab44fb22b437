"""Kinds of data, one folder each: what a release can be asked to be, what is told of it, and the wiring."""

HOMES: dict[str, str] = {
    "table": "shoal.kinds.tables.kind",
    "strings": "shoal.kinds.strings.kind",
    "sparse": "shoal.kinds.sparse.kind",
    "linked": "shoal.kinds.linked.kind",
    "trajectories": "shoal.kinds.trajectories.kind",
}
"""Where each kind stands, as `KIND`. What no other recognises is of the first."""
