"""Records published while they come in: every one at most a given delay later, in a class of at least k persons."""

from shoal.verb import make_verb

make_verb(__name__, "shoal.stream.stream")
