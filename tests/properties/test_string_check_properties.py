"""Whatever the method makes of whatever strings, its check finds nothing to object to; what is measured is bounded."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.check.strings.verbatim import verbatim
from shoal.check.strings.verify import StringAsked, StringEvidence, verify_strings
from shoal.data.strings.strings import Strings
from shoal.errors import Infeasible
from shoal.strings import Condensation

FEW = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@FEW
@given(
    texts=st.lists(st.text("abcd", max_size=12), min_size=4, max_size=40),
    has_classes=st.booleans(),
    as_tokens=st.booleans(),
    k=st.integers(2, 6),
    order=st.integers(1, 4),
    support=st.integers(1, 4),
    rare=st.integers(1, 4),
    eps=st.sampled_from([0.0, 0.15, 1.5]),
    lengths=st.sampled_from(["template", "spread"]),
    generator=st.sampled_from(["window", "template", "markov"]),
    window=st.sampled_from([0.05, 0.2, 0.5]),
)
def test_condensed_strings_pass_their_check(
    texts, has_classes, as_tokens, k, order, support, rare, eps, lengths, generator, window
):
    labels = ["odd" if i % 3 else "even" for i in range(len(texts))] if has_classes else None
    strings = Strings.of([list(t) for t in texts] if as_tokens else texts, labels)
    method = Condensation(k, eps, order, support, lengths, 0, rare=rare, workers=1, generator=generator, window=window)
    try:
        published = method.fit_transform(strings)
    except Infeasible:
        return
    if not len(published):
        return
    known = np.concatenate([np.full(s.n_groups, s.length) for s in method.segments_])
    asked = StringAsked(
        k,
        eps,
        order,
        support,
        rare,
        lengths,
        near_copies=len(published),
        generator=generator,
        window=window,
    )
    evidence = StringEvidence(strings, method.labels_, method.pseudo_.groups, known if lengths == "spread" else None)
    verdict = verify_strings(published, asked, evidence)
    assert [g.sentence for g in verdict.guarantees if not g.holds] == []
    assert verdict.holds
    if len(published.symbols):
        found = verbatim(published, strings, widths=(2,))
        assert sum(found.published.histogram) == len(published)
        assert found.published.longest <= int(published.lengths.max())


@FEW
@given(
    texts=st.lists(st.text("ab", min_size=1, max_size=9), min_size=1, max_size=12),
    begin=st.integers(0, 8),
    size=st.integers(1, 9),
)
def test_a_part_of_an_original_stands_in_it(texts, begin, size):
    part = texts[0][begin : begin + size]
    if part:
        found = verbatim(Strings.of([part]), Strings.of(texts), widths=(len(part),)).published
        assert (found.longest, found.n_whole) == (len(part), 1)
        assert found.unique[len(part)] == float(sum(part in t for t in texts) == 1)
