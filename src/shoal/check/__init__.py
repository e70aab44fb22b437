"""Every guarantee recomputed from what would be published; imports nothing from the methods that made it."""

from shoal.check.guarantee import Guarantee, WorstClass
from shoal.check.tables.classes import Classes, classes_of
from shoal.check.tables.risk import Risk, population_sizes, risk_of
from shoal.check.tables.verify import verify
from shoal.verb import make_verb

__all__ = [
    "Classes",
    "Guarantee",
    "Risk",
    "WorstClass",
    "classes_of",
    "population_sizes",
    "risk_of",
    "verify",
]

make_verb(__name__)
