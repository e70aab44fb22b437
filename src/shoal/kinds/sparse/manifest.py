"""What a manifest says of pseudo-baskets and of sketches besides what `shoal.manifest` says of all data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, StrictBool, model_validator

from shoal.check.guarantee import Guarantee
from shoal.check.sparse.bounds import coarse
from shoal.data.sparse.written import RecordForm
from shoal.kinds.sparse.policy import OF_KM, OF_PSEUDO, OF_SKETCH, SparseInput, SparsePolicy
from shoal.manifest import Manifest, Told

DATA_FILE: Literal["data.parquet"] = "data.parquet"
_FORMS = ("baskets", "svmlight", "column")
_LIMITS = {"delta-anonymity": "delta", "k-variance": "ratio", "recovery-cap": "share"}


class SparseManifest(Manifest):
    """What `publish/manifest.json` says of sparse records, however they were published.

    Attributes
    ----------
    classes : bool
        Whether each record has a class.
    input : mapping
        How the original was read.
    suppressed_because : mapping
        How many were suppressed for which reason; few are told as a range, see `shoal.told_counts`.
    """

    private: ClassVar[tuple[str, ...]] = ("worst", "details")
    keys: ClassVar[tuple[str, ...]]
    """The keys of the method that it tells."""

    kind: Literal["sparse"] = "sparse"
    classes: StrictBool
    input: dict[str, Any]
    suppressed_because: dict[str, Told]

    @classmethod
    def parse(cls, content: Any, folder: Path) -> Any:
        """That of pseudo-baskets, of k^m-anonymous records, or of sketches."""
        if cls is not SparseManifest:
            return super().parse(content, folder)
        method = content.get("method") if isinstance(content, dict) else None
        name = method.get("name") if isinstance(method, dict) else None
        made_as = BasketManifest if name == "pseudo-baskets" else KMManifest if name in OF_KM else SketchManifest
        return made_as.parse(content, folder)

    @cached_property
    def policy(self) -> SparsePolicy:
        """How the original was read, what was required and how the data was made."""
        keys = self._method_keys()
        # Manifests of old know no header and no persons, and no sketches of groups.
        told = {"unit": "record"} | self.method if "unit" in keys else self.method
        method = {name: value for name, value in told.items() if name in keys}
        if set(method) != set(keys) or {"header", "person", *self.input} != set(SparseInput.model_fields):
            raise ValueError("a default would be promised by nobody")
        return SparsePolicy(input=self.input, require=self.require, method=method)

    def _method_keys(self) -> tuple[str, ...]:
        return self.keys


class KMManifest(SparseManifest):
    """What `publish/manifest.json` says of k^m-anonymous records.

    Attributes
    ----------
    form : mapping
        How the file is read: see `shoal.data.sparse.written.RecordForm`; of disassociated records its delimiter counts.
    published_as : mapping, optional
        Of generalised items: the items of the hierarchy that each label stands for.
    """

    keys: ClassVar[tuple[str, ...]] = ()
    optional: ClassVar[tuple[str, ...]] = (*Manifest.optional, "published_as")

    form: dict[str, Any]
    published_as: dict[str, list[str]] | None = None

    @model_validator(mode="after")
    def _whole(self) -> KMManifest:
        is_generalised = self.policy.publish == "generalise"
        if self.policy.publish != self.method["name"] or is_generalised != (self.published_as is not None):
            raise ValueError("what is required is not what was done")
        if len(self.policy.require) != len(self.require) or self.records_form.format not in _FORMS:
            raise ValueError("what is required is not what was done")
        return self

    def _method_keys(self) -> tuple[str, ...]:
        return OF_KM[self.method["name"]]

    @cached_property
    def records_form(self) -> RecordForm:
        """How the file is read."""
        return RecordForm(**self.form)

    @property
    def labels(self) -> dict[str, str]:
        """What each item of the hierarchy is published as; nothing where items are not generalised."""
        return {item: label for label, items in (self.published_as or {}).items() for item in items}

    def content(self) -> dict[str, Any]:
        """What the file holds; of the method what this version knows."""
        return super().content() | {"method": self.policy.told(), "form": asdict(self.records_form)}


class BasketManifest(SparseManifest):
    """What `publish/manifest.json` says of pseudo-baskets.

    Attributes
    ----------
    form : mapping
        How the file is read: see `shoal.data.sparse.written.RecordForm`.
    """

    keys: ClassVar[tuple[str, ...]] = OF_PSEUDO

    form: dict[str, Any]

    @model_validator(mode="after")
    def _whole(self) -> BasketManifest:
        if self.policy.publish != "pseudo" or self.records_form.format not in _FORMS:
            raise ValueError("what is required is not what was done")
        return self

    @cached_property
    def records_form(self) -> RecordForm:
        """How the file is read."""
        return RecordForm(**self.form)

    def content(self) -> dict[str, Any]:
        """What the file holds; of the method what this version knows."""
        return super().content() | {"method": self.policy.told(), "form": asdict(self.records_form)}


class SketchManifest(SparseManifest):
    """What `publish/manifest.json` says of sketches.

    Attributes
    ----------
    columns : mapping
        What the columns of the file hold.
    step : float
        The grid of real components; 1 for whole numbers.
    neighbours : {"exact", "partition"}, optional
        How neighbours were found; None where the guarantee is not about them.
    """

    keys: ClassVar[tuple[str, ...]] = OF_SKETCH

    data: Literal["data.parquet"] = DATA_FILE
    columns: dict[str, str] = Field(default_factory=dict)
    step: float = Field(gt=0, allow_inf_nan=False)
    neighbours: Literal["exact", "partition"] | None

    @model_validator(mode="after")
    def _whole(self) -> SketchManifest:
        policy = self.policy
        if len(policy.require) != len(self.require) or (policy.k_variance is None) != (self.neighbours is None):
            raise ValueError("what is required is not what was done")
        return self

    @cached_property
    def policy(self) -> SparsePolicy:
        """How the original was read, what was required and how the sketches were made."""
        read = super().policy
        if read.publish != "sketch":
            raise ValueError("what is required is not of sketches")
        return read

    def content(self) -> dict[str, Any]:
        """What the file holds; of the method and the columns what this version knows."""
        return super().content() | {"method": self.policy.told(), "columns": self.columns_of(has_classes=self.classes)}

    @staticmethod
    def columns_of(*, has_classes: bool) -> dict[str, str]:
        """What the columns of the file hold."""
        return {"sketch": "the components of a record", **({"label": "its class"} if has_classes else {})}

    @classmethod
    def claims(cls, guarantees: Sequence[Guarantee]) -> tuple[dict[str, Any], ...]:
        """Guarantees as a manifest states them: what the worst record reaches has two digits."""
        return super().claims([in_public(g) for g in guarantees])


def in_public(guarantee: Guarantee) -> Guarantee:
    """A guarantee as it goes out: what the worst record reaches has two digits, see `coarse`."""
    name = _LIMITS.get(guarantee.model)
    if name is None or not guarantee.holds:
        return guarantee
    reached = coarse(guarantee.achieved, guarantee.required[name], is_most=guarantee.model == "recovery-cap")
    return replace(guarantee, achieved=reached, details={})
