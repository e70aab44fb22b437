"""DCAT 3: what data portals harvest; see the recommendation of the W3C."""

from __future__ import annotations

from typing import Any

from shoal.metadata.description import Description


def dcat(told: Description) -> dict[str, Any]:
    """The document."""
    context = told.context
    optional = {
        "dct:license": context.get("licence"),
        "dct:issued": context.get("date"),
        "dct:source": context.get("source"),
        "dcat:contactPoint": {"@type": "vcard:Kind", "vcard:fn": context["contact"]} if "contact" in context else None,
        "dct:accessRights": context.get("release_model"),
    }
    return {
        "@context": {
            "dcat": "http://www.w3.org/ns/dcat#",
            "dct": "http://purl.org/dc/terms/",
            "prov": "http://www.w3.org/ns/prov#",
            "spdx": "http://spdx.org/rdf/terms#",
            "vcard": "http://www.w3.org/2006/vcard/ns#",
        },
        "@type": "dcat:Dataset",
        "dct:title": told.title,
        "dct:description": told.text,
        **{name: value for name, value in optional.items() if value is not None},
        "prov:wasGeneratedBy": {"@type": "prov:Activity", "dct:description": f"{told.method} (Shoal {told.version})"},
        "dcat:distribution": [
            {
                "@type": "dcat:Distribution",
                "dct:title": name,
                "dcat:mediaType": told.media_type(name),
                "spdx:checksum": {
                    "@type": "spdx:Checksum",
                    "spdx:algorithm": "spdx:checksumAlgorithm_sha256",
                    "spdx:checksumValue": digest,
                },
            }
            for name, digest in told.files.items()
        ],
    }
