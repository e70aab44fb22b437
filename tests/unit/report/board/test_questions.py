"""Every attack of every kind answers a question."""

from __future__ import annotations

from shoal.kind import kinds
from shoal.report.board.questions import INFERENCE, MEANINGS, QUESTIONS, question_of


def test_every_attack_has_its_question_and_every_question_its_attacks() -> None:
    names = {attack.name for kind in kinds() for attack in kind.attacks}
    assert names - set(QUESTIONS) == set()
    assert set(QUESTIONS) - names == set()
    assert set(QUESTIONS.values()) == set(MEANINGS)


def test_an_attack_that_is_not_known_yet_is_taken_to_infer() -> None:
    assert question_of("an-attack-of-tomorrow") == INFERENCE
