"""A CITATION.cff of the release; see the Citation File Format, version 1.2.0."""

from __future__ import annotations

import json

from shoal.metadata.description import Description


def citation(told: Description) -> str:
    """The file; texts stand as JSON does, which YAML reads."""
    context = told.context
    who = context.get("contact", "The owner of the data")
    lines = [
        "cff-version: 1.2.0",
        "message: Please cite these data as below.",
        "type: dataset",
        f"title: {_text(told.title)}",
        f"abstract: {_text(told.text)}",
        "authors:",
        f"  - name: {_text(who)}",
    ]
    if "date" in context:
        lines.append(f"date-released: {context['date']}")
    if "licence" in context:
        lines.append(f"license: {_text(context['licence'])}")
    return "\n".join([*lines, ""])


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=True)
