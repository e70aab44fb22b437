"""Many releases of the same data, made in memory and let go: what risk each would leave and what it would cost."""

from shoal.verb import make_verb

make_verb(__name__, "shoal.sweep.sweep")
