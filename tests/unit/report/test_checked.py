"""What pages say of a guarantee that was checked."""

from shoal.check.guarantee import Guarantee
from shoal.report.checked import named, recomputed


def held(model: str, **required: float) -> Guarantee:
    return Guarantee(model, "", "", required, 5.0, True, 1, 0, (), "It holds.")


def test_names_take_what_was_required() -> None:
    names = {"km-anonymity": "{k}^{m}-anonymity"}
    assert named(held("km-anonymity", k=5, m=2), names) == "5^2-anonymity"
    assert named(held("km-anonymity", k=1000, m=2), names) == "1,000^2-anonymity"


def test_what_was_not_required_is_called_by_its_name() -> None:
    assert named(held("km-anonymity", k=5), {"km-anonymity": "{k}^{m}-anonymity"}) == "5^m-anonymity"


def test_a_model_without_a_name_of_its_own() -> None:
    assert named(held("no-copies"), {}) == "no-copies"


def test_only_what_can_be_repeated_by_anybody_is_not_called_the_owners() -> None:
    assert "Without the original nobody can recompute it." in recomputed(", the original and the key")
    assert "nobody" not in recomputed("", publicly=True)
