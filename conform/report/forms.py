"""What the forms of run.json are made of: texts, counts and numbers as a record has them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from conform.judging.verdict import CHECKS


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("a line break, or a character that is not printable")
    return text


Printable = Annotated[str, AfterValidator(_printable)]
GivenPath = Annotated[str, Field(min_length=1, max_length=4096, pattern=r"^[^\x00]*$")]
Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]+$")]
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Special = Literal["inf", "-inf", "nan"]  # what JSON has no number for
Ulps = float | Special
Text = Annotated[Printable, Field(description="itself, or a pointer #/texts/N")]
Shape = list[Count]
Told = Literal["pass", "fail"] | None
CheckName = Literal[CHECKS]  # type: ignore[valid-type]


class Form(BaseModel):
    """One that is read strictly, and ignores what it does not describe."""

    model_config = ConfigDict(strict=True, frozen=True)
