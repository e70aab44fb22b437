"""What the user asks for of sparse records: one small object, equally a TOML file.

::

    kind = "sparse"
    [input]
    format = "baskets"
    [[require]]
    model = "k-variance"
    k = 20
    [method]
    max_components = 64
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, field_validator

from shoal.data.tables.header import Header
from shoal.errors import PolicyError
from shoal.policy import BasePolicy, Option, Strict, header_option, option

if TYPE_CHECKING:
    from typing_extensions import Self

    from shoal.kinds.sparse.profile import SparseProfile
    from shoal.kinds.sparse.release import SparseRelease

Model = Literal["k-variance", "delta"]


class KVariance(Strict):
    """k-variance anonymity: the similarities to the k nearest records that sketches tell are blurred by a threshold.

    Aggarwal and Yu, "On privacy-preservation of text and sparse binary data with sketches", SDM 2007, Definition 3.
    `threshold` and `variance` choose between readings of it; see the docs of sparse records.
    """

    model: Literal["k-variance"] = "k-variance"
    k: int = option(10, "Neighbours to blur.", is_common=True, ge=1)
    threshold: Literal["sqrt", "difference"] = option(
        "sqrt", "How large the deviation must be for k-variance: as printed (sqrt), or much stricter (difference)."
    )
    variance: Literal["smaller", "paper", "exact"] = option(
        "smaller", "Which formula of the deviation counts for k-variance; the smaller one is the safe side."
    )


class DeltaAnonymity(Strict):
    """delta-anonymity: the usual estimate of an attribute has at least the variance delta. Definition 1 of the same."""

    model: Literal["delta-anonymity"] = "delta-anonymity"
    delta: float = option(
        0.5, "Least variance of the usual estimate of an item, for one who has the key.", gt=0, lt=1e12
    )


SparseRequirement = Annotated[KVariance | DeltaAnonymity, Field(discriminator="model")]


class SparseInput(Strict):
    """How the file is read; what is None is told by its content. See `shoal.data.sparse.files.read_sparse`."""

    format: Literal["baskets", "svmlight", "column", "text", "folder"] | None = option(
        None, "How records stand in the file.", instead="told by the file"
    )
    column: str | None = option(None, "Column of a table that holds the items or texts.", metavar="COLUMN")
    class_column: str | None = option(None, "Column of a table that holds their classes.", metavar="COLUMN")
    delimiter: str | None = option(None, "What stands between items.", instead="blanks")
    weights: Literal["binary", "counts", "tfidf"] = option("binary", "What an item of a record counts; tfidf of texts.")
    stop_words: Literal["english", "none"] = option("english", "Words of texts to leave out.")
    ngrams: int = option(1, "Items of texts are runs of up to so many words.", ge=1, le=5)
    header: Header | None = header_option()


class SparseMethod(Strict):
    """How sketches are made. See `shoal.sparse`."""

    max_components: int = option(128, "Most components of a sketch.", ge=1, le=4096)
    recovery_cap: bool = option(
        True,
        "Whether a sketch may carry only a share of the bits that pick its record out, should the key leak.",
        flags="--recovery-cap/--no-recovery-cap",
    )
    recovery_share: float = option(
        0.5, "That share of the information that picks a record out.", metavar="SHARE", gt=0, le=1
    )
    coarse_counts: bool = option(
        True,
        "Whether numbers of components stand on a coarse grid, as they tell lengths.",
        flags="--coarse-counts/--exact-counts",
    )
    neighbours: Literal["auto", "exact", "partition"] = option(
        "auto", "Nearest records of all (exact), within parts of the data (partition), or by their number (auto)."
    )
    metric: Literal["cosine", "euclidean"] = option("cosine", "By what records are near.")
    rare: int = option(5, "Classes with fewer records are left out.", ge=1)


class SparsePolicy(BasePolicy):
    """All that a release of sparse records is asked to be.

    Examples
    --------
    >>> policy = SparsePolicy.of(k=20, delta=0.3)
    >>> policy.k, policy.delta
    (20, 0.3)
    >>> SparsePolicy.of(model="delta").k is None
    True
    """

    noun: ClassVar[str] = "sparse records"
    plural: ClassVar[str] = "sparse records"
    surely: ClassVar[str] = "SVMlight"
    arguments: ClassVar[tuple[Option, ...]] = (
        Option("model", Model, "Which guarantee; delta needs no other records, and holds in both."),
    )

    kind: Literal["sparse"] = "sparse"
    input: SparseInput = Field(SparseInput(), description="How a file is read.")
    require: tuple[SparseRequirement, ...] = Field((KVariance(), DeltaAnonymity()), description="The guarantees.")
    method: SparseMethod = Field(SparseMethod(), description="How sketches are made.")

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

    @property
    def k_variance(self) -> KVariance | None:
        """The requirement about neighbours, if there is one."""
        return next((r for r in self.require if isinstance(r, KVariance)), None)

    @property
    def model(self) -> Model:
        """Which guarantee is required; the delta rule holds in both."""
        return "delta" if self.k_variance is None else "k-variance"

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

    def changed(self, *, model: Model | None = None, **values: Any) -> Self:
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
        if "require" not in values:
            delta = {"model": "delta-anonymity", "delta": values.pop("delta", self.delta)}
            asked = {n: values.pop(n) for n in ("k", "threshold", "variance") if n in values}
            if model == "delta" and asked:
                raise PolicyError(f"{next(iter(asked))} is for the model k-variance; leave it out, or ask for that one")
            if model == "delta" or (model is None and self.k_variance is None and not asked):
                values["require"] = (delta,)
            else:
                values["require"] = ((self.k_variance or KVariance()).model_dump() | asked, delta)
        return super().changed(**values)

    def told(self) -> dict[str, Any]:
        """All parameters of the method, for the manifest."""
        return {"name": "sketches"} | self.method.model_dump()
