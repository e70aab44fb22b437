"""Pages of the studio: templates filled in, everything that comes from data or files escaped."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.report.page import environment
from shoal.studio.words import SCREENS, VERBS, n_bytes

if TYPE_CHECKING:
    from jinja2 import Environment

STATIC = Path(__file__).parent / "static"
HTMX = "htmx-2.0.8.min.js"
HTMX_SHA256 = "22283ef68cb7545914f0a88a1bdedc7256a703d1d580c1d255217d0a50d31313"
"""Of the file as the npm registry has it in htmx.org 2.0.8; its licence lies beside it."""
HTMX_CONFIG = (
    '{"allowEval": false, "includeIndicatorStyles": false, "historyEnabled": false, "selfRequestsOnly": true, '
    '"responseHandling": [{"code": "204", "swap": false}, {"code": "[23]..", "swap": true}, '
    '{"code": "422", "swap": true, "error": false}, {"code": "...", "swap": false, "error": true}]}'
)
TYPES = {".css": "text/css", ".js": "text/javascript", ".txt": "text/plain", ".svg": "image/svg+xml"}


@cache
def _studio() -> Environment:
    made = environment("shoal.studio", "shoal.report")
    made.filters["n_bytes"] = n_bytes
    made.globals.update(screens=SCREENS, verbs=VERBS, htmx=HTMX, htmx_config=HTMX_CONFIG, zip=zip)
    return made


def render(template: str, **values: Any) -> str:
    """Fill a template in."""
    return _studio().get_template(template).render(**values)


def static_file(name: str) -> tuple[bytes, str] | None:
    """A file of ours that pages load, and its type; None where there is none of that name."""
    path = (Path(__file__).parent.parent / "report" / "templates" if name == "page.css" else STATIC) / name
    known = {p.name for p in STATIC.iterdir()} | {"page.css"}
    if name not in known or path.suffix not in TYPES:
        return None
    return path.read_bytes(), f"{TYPES[path.suffix]}; charset=utf-8"
