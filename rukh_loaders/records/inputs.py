"""The input part of a config: which fields of a record become which arrays, and what of them is trained."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Literal
from warnings import warn

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

_KEY = re.compile(r"[A-Za-z0-9_]+", re.ASCII)

Key = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_]+$")]


class IgnoredSectionsWarning(UserWarning):
    """A config gives both sections and sources, of which only the sources are read."""


class Strict(BaseModel):
    """Base of all parts of a config: no unknown keys, no values of another type, no changes afterwards."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class Section(Strict):
    """One field of a record, as text or, with `template`, as a list of messages through the chat template.

    `action`: "train" or "mask" all of it; "$role" looks each message's role up (templates only); "value" reads numbers
    (only as the one section of a source). `add_special_tokens`: null means for a text section "yes when no section has
    contributed before it", and for list elements "no"; a template section never gets them.
    """

    field: str
    action: Literal["train", "mask", "$role", "value"]
    template: bool = False
    add_special_tokens: bool | None = None

    @model_validator(mode="after")
    def _check(self) -> "Section":
        if self.action == "$role" and not self.template:
            raise ValueError("action '$role' needs template: true, a plain text has no role")
        if self.action == "value" and self.template:
            raise ValueError("action 'value' reads numbers, which no template renders")
        return self


Sections = Annotated[list[Section], Field(min_length=1)]


class Source(Strict):
    """One output of several. `list_field`: the field is a list whose elements are sequences of their own."""

    sections: Sections
    list_field: bool = False
    mask_key: Key | None = None

    @model_validator(mode="after")
    def _check(self) -> "Source":
        if len(self.sections) > 1 and any(section.action == "value" for section in self.sections):
            raise ValueError("action 'value' is for the only section of a source")
        return self


class OutputKind(StrEnum):
    """What a record has under an output's name."""

    SEQUENCE = "sequence"
    """One list of ids, and under the mask's name one of 0 and 1, of the same length."""
    GROUP = "group"
    """Lists of ids, one an element of the field, and as many masks."""
    VALUES = "values"
    """A list of floats, without a mask."""


@dataclass(frozen=True)
class Output:
    """One output of a config: the names of its arrays, and the sections that they are made of."""

    name: str
    mask_name: str | None
    kind: OutputKind
    sections: tuple[Section, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The array's name, and its mask's where it has one."""
        return (self.name,) if self.mask_name is None else (self.name, self.mask_name)

    @property
    def always_trains(self) -> bool:
        """Whether every mask of this output is all ones, whatever the record: plain texts, all of them trained."""
        return all(section.action == "train" and not section.template for section in self.sections)


class Input(Strict):
    """`sections` make the one output `sequence`; `sources`, when there are any, win, and `sections` are not read."""

    sections: Sections | None = None
    sources: dict[str, Source] | None = None

    @model_validator(mode="after")
    def _check(self) -> "Input":
        for i, section in enumerate(self.sections or ()):
            if section.action == "value":
                raise ValueError(f"sections.{i}: action 'value' is for the only section of a source")
        for name in self.sources or {}:
            if not _KEY.fullmatch(name):
                raise ValueError(f"sources.{name}: is no name of a key, allowed: letters, digits and _")
        names = (*self.names(), "position_ids")
        repeated = next((name for i, name in enumerate(names) if name in names[:i]), None)
        if repeated is not None:
            raise ValueError(f"sources: two arrays would be named {repeated!r}")
        if self.sections and self.sources:
            warn("input.sections is ignored, since input.sources is given", IgnoredSectionsWarning, stacklevel=2)
        return self

    def outputs(self) -> tuple[Output, ...]:
        """What each record is made into, in the order of the config; empty where the config has no input."""
        if self.sources:
            return tuple(_output_of(name, source) for name, source in self.sources.items())
        if self.sections:
            return (Output("sequence", "loss_mask", OutputKind.SEQUENCE, tuple(self.sections)),)
        return ()

    def names(self) -> tuple[str, ...]:
        """The names of all arrays that records are made into."""
        return tuple(name for output in self.outputs() for name in output.names)


def _output_of(name: str, source: Source) -> Output:
    sections = tuple(source.sections)
    if sections[0].action == "value":
        return Output(name, None, OutputKind.VALUES, sections)
    kind = OutputKind.GROUP if source.list_field else OutputKind.SEQUENCE
    return Output(name, source.mask_key or f"{name}_mask", kind, sections)
