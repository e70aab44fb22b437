"""The dataset profile of SPDX 3, which names the method in `anonymizationMethodUsed`."""

from __future__ import annotations

from typing import Any

from shoal.metadata.description import Description


def spdx(told: Description) -> dict[str, Any]:
    """The document: one package, which is the dataset."""
    context = told.context
    creation = {"type": "CreationInfo", "@id": "_:creation", "specVersion": "3.0.1", "createdBy": ["_:shoal"]}
    if "date" in context:
        creation["created"] = f"{context['date']}T00:00:00Z"
    package: dict[str, Any] = {
        "type": "dataset_DatasetPackage",
        "spdxId": f"urn:sha256:{next(iter(told.files.values()))}",
        "creationInfo": "_:creation",
        "name": told.title,
        "description": told.text,
        "dataset_datasetType": ["structured"] if told.columns else ["other"],
        "dataset_anonymizationMethodUsed": [f"{told.method} (Shoal {told.version})"],
        "verifiedUsing": [
            {"type": "Hash", "algorithm": "sha256", "hashValue": digest, "comment": name}
            for name, digest in told.files.items()
        ],
    }
    if "licence" in context:
        package["copyrightText"] = context["licence"]
    agent = {
        "type": "SoftwareAgent",
        "spdxId": "_:shoal",
        "name": f"Shoal {told.version}",
        "creationInfo": "_:creation",
    }
    return {"@context": "https://spdx.org/rdf/3.0.1/spdx-context.jsonld", "@graph": [creation, agent, package]}
