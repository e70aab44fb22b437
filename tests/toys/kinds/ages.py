"""A made-up kind of data: ages, one a line under a line that says so; groups of k neighbours get their mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from shoal.arrays import Ints
from shoal.attack.attack import Attack
from shoal.check.folder import FolderCheck, PublishedFolder, false_claims, false_counts, not_compared
from shoal.check.guarantee import Guarantee
from shoal.check.verdict import Verdict
from shoal.kind import Kind, Run
from shoal.manifest import Manifest
from shoal.models.k_anonymity import KAnonymity
from shoal.policy import BasePolicy, Option, Strict, option
from shoal.release import Release
from shoal.report.content import ReportContent
from shoal.secrets import PrivateFolder, write_rows
from shoal.stage import CheckedFile, checked_file, refuse_failed

START = "#ages"


@dataclass(frozen=True)
class Ages:
    """The data: a number a person."""

    years: Ints

    def __len__(self) -> int:
        return len(self.years)

    def take(self, rows: Any) -> Ages:
        return Ages(self.years[rows])


class AgeMethod(Strict):
    digits: int = option(0, "Digits behind the point of a published mean.", ge=0, le=3)


class AgePolicy(BasePolicy):
    noun: ClassVar[str] = "ages"
    plural: ClassVar[str] = "ages"
    surely: ClassVar[str] = "#ages"
    arguments: ClassVar[tuple[Option, ...]] = (Option("k", int, "Groups of at least k ages.", is_common=True),)

    kind: Literal["ages"] = "ages"
    require: tuple[KAnonymity, ...] = (KAnonymity(k=3),)
    method: AgeMethod = AgeMethod()

    @property
    def k(self) -> int:
        return self.require[0].k

    def changed(self, *, k: int | None = None, **values: Any) -> AgePolicy:
        if k is not None:
            values["require"] = ({"model": "k-anonymity", "k": k},)
        return super().changed(**values)


class AgeManifest(Manifest):
    kind: Literal["ages"] = "ages"


def verify(means: Ints, k: int) -> Verdict:
    """The check: every published mean stands at least k times."""
    smallest = int(np.unique(means, return_counts=True)[1].min())
    holds = smallest >= k
    said = f"Every published mean stands for at least {smallest} persons."
    found = Guarantee("k-anonymity", "", "", {"k": k}, smallest, holds, len(np.unique(means)), 0, (), said)
    return Verdict((found,))


def read(path: Path) -> Ages:
    return Ages(np.array([float(line) for line in path.read_text().splitlines()[1:]]))


@dataclass(frozen=True, kw_only=True)
class AgeRelease(Release[Ages]):
    kind: ClassVar[str] = "ages"
    noun: ClassVar[str] = "ages"
    keepable: ClassVar[tuple[str, ...]] = ("rows",)
    _rows: Ints = field(repr=False)

    @property
    def case(self) -> Any:
        return None

    @cached_property
    def utility(self) -> float:
        return float(np.abs(self.published.years.mean() - self._original.years.mean()))

    def summary(self, *, report: bool = True) -> dict[str, Any]:
        return {"kind": self.kind, "records": self.records, "guarantees": [g.to_dict() for g in self.guarantees]}

    def _write_and_check(self) -> tuple[CheckedFile, tuple[Guarantee, ...]]:
        file, verdict = write_and_check(self.published, self.policy)
        return file, verdict.guarantees

    def _manifest(self, **told: Any) -> Manifest:
        return AgeManifest(
            **told,
            require=tuple(r.model_dump() for r in self.policy.require),
            guarantees=AgeManifest.claims(self.guarantees),
            method=self.policy.method.model_dump(),
        )

    def _datasheet(self) -> str:
        return "<p>Means of ages.</p>"

    def _report(self) -> ReportContent:
        return ReportContent.of(self.kind, sentences=[g.sentence for g in self.guarantees], change=self.utility)

    def _keep(self, folder: Path, keep: Sequence[str]) -> None:
        if "rows" in keep:
            write_rows(folder, self._rows)


def write_and_check(made: Ages, policy: AgePolicy) -> tuple[CheckedFile, Verdict]:
    def write(path: Path) -> None:
        path.write_text("\n".join([START, *map(str, made.years.tolist()), ""]))

    def check(path: Path) -> Verdict:
        verdict = verify(read(path).years, policy.k)
        refuse_failed(verdict)
        return verdict

    return checked_file("data.ages", write, check)


class AgeKind(Kind):
    name = "ages"
    published = "means of ages"
    report_template = "page.html"
    pictures: ClassVar[Mapping[str, str]] = {}
    takes: ClassVar[Mapping[str, str]] = {}
    policy = AgePolicy
    manifest = AgeManifest

    def recognises(self, source: Any) -> bool:
        return isinstance(source, Ages) or (
            isinstance(source, str | Path)
            and Path(source).is_file()
            and Path(source).read_bytes()[:5] == START.encode()
        )

    def load(self, source: Any, policy: Any) -> Ages:
        return source if isinstance(source, Ages) else read(Path(source))

    def load_again(self, source: Any, manifest: Any, policy: Any = None, **_: Any) -> Ages:
        return self.load(source, policy)

    def profile(self, data: Ages, policy: Any, *, sweep: bool, progress: Any) -> dict[str, int]:
        return {"n": len(data)}

    def release(self, data: Ages, policy: AgePolicy, run: Run, *, like: Any = None, held_out: Any = None) -> AgeRelease:
        order = np.argsort(data.years, kind="stable")
        groups = np.minimum(np.arange(len(data)) // policy.k, max(len(data) // policy.k - 1, 0))
        means = (np.bincount(groups, data.years[order]) / np.bincount(groups)).round(policy.method.digits)
        made = Ages(means[groups])
        file, verdict = write_and_check(made, policy)
        return AgeRelease(
            published=made,
            guarantees=verdict.guarantees,
            policy=policy,
            notes=(),
            _original=data,
            _file=file,
            _like=like,
            _held_out=held_out,
            _rows=order,
        )

    def check(
        self, folder: PublishedFolder, manifest: Any, original: Any, policy: Any, private: PrivateFolder | None
    ) -> FolderCheck:
        means = read(folder.data_file(manifest)).years
        k = KAnonymity.model_validate(manifest.require[0]).k if policy is None else policy.k
        verdict = verify(means, k)
        n_original = None if original is None else len(original)
        findings = [*folder.edits(manifest), *false_claims(manifest, verdict.guarantees, verdict)]
        findings += false_counts(manifest, len(means), n_original, k, {}, ("ages", "ages"))
        return FolderCheck(verdict.guarantees, tuple(findings), original is not None, (), not_compared(manifest))

    @property
    def attacks(self) -> Sequence[Attack[Any]]:
        return ()

    def case(self, *_: Any, **__: Any) -> Any:
        @dataclass
        class Case:
            granted: Mapping[str, int]

        return Case({})


KIND = AgeKind()
