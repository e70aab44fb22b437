"""Attacks on published strings: whole copies, long and unique fragments, linkage by a fragment, membership."""

from shoal.attack.strings.best_matches import FragmentMembership, PlaceMembership
from shoal.attack.strings.copies import StringCopies
from shoal.attack.strings.fragment_linkage import FragmentLinkage
from shoal.attack.strings.genotype_recovery import GenotypeRecovery
from shoal.attack.strings.long_fragment import LongFragment
from shoal.attack.strings.membership import StringMembership
from shoal.attack.strings.near_strings import Echoes, Holes
from shoal.attack.strings.unique_fragments import UniqueFragments

STRING_ATTACKS = (
    StringCopies(),
    LongFragment(),
    UniqueFragments(),
    FragmentLinkage(),
    StringMembership(),
    PlaceMembership(),
    FragmentMembership(),
    Holes(),
    Echoes(),
    GenotypeRecovery(),
)
