"""What the user asks for of sparse records: one small object, equally a TOML file.

::

    kind = "sparse"
    [input]
    format = "baskets"
    [[require]]
    model = "k-anonymity"
    k = 20
    [method]
    publish = "pseudo"
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args

from pydantic import Field, field_validator, model_validator

from shoal.data.tables.header import Header
from shoal.data.tables.hierarchy import Hierarchy
from shoal.errors import PolicyError
from shoal.policy import (
    BasePolicy,
    Option,
    Strict,
    header_option,
    option,
    person_option,
    refuse_bound,
    size_in_bytes,
)

if TYPE_CHECKING:
    from typing_extensions import Self

    from shoal.kinds.sparse.baskets import BasketRelease
    from shoal.kinds.sparse.km import KMRelease
    from shoal.kinds.sparse.profile import SparseProfile
    from shoal.kinds.sparse.release import SparseRelease

Model = Literal["k-variance", "delta"]
Publication = Literal["pseudo", "sketch", "disassociate", "suppress", "generalise"]
KM_PUBLICATIONS: tuple[Publication, ...] = ("disassociate", "suppress", "generalise")


class KVariance(Strict):
    """k-variance anonymity: the similarities to the k nearest records that sketches tell are blurred by a threshold.

    Aggarwal and Yu, "On privacy-preservation of text and sparse binary data with sketches", SDM 2007, Definition 3.
    `threshold` and `variance` choose between readings of it; see the docs of sparse records.
    """

    model: Literal["k-variance"] = "k-variance"
    k: int = option(10, "Groups of at least k.", is_common=True, ge=1)
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
        0.5, "Least variance of the usual estimate of an item, for someone who has the key.", gt=0, lt=1e12
    )


class GroupAnonymity(Strict):
    """k-anonymity of pseudo-baskets: items are dealt anew in groups of at least k, and k records of all hold each."""

    model: Literal["k-anonymity"] = "k-anonymity"
    k: int = Field(10, ge=2)


class KMAnonymity(Strict):
    """k^m-anonymity: at least k records hold every combination of up to m items that occurs.

    Terrovitis, Mamoulis and Kalnis, "Privacy-preserving anonymization of set-valued data", VLDB 2008.
    """

    model: Literal["km-anonymity"] = "km-anonymity"
    k: int = Field(5, ge=2)
    m: int = option(2, "For k^m-anonymity: attackers know up to this many items of a person.", ge=1, le=3)


class RhoUncertainty(Strict):
    """rho-uncertainty: of those who hold up to m items, at most the share rho holds one more that is sensitive.

    Cao, Karras, Raissi and Tan, "rho-uncertainty: inference-proof transaction anonymization", PVLDB 2010.
    """

    model: Literal["rho-uncertainty"] = "rho-uncertainty"
    rho: float = option(
        0.5, "The largest share of those who hold up to m items that may hold one more that is sensitive.", gt=0, lt=1
    )
    sensitive: tuple[str, ...] = option((), "Items that nobody may infer.", metavar="ITEMS")


SparseRequirement = Annotated[
    GroupAnonymity | KVariance | DeltaAnonymity | KMAnonymity | RhoUncertainty, Field(discriminator="model")
]
OF_SKETCHES = ("k-variance", "delta-anonymity")
OF_COMBINATIONS = ("km-anonymity", "rho-uncertainty")


class SparseInput(Strict):
    """How the file is read; what is None is told by its content. See `shoal.data.sparse.files.read_sparse`."""

    format: Literal["baskets", "svmlight", "column", "text", "folder"] | None = option(
        None, "Format of the records.", instead="detected"
    )
    column: str | None = option(None, "Column of a table that holds the items or texts.", metavar="COLUMN")
    class_column: str | None = option(None, "Column of a table that holds their classes.", metavar="COLUMN")
    delimiter: str | None = option(None, "Character between items.", instead="blanks")
    weights: Literal["binary", "counts", "tfidf"] = option("binary", "How much an item counts; tfidf is for texts.")
    stop_words: Literal["english", "none"] = option("english", "Words of texts to leave out.")
    ngrams: int = option(1, "Items of texts are runs of up to this many words.", ge=1, le=5)
    header: Header | None = header_option()
    person: tuple[str, ...] = person_option()

    @field_validator("person", mode="before")
    @classmethod
    def _one_or_several(cls, person: Any) -> Any:
        return (person,) if isinstance(person, str) else person

    def told(self) -> dict[str, Any]:
        """As it stands in a manifest or a policy: of persons only where they are counted."""
        told = self.model_dump()
        return told if self.person else {name: value for name, value in told.items() if name != "person"}


class SparseMethod(Strict):
    """How pseudo-baskets or sketches are made. See `shoal.sparse`."""

    publish: Publication = option(
        "pseudo",
        "Baskets whose items are dealt out again in groups (pseudo), a few numbers for each record (sketch), or true "
        "ones that are k^m-anonymous.",
    )
    support: int = option(3, "How many records of a pool must hold an item that is dealt in it.", ge=2)
    suppression: float | None = option(
        None, "Share of records that may be left out.", instead="any, and amber above 0.1", metavar="SHARE", ge=0, lt=1
    )
    together: int | None = option(
        None,
        "Up to this many items that k records hold together are dealt as one.",
        instead="16, and 1 for texts",
        ge=1,
        le=64,
    )
    scope: Literal["records", "items"] = option(
        "records", "For suppress: whether an item of a rare combination is left out where it is rare, or everywhere."
    )
    cluster_size: int | None = option(None, "For disassociate: the most records in a cluster.", instead="6 k", ge=4)
    item_hierarchy: str | Hierarchy | None = option(
        None, "For generalise: a hierarchy of the items, in ARX's CSV form.", metavar="FILE"
    )
    unit: Literal["record", "group"] = option(
        "record", "What a sketch is made of: one record, or the sum of a group of k similar ones."
    )
    max_components: int = option(128, "The most components in a sketch.", ge=1, le=4096)
    recovery_cap: bool = option(
        True,
        "Whether a sketch may carry only a share of the bits that would pick its record out if the key leaked.",
        flags="--recovery-cap/--no-recovery-cap",
    )
    recovery_share: float = option(
        0.5, "That share of the information that picks a record out.", metavar="SHARE", gt=0, le=1
    )
    coarse_counts: bool = option(
        True,
        "Whether numbers of components are put on a coarse grid, as they reveal lengths.",
        flags="--coarse-counts/--exact-counts",
    )
    neighbours: Literal["auto", "exact", "partition"] = option(
        "auto", "Nearest records of all (exact), within parts of the data (partition), or by their number (auto)."
    )
    metric: Literal["cosine", "euclidean"] = option("cosine", "What makes records similar.")
    rare: int = option(5, "Classes with fewer records are left out.", ge=1)


OF_PSEUDO = ("publish", "support", "together")
OF_KM: dict[str, tuple[str, ...]] = {
    "disassociate": ("publish", "cluster_size"),
    "suppress": ("publish", "scope"),
    "generalise": ("publish",),
}
"""Keys of the method by what is published; all others are for sketches alone. A hierarchy is not told by its file."""
_OTHERS = {"suppression", "item_hierarchy", *OF_PSEUDO, *(name for keys in OF_KM.values() for name in keys)}
OF_SKETCH = tuple(name for name in SparseMethod.model_fields if name not in _OTHERS)
_MEANS: dict[str, Publication] = {
    "item_hierarchy": "generalise",
    "cluster_size": "disassociate",
    "scope": "suppress",
    "m": "suppress",
    "rho": "suppress",
    "sensitive": "suppress",
}
"""What is to be published where it is not said, by a key that only that has."""


class SparsePolicy(BasePolicy):
    """All that a release of sparse records is asked to be.

    What only sketches have, such as delta, means sketches where `publish` is not said.

    Examples
    --------
    >>> policy = SparsePolicy.of(k=20)
    >>> policy.k, policy.publish
    (20, 'pseudo')
    >>> policy = SparsePolicy.of(k=20, delta=0.3)
    >>> policy.k, policy.delta, policy.publish
    (20, 0.3, 'sketch')
    >>> SparsePolicy.of(model="delta").k is None
    True
    """

    noun: ClassVar[str] = "sparse records"
    plural: ClassVar[str] = "sparse records"
    surely: ClassVar[str] = "SVMlight"
    arguments: ClassVar[tuple[Option, ...]] = (
        Option("model", Model, "Which guarantee sketches have; delta needs no other records, and holds in both cases."),
    )

    kind: Literal["sparse"] = "sparse"
    input: SparseInput = Field(SparseInput(), description="How a file is read.")
    require: tuple[SparseRequirement, ...] = Field((GroupAnonymity(),), description="The guarantees.")
    method: SparseMethod = Field(SparseMethod(), description="How pseudo-baskets or sketches are made.")
    memory: str | None = option(
        None,
        "Read baskets or SVMlight in blocks, and never hold them, in about this much memory, such as 2GB; for "
        "pseudo-baskets, and for sketches under delta-anonymity alone.",
        instead="hold the records",
        metavar="SIZE",
    )

    @model_validator(mode="before")
    @classmethod
    def _meant(cls, given: Any) -> Any:
        """Fill in the guarantees of what is to be published, or what is to be published by the guarantees."""
        if not isinstance(given, dict):
            return given
        method, require = given.get("method", {}), given.get("require")
        said = method if isinstance(method, dict) else method.model_dump(exclude_unset=True)
        meant = next((_MEANS[name] for name in _MEANS if said.get(name) is not None), None)
        publish = said.get("publish", meant)
        if publish in KM_PUBLICATIONS and require is None:
            return given | {"method": said | {"publish": publish}, "require": (KMAnonymity(),)}
        if require is None:
            if said.get("publish", "sketch" if set(said) & set(OF_SKETCH) else "pseudo") != "sketch":
                return given
            first = GroupAnonymity() if said.get("unit") == "group" else KVariance()
            return given | {"method": said | {"publish": "sketch"}, "require": (first, DeltaAnonymity())}
        names = {_model_of(r) for r in require} if isinstance(require, list | tuple) else set()
        if "publish" not in said and names & set(OF_SKETCHES):
            return given | {"method": said | {"publish": "sketch"}}
        if "publish" not in said and names & set(OF_COMBINATIONS):
            return given | {"method": said | {"publish": meant or "suppress"}}
        return given

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        models = [r.model for r in self.require]
        if len(set(models)) < len(models):
            raise ValueError("a model is required twice")
        if self.publish != "sketch" and (self.input.weights == "tfidf" or self.input.ngrams > 1):
            raise ValueError(
                "pseudo-baskets of texts, and k^m-anonymous ones, are bags of words, so weights cannot be 'tfidf' and "
                'ngrams is 1; leave them out, or ask for publish = "sketch"'
            )
        if self.publish == "pseudo":
            if models != ["k-anonymity"]:
                raise ValueError(
                    'of pseudo-baskets one guarantee is required, k-anonymity; for others ask for publish = "sketch"'
                )
            return self
        if self.publish in KM_PUBLICATIONS:
            return self._fitting_combinations(models)
        if self.input.person:
            raise ValueError(
                f'publish = "{self.publish}" counts records, not persons: leave person out and join the records of a '
                'person, or ask for publish = "pseudo"'
            )
        if set(models) & set(OF_COMBINATIONS):
            raise ValueError(
                'km-anonymity and rho-uncertainty are for publish = "disassociate", "suppress" or "generalise"; ask '
                "for one of these"
            )
        if self.method.unit == "group":
            return self._fitting_groups(models)
        if "k-anonymity" in models:
            raise ValueError(
                'k-anonymity is for publish = "pseudo" and for sketches of groups (unit = "group"), and sketches of '
                "records have k-variance and delta-anonymity; require those"
            )
        # k-variance alone can leave a record any number of components, so the delta rule is always there.
        missing = () if "delta-anonymity" in models else (DeltaAnonymity(),)
        settled = tuple(sorted((*self.require, *missing), key=lambda r: r.model, reverse=True))
        if settled != self.require:
            object.__setattr__(self, "require", settled)
        return self

    def _fitting_groups(self, models: Sequence[str]) -> Self:
        """Require k-anonymity first, and the delta rule of the sums."""
        if "k-variance" in models or "k-anonymity" not in models:
            raise ValueError(
                'of sketches of groups (unit = "group") k-anonymity is required, and delta-anonymity; leave k-variance '
                'out, or ask for unit = "record"'
            )
        missing = () if "delta-anonymity" in models else (DeltaAnonymity(),)
        settled = tuple(sorted((*self.require, *missing), key=lambda r: r.model, reverse=True))
        if settled != self.require:
            object.__setattr__(self, "require", settled)
        return self

    def _fitting_combinations(self, models: Sequence[str]) -> Self:
        """Require k^m-anonymity first, and refuse what does not go with it."""
        strange = set(models) - set(OF_COMBINATIONS)
        if strange:
            raise ValueError(
                f'of publish = "{self.publish}" km-anonymity is required, and rho-uncertainty may be; leave '
                f"{', '.join(sorted(strange))} out"
            )
        rho = self.rho_uncertainty
        if rho is not None and not rho.sensitive:
            raise ValueError("rho-uncertainty is about sensitive items, and none is named; add sensitive = [...]")
        if rho is not None and self.publish == "disassociate":
            raise ValueError('rho-uncertainty is for publish = "suppress" and "generalise"; ask for one of these')
        if "km-anonymity" not in models:
            object.__setattr__(self, "require", (KMAnonymity(), *self.require))
        elif models[0] != "km-anonymity":
            object.__setattr__(self, "require", tuple(reversed(self.require)))
        size = self.method.cluster_size
        if size is not None and self.k is not None and size < 2 * self.k:
            raise ValueError(f"clusters of {size} records cannot be cut with k = {self.k}; give 2 k or more")
        return self

    @model_validator(mode="after")
    def _can_be_bounded(self) -> Self:
        if self.memory is None:
            return self
        refuse_bound(self.memory)
        method = self.method
        asked = {
            f'publish = "{self.publish}"': self.publish not in ("sketch", "pseudo"),
            'unit = "group"': method.unit == "group",
            "k-variance, which looks at the nearest of all records,": self.k_variance is not None,
            f'format = "{self.input.format}"': self.input.format not in (None, "baskets", "svmlight"),
        }
        refused = [what for what, is_refused in asked.items() if is_refused]
        if refused:
            raise ValueError(
                f"{refused[0]} needs all records in memory: leave memory out, or take baskets or SVMlight as "
                'pseudo-baskets (publish = "pseudo"), or as sketches under delta-anonymity alone (publish = "sketch", '
                'model = "delta")'
            )
        return self

    @property
    def n_bytes(self) -> int | None:
        """The bound on memory in bytes; None without one."""
        return size_in_bytes(self.memory)

    @classmethod
    def from_content(cls, content: dict[str, Any], text: str, path: Path) -> Self:
        """From what `read_toml` read; a hierarchy is looked for beside the policy."""
        method = content.get("method")
        given = method.get("item_hierarchy") if isinstance(method, dict) else None
        if isinstance(given, str):
            content = content | {"method": {**content["method"], "item_hierarchy": str(path.parent / given)}}
        return super().from_content(content, text, path)

    @property
    def rho_uncertainty(self) -> RhoUncertainty | None:
        """The requirement about sensitive items, if there is one."""
        return next((r for r in self.require if isinstance(r, RhoUncertainty)), None)

    @property
    def m(self) -> int | None:
        """How many items attackers know at most, of k^m-anonymity; else None."""
        return next((r.m for r in self.require if isinstance(r, KMAnonymity)), None)

    @property
    def cluster_size(self) -> int:
        """Most records of a cluster of disassociated ones."""
        return self.method.cluster_size or 6 * (self.k or KMAnonymity().k)

    @property
    def publish(self) -> Publication:
        """What is published."""
        return self.method.publish

    @property
    def k_variance(self) -> KVariance | None:
        """The requirement about neighbours, if there is one."""
        return next((r for r in self.require if isinstance(r, KVariance)), None)

    @property
    def model(self) -> Model | None:
        """Which guarantee of sketches of records is required; the delta rule holds in both. None of all else."""
        if self.publish != "sketch" or self.method.unit == "group":
            return None
        return "delta" if self.k_variance is None else "k-variance"

    @property
    def k(self) -> int | None:
        """Fewest records of a group; of sketches the number of neighbours to which similarities are blurred, or None
        where only delta-anonymity is required."""
        return next((r.k for r in self.require if not isinstance(r, DeltaAnonymity | RhoUncertainty)), None)

    @property
    def least_told(self) -> int:
        """The least number of records that is counted out in public."""
        return max(self.k or 0, self.method.rare if self.publish == "sketch" else 0)

    @property
    def delta(self) -> float:
        """The least variance of the usual estimate of an attribute; of sketches."""
        return next((r.delta for r in self.require if isinstance(r, DeltaAnonymity)), DeltaAnonymity().delta)

    if TYPE_CHECKING:

        def _release(self) -> SparseRelease | BasketRelease | KMRelease: ...

        def _profile(self) -> SparseProfile: ...

    def changed(self, *, model: Model | None = None, **values: Any) -> Self:
        """The same policy with some things asked otherwise.

        Parameters
        ----------
        model : {"k-variance", "delta"}, optional
            Which guarantee of sketches; the delta rule holds in both.
        **values
            Parameters of the requirements, such as ``k=20``, and keys of the policy, of its method or of its input.
        """
        if model not in (None, "k-variance", "delta"):
            raise PolicyError(f"there is no model {model!r} of sparse records; take 'k-variance' or 'delta'")
        within = values.get("method")
        inner = within if isinstance(within, dict) else {} if within is None else within.model_dump(exclude_unset=True)
        publish = values.get("publish", inner.get("publish"))
        of_sketches = {"delta", "threshold", "variance", *OF_SKETCH} & ({*values, *inner})
        of_texts = values.get("weights") == "tfidf" or (values.get("ngrams") or 1) > 1
        if publish is None and "require" not in values and (model is not None or of_sketches or of_texts):
            publish = values["publish"] = "sketch"
        means = next((_MEANS[name] for name in _MEANS if (values.get(name) or inner.get(name)) is not None), None)
        if publish is None and "require" not in values and means is not None:
            is_met = self.publish == means or (means == "suppress" and self.publish in KM_PUBLICATIONS)
            publish = values["publish"] = self.publish if is_met else means
        if "require" not in values and publish in (None, *get_args(Publication)):
            values["require"] = self._required(publish or self.publish, model, values)
        elif "require" in values and publish is None:
            models = {_model_of(r) for r in values["require"]}
            of_combinations = self.publish if self.publish in KM_PUBLICATIONS else means or "suppress"
            values["publish"] = (
                "sketch"
                if models & set(OF_SKETCHES)
                else of_combinations
                if models & set(OF_COMBINATIONS)
                else "pseudo"
            )
        return super().changed(**values)

    def _required(self, publish: str, model: Model | None, values: dict[str, Any]) -> tuple[Any, ...]:
        """The guarantees with what was asked of them, which is taken out of the values."""
        if publish in KM_PUBLICATIONS:
            return self._required_combinations(model, values)
        stray = next((n for n in ("m", "rho", "sensitive") if n in values), None)
        if stray is not None:
            raise PolicyError(
                f'{stray} is for k^m-anonymity; leave it out, or ask for publish = "disassociate", "suppress" or '
                '"generalise"'
            )
        if publish == "pseudo":
            if model is not None or {"delta", "threshold", "variance"} & set(values):
                raise PolicyError(
                    "delta, threshold, variance and the model are for sketches; leave them out, or ask for publish = "
                    '"sketch"'
                )
            return ({"model": "k-anonymity", "k": values.pop("k", self.k or GroupAnonymity().k)},)
        delta = {"model": "delta-anonymity", "delta": values.pop("delta", self.delta)}
        if self._unit(values) == "group":
            if model is not None or {"threshold", "variance"} & set(values):
                raise PolicyError(
                    "threshold, variance and the model are for sketches of records; leave them out, or ask for unit = "
                    '"record"'
                )
            return ({"model": "k-anonymity", "k": values.pop("k", self.k or GroupAnonymity().k)}, delta)
        asked = {n: values.pop(n) for n in ("k", "threshold", "variance") if n in values}
        if model == "delta" and asked:
            raise PolicyError(f"{next(iter(asked))} is for the model k-variance; leave it out, or ask for that one")
        if model == "delta" or (model is None and self.model == "delta" and not asked):
            return (delta,)
        return ((self.k_variance or KVariance()).model_dump() | asked, delta)

    def _unit(self, values: dict[str, Any]) -> str:
        """What a sketch is to be of."""
        within = values.get("method")
        inner = within if isinstance(within, dict) else {} if within is None else within.model_dump(exclude_unset=True)
        return str(values.get("unit") or inner.get("unit") or self.method.unit)

    def _required_combinations(self, model: Model | None, values: dict[str, Any]) -> tuple[Any, ...]:
        if model is not None or {"delta", "threshold", "variance"} & set(values):
            raise PolicyError(
                "delta, threshold, variance and the model are for sketches; leave them out, or ask for publish = "
                '"sketch"'
            )
        usual = next((r for r in self.require if isinstance(r, KMAnonymity)), KMAnonymity())
        others = [r.k for r in self.require if isinstance(r, GroupAnonymity | KVariance) and "k" in r.model_fields_set]
        said = {"k": others[0]} if others else {}
        asked = said | {n: values.pop(n) for n in ("k", "m") if values.get(n) is not None}
        rules = {n: values.pop(n) for n in ("rho", "sensitive") if values.get(n)}
        rho = self.rho_uncertainty
        if not rules and rho is None:
            return (usual.model_dump() | asked,)
        return (usual.model_dump() | asked, (rho or RhoUncertainty()).model_dump() | rules)

    def told(self) -> dict[str, Any]:
        """All parameters of the method, for the manifest."""
        names = {"pseudo": "pseudo-baskets", "sketch": "sketches"}
        keys = {"pseudo": OF_PSEUDO, "sketch": OF_SKETCH, **OF_KM}[self.publish]
        return {"name": names.get(self.publish, self.publish)} | self.method.model_dump(include=set(keys))


def _model_of(requirement: Any) -> Any:
    if isinstance(requirement, dict):
        return requirement.get("model")
    return getattr(requirement, "model", None)
