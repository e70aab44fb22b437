"""What a board asks for that no data tells: where a release comes from, whom it is for, and what could go wrong.

::

    [context]
    title = "Admissions of the clinic, 2019 to 2021"
    source = "the clinic's register of admissions"
    purpose = "research on readmission"
    release_model = "public"
    sampling_fraction = 0.1

Every key is optional, and what is given is printed as it is. What may be public stands on the datasheet and in the
manifest too; the rest is on the owner's pages alone. Nothing here changes the data, and nothing is read off a clock: a
date is there if it is given.
"""

from __future__ import annotations

from datetime import date as Date
from typing import Any, Literal

from pydantic import Field, ValidationInfo, field_validator

from shoal.policy_part import Strict

MOST_TEXT = 500
ReleaseModel = Literal["public", "agreement", "safe setting"]


class Context(Strict):
    """What is known of a release besides its data."""

    title: str | None = Field(None, description="What the release is called.")
    source: str | None = Field(None, description="Where the original comes from.")
    purpose: str | None = Field(None, description="What the release is for.")
    recipients: str | None = Field(None, description="Who is to get it.")
    release_model: ReleaseModel | None = Field(
        None, description="Who may get it: anybody, those who sign an agreement, or those who work in a safe setting."
    )
    contact: str | None = Field(None, description="Whom to ask.")
    licence: str | None = Field(None, description="The licence it is published under, preferably an SPDX identifier.")
    date: str | None = Field(None, description="When it is published, as in 2025-01-31.")
    review: str | None = Field(None, description="When it is to be reviewed, as in 2027-01-31.")
    population: int | None = Field(None, description="The size of the population that the original is part of.", ge=1)
    sampling_fraction: float | None = Field(
        None, description="The share of the population that the original holds.", gt=0, le=1
    )
    harms: str | None = Field(None, description="What harm could come to people in the data who are found.")
    acceptable_risk: float | None = Field(
        None, description="The highest acceptable risk, in place of what the release model suggests.", gt=0, le=1
    )

    @field_validator("title", "source", "purpose", "recipients", "contact", "licence", "harms")
    @classmethod
    def _one_line(cls, text: str | None) -> str | None:
        if text is not None and not (text.strip() and text.isprintable() and len(text) <= MOST_TEXT):
            raise ValueError(f"it takes one line of at most {MOST_TEXT} characters")
        return text

    @field_validator("date", "review", mode="before")
    @classmethod
    def _day(cls, given: Any, _: ValidationInfo) -> Any:
        if given is None:
            return given
        try:
            return (given if type(given) is Date else Date.fromisoformat(given)).isoformat()
        except (TypeError, ValueError):
            raise ValueError("it takes a day, as in 2025-01-31") from None

    @property
    def is_given(self) -> bool:
        """Whether anything was said."""
        return any(value is not None for value in self.model_dump().values())

    def fraction(self, n_records: int) -> float | None:
        """The share of the population that so many records are, as it is given, or by the size of the population."""
        if self.sampling_fraction is not None:
            return self.sampling_fraction
        return None if self.population is None else min(1.0, n_records / self.population)

    def public(self) -> dict[str, str] | None:
        """What stands beside the data too; None where nothing does."""
        told = {name: str(getattr(self, name)) for name in PUBLIC if getattr(self, name) is not None}
        return told or None


PUBLIC = ("title", "source", "purpose", "release_model", "licence", "contact", "date", "review")
"""Keys that are published. Recipients, harms, thresholds and sizes of populations help who attacks, and nobody else."""
TITLES = {
    "title": "Title",
    "source": "Source",
    "purpose": "Purpose",
    "recipients": "Recipients",
    "release_model": "Release model",
    "contact": "Contact",
    "licence": "Licence",
    "date": "Date",
    "review": "To be reviewed",
    "population": "Population",
    "sampling_fraction": "Sampling fraction",
    "harms": "Possible harms",
    "acceptable_risk": "Acceptable risk",
}
"""What the pages call the keys."""
