"""The files, by name, as a manifest says them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from shoal.metadata.citation import citation
from shoal.metadata.croissant import croissant
from shoal.metadata.dcat import dcat
from shoal.metadata.description import Description
from shoal.metadata.spdx import spdx

if TYPE_CHECKING:
    from shoal.manifest import Manifest

METADATA_FILES = ("croissant.json", "dcat.jsonld", "spdx.json", "CITATION.cff")


def metadata_files(manifest: Manifest) -> dict[str, str]:
    """What each file holds: the same manifest gives the same bytes."""
    told = Description.of(manifest)
    texts = (_json(croissant(told)), _json(dcat(told)), _json(spdx(told)), citation(told))
    return dict(zip(METADATA_FILES, texts, strict=True))


def _json(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
