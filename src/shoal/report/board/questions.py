"""Which question each attack answers: those of WP29 opinion 05/2014, and whether somebody is in the data at all.

References
----------
Article 29 Data Protection Working Party, Opinion 05/2014 on Anonymisation Techniques, WP 216, section 2.2.2.
"""

from __future__ import annotations

SINGLING_OUT, LINKABILITY, INFERENCE, MEMBERSHIP = "singling out", "linkability", "inference", "membership"
MEANINGS = {
    SINGLING_OUT: "Can some or all records of one individual be isolated?",
    LINKABILITY: "Can two records of the same individual be linked, within this release or with another file?",
    INFERENCE: "Can the value of an attribute be deduced from others, much better than by chance?",
    MEMBERSHIP: "Can an attacker tell whether somebody is in the data?",
}
_ATTACKS = {
    SINGLING_OUT: """singling-out singling-out-univariate uniqueness known-items known-points home-and-work top-places
        unique-fragments copies basket-copies long-fragment linked-quasi linked-rows own-rows""",
    LINKABILITY: """linkability linkage linkage-partial linkage-rank intersection intersection-candidates
        fragment-linkage neighbour-linkage rarest-pair partition-replay learned-linkage recovery next-piece""",
    INFERENCE: """inference inference-bayes history homogeneity skewness similarity minimality column-join downcoding
        label-ends one-more-item rare-item linear-estimate matching-pursuit recovery-programme known-pairs length
        linked-secret genotype-recovery""",
    MEMBERSHIP: """membership nearest-baskets group-membership place-membership fragment-membership
        share-tracing shadow-membership several-releases holes echoes""",
}
QUESTIONS = {name: question for question, names in _ATTACKS.items() for name in names.split()}


def question_of(attack: str) -> str:
    """The question that an attack answers; one that is not known here is taken to infer something.

    >>> question_of("linkage"), question_of("one-of-tomorrow")
    ('linkability', 'inference')
    """
    return QUESTIONS.get(attack, INFERENCE)
