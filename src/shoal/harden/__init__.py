"""Hardening a policy: release after release in memory, attacked, until no attack adds more than a stated risk."""

from shoal.verb import make_verb

RISK = 0.09
MOST_STEPS = 80

make_verb(__name__, "shoal.harden.harden")
