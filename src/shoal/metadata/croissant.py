"""Croissant 1.1: what machine learning reads; see the specification of MLCommons."""

from __future__ import annotations

from typing import Any

from shoal.metadata.description import Description

CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "arrayShape": "cr:arrayShape",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_TYPES = {"number": "sc:Float", "text": "sc:Text"}


def croissant(told: Description) -> dict[str, Any]:
    """The document."""
    files = [
        {
            "@type": "cr:FileObject",
            "@id": name,
            "name": name,
            "contentUrl": name,
            "encodingFormat": told.media_type(name),
            "sha256": digest,
        }
        for name, digest in told.files.items()
    ]
    sets = [
        {
            "@type": "cr:RecordSet",
            "@id": f"records-{i}",
            "name": f"records-{i}",
            "field": [
                {
                    "@type": "cr:Field",
                    "@id": f"records-{i}/{j}",
                    "name": column,
                    "dataType": _TYPES[kind],
                    "source": {"fileObject": {"@id": name}, "extract": {"column": column}},
                }
                for j, (column, kind) in enumerate(columns.items())
            ],
        }
        for i, (name, columns) in enumerate(told.columns.items())
    ]
    context = told.context
    optional = {
        "license": context.get("licence"),
        "datePublished": context.get("date"),
        "creator": {"@type": "Organization", "name": context["contact"]} if "contact" in context else None,
    }
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": told.title,
        "description": told.text,
        **{name: value for name, value in optional.items() if value is not None},
        "rai:dataManipulationProtocol": told.method,
        "distribution": files,
        **({"recordSet": sets} if sets else {}),
    }
