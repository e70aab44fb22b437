"""Pictures without styles, whose points can be followed."""

from __future__ import annotations

from shoal.studio.pictures import risk_and_loss, without_styles


def test_no_style_is_left() -> None:
    cells = [
        {"risk": 0.1, "loss": 0.2, "frontier": True, "told": "<script>alert(1)</script> with k = 5"},
        {"risk": 0.05, "loss": 0.4, "frontier": False, "told": "mdav"},
        {"risk": None, "loss": None, "frontier": False, "told": "infeasible"},
    ]
    drawn = str(risk_and_loss(cells, "risk", "loss"))
    assert "style=" not in drawn
    assert "<script" not in drawn
    assert drawn.count('class="point"') == 2
    assert 'href="#cell-1"' in drawn
    assert risk_and_loss(cells[2:], "risk", "loss") == ""


def test_only_colours_become_attributes() -> None:
    assert without_styles('<g style="fill:url(x);behavior:url(y)">') == '<g fill="url(x)">'
