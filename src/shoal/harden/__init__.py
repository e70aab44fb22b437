"""Hardening a policy: release after release in memory, attacked, until no attack adds more than a stated risk."""

from shoal.verb import make_verb

make_verb(__name__, "shoal.harden.harden")
