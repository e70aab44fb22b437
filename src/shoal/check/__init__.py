"""Every guarantee recomputed from what would be published; imports nothing from the methods that made it."""

from shoal.check.classes import Classes, classes_of
from shoal.check.guarantee import Guarantee, WorstClass
from shoal.check.risk import Risk, population_sizes, risk_of
from shoal.check.verify import verify

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
