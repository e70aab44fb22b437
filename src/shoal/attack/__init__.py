"""What an attacker still gets from a release: attacks that are run, not promised about.

Every attack is one module with one class. It is run on records that the release was made from (main), on records that
were not in it (control), and by guessing (baseline); what it gains beyond the control is the risk that a release adds.
"""

from shoal.verb import make_verb

make_verb(__name__)
