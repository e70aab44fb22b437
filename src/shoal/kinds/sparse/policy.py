"""What the user asks for of sparse records: one small object, equally a TOML file.

::

    kind = "sparse"
    [input]
    format = "baskets"
    [[require]]
    model = "k-variance"
    k = 10
    [[require]]
    model = "delta-anonymity"
    delta = 0.5
    [method]
    max_components = 128
    recovery_cap = true
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, ValidationError, field_validator

from shoal.data.tables.header import Header
from shoal.errors import PolicyError
from shoal.kinds.tables.policy import Strict, explain, read_toml

if TYPE_CHECKING:
    from shoal.kinds.sparse.profile import SparseProfile
    from shoal.kinds.sparse.release import SparseRelease


Model = Literal["k-variance", "delta"]


class KVariance(Strict):
    """k-variance anonymity: the similarities to the k nearest records that sketches tell are blurred by a threshold.

    Aggarwal and Yu, "On privacy-preservation of text and sparse binary data with sketches", SDM 2007, Definition 3.
    `threshold` and `variance` choose between readings of it; see the docs of sparse records.
    """

    model: Literal["k-variance"] = "k-variance"
    k: int = Field(default=10, ge=1)
    threshold: Literal["sqrt", "difference"] = "sqrt"
    variance: Literal["smaller", "paper", "exact"] = "smaller"


class DeltaAnonymity(Strict):
    """delta-anonymity: the usual estimate of an attribute has at least the variance delta. Definition 1 of the same."""

    model: Literal["delta-anonymity"] = "delta-anonymity"
    delta: float = Field(default=0.5, gt=0, lt=1e12)


SparseRequirement = Annotated[KVariance | DeltaAnonymity, Field(discriminator="model")]


class SparseInput(Strict):
    """How the file is read; what is None is told by its content. See `shoal.data.sparse.files.read_sparse`."""

    format: Literal["baskets", "svmlight", "column", "text", "folder"] | None = None
    column: str | None = None
    class_column: str | None = None
    delimiter: str | None = None
    weights: Literal["binary", "counts", "tfidf"] = "binary"
    stop_words: Literal["english", "none"] = "english"
    ngrams: int = Field(default=1, ge=1, le=5)
    header: Header | None = None


class SparseMethod(Strict):
    """How sketches are made. See `shoal.sparse`."""

    max_components: int = Field(default=128, ge=1, le=4096)
    recovery_cap: bool = True
    recovery_share: float = Field(default=0.5, gt=0, le=1)
    coarse_counts: bool = True
    neighbours: Literal["auto", "exact", "partition"] = "auto"
    metric: Literal["cosine", "euclidean"] = "cosine"
    rare: int = Field(default=5, ge=1)


class SparsePolicy(Strict):
    """All that a release of sparse records is asked to be.

    Examples
    --------
    >>> policy = SparsePolicy.of(k=20, delta=0.3)
    >>> policy.k, policy.delta
    (20, 0.3)
    >>> SparsePolicy.of(model="delta").k is None
    True
    """

    kind: Literal["sparse"] = "sparse"
    input: SparseInput = SparseInput()
    require: tuple[SparseRequirement, ...] = (KVariance(), DeltaAnonymity())
    method: SparseMethod = SparseMethod()

    @field_validator("require")
    @classmethod
    def _once(cls, require: tuple[KVariance | DeltaAnonymity, ...]) -> tuple[KVariance | DeltaAnonymity, ...]:
        models = [r.model for r in require]
        if len(set(models)) < len(models):
            raise ValueError("a model is required twice")
        # k-variance alone can leave a record any number of components, so the delta rule is always there.
        if "delta-anonymity" not in models:
            return (*require, DeltaAnonymity())
        return tuple(sorted(require, key=lambda r: r.model, reverse=True))

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise PolicyError(explain(error, "the policy", known_keys=_known_keys)) from error

    @property
    def k_variance(self) -> KVariance | None:
        """The requirement about neighbours, if there is one."""
        return next((r for r in self.require if isinstance(r, KVariance)), None)

    @property
    def k(self) -> int | None:
        """Number of neighbours to which similarities are blurred; None where only delta-anonymity is required."""
        return None if self.k_variance is None else self.k_variance.k

    @property
    def least_told(self) -> int:
        """The least number of records that is counted out in public."""
        return max(self.k or 0, self.method.rare)

    @property
    def delta(self) -> float:
        """The least variance of the usual estimate of an attribute."""
        return next(r.delta for r in self.require if isinstance(r, DeltaAnonymity))

    if TYPE_CHECKING:

        def _release(self) -> SparseRelease: ...

        def _profile(self) -> SparseProfile: ...

    @classmethod
    def of(cls, **asked: Any) -> SparsePolicy:
        """Write a policy in one line; see `changed` for what can be asked."""
        return cls().changed(**asked)

    def changed(self, *, model: Model | None = None, **values: Any) -> SparsePolicy:
        """The same policy with some things asked otherwise.

        Parameters
        ----------
        model : {"k-variance", "delta"}, optional
            Which guarantee; the delta rule holds in both.
        **values
            Parameters of the requirements, such as ``k=20``, and keys of the policy, of its method or of its input.
        """
        if model not in (None, "k-variance", "delta"):
            raise PolicyError(f"there is no model {model!r} of sparse records; take 'k-variance' or 'delta'")
        whole = SparsePolicy(input=values.pop("input", {}), method=values.pop("method", {}))
        method = self.method.model_dump() | whole.method.model_dump(exclude_unset=True)
        given = self.input.model_dump() | whole.input.model_dump(exclude_unset=True)
        method |= {n: values.pop(n) for n in list(values) if n in SparseMethod.model_fields}
        given |= {n: values.pop(n) for n in list(values) if n in SparseInput.model_fields}
        if "require" not in values:
            delta = {"model": "delta-anonymity", "delta": values.pop("delta", self.delta)}
            asked = {n: values.pop(n) for n in ("k", "threshold", "variance") if n in values}
            if model == "delta" and asked:
                raise PolicyError(f"{next(iter(asked))} is for the model k-variance; leave it out, or ask for that one")
            if model == "delta" or (model is None and self.k_variance is None and not asked):
                values["require"] = (delta,)
            else:
                values["require"] = ((self.k_variance or KVariance()).model_dump() | asked, delta)
        return SparsePolicy(**{"method": method, "input": given, **values})

    def told(self) -> dict[str, Any]:
        """All parameters of the method, for the manifest."""
        return {"name": "sketches"} | self.method.model_dump()

    @classmethod
    def read(cls, path: str | Path) -> SparsePolicy:
        """Read a TOML file."""
        return cls.from_content(*read_toml(path), Path(path))

    @classmethod
    def from_content(cls, content: dict[str, Any], text: str, path: Path) -> SparsePolicy:
        """From what `read_toml` read."""
        if content.get("kind", "table") != "sparse":
            raise PolicyError(f'{path} is a policy for other data; add kind = "sparse" if it is meant for this')
        try:
            return cls(**content)
        except PolicyError as error:
            if isinstance(error.__cause__, ValidationError):
                raise PolicyError(explain(error.__cause__, str(path), text, _known_keys)) from None
            raise


def _known_keys(location: Sequence[int | str]) -> list[str]:
    head = location[0] if location else ""
    if len(location) > 1 and head == "method":
        return list(SparseMethod.model_fields)
    if len(location) > 1 and head == "input":
        return list(SparseInput.model_fields)
    if len(location) > 1 and head == "require":
        return sorted({*KVariance.model_fields, *DeltaAnonymity.model_fields})
    return list(SparsePolicy.model_fields)
