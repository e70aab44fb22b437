"""Attacks on published tables; `TABLE_ATTACKS` are all of them, ready to be run on a `TableCase`."""

from __future__ import annotations

from shoal.attack.attack import Attack
from shoal.attack.tables.case import TableCase
from shoal.attack.tables.column_join import ColumnJoin
from shoal.attack.tables.downcoding import Downcoding
from shoal.attack.tables.homogeneity import Homogeneity, Similarity, Skewness
from shoal.attack.tables.inference import BayesInference, Inference
from shoal.attack.tables.intersection import Intersection
from shoal.attack.tables.label_ends import LabelEnds
from shoal.attack.tables.linkability import Linkability
from shoal.attack.tables.linkage import Linkage, PartialLinkage, RankLinkage
from shoal.attack.tables.membership import TableMembership
from shoal.attack.tables.minimality import Minimality
from shoal.attack.tables.partition_replay import PartitionReplay
from shoal.attack.tables.singling_out import SinglingOut, UnivariateSinglingOut
from shoal.attack.tables.uniqueness import Uniqueness

TABLE_ATTACKS: tuple[Attack[TableCase], ...] = (
    UnivariateSinglingOut(),
    SinglingOut(),
    Linkage(),
    PartialLinkage(),
    RankLinkage(),
    Linkability(),
    Inference(),
    BayesInference(),
    TableMembership(),
    Homogeneity(),
    Skewness(),
    Similarity(),
    ColumnJoin(),
    LabelEnds(),
    Downcoding(),
    Intersection(),
    Uniqueness(),
    PartitionReplay(),
    Minimality(),
)

__all__ = [
    "TABLE_ATTACKS",
    "BayesInference",
    "ColumnJoin",
    "Downcoding",
    "Homogeneity",
    "Inference",
    "Intersection",
    "LabelEnds",
    "Linkability",
    "Linkage",
    "Membership",
    "Minimality",
    "PartialLinkage",
    "PartitionReplay",
    "RankLinkage",
    "Similarity",
    "SinglingOut",
    "Skewness",
    "Uniqueness",
    "UnivariateSinglingOut",
]
