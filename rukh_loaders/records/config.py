"""What a record corpus is made of: one strict, typed JSON config for the offline pipeline and the lazy stores.

Sections say which fields of a record become ids and which of them are trained; `outputs()` is what the rest reads.
"""

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, ValidationError, model_validator

from rukh_loaders.errors import RecordConfigError
from rukh_loaders.formats.manifest import digest
from rukh_loaders.records.faults import describe_faults
from rukh_loaders.records.inputs import Input, Output, OutputKind, Section, Strict

Positive = Annotated[int, Field(gt=0)]
NotNegative = Annotated[int, Field(ge=0)]
Train = Literal["train", "mask"]
Integers = Literal["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
Dtype = Literal["bool", Integers, "float16", "float32", "float64"]

VALUE_DTYPE = "float32"
"""Of values where the config says nothing."""

OWN_OPTIONS: dict[str, Any] = {
    "add_bos": True,
    "append_eos": False,
    "trained_turns": "all",
    "trained_part": "turn",
    "record_form": "fields",
    "max_record_chars": 4_000_000,
    "strict": False,
}
"""Options of `preprocessing` that other readers of the format do not know: left out of `to_dict` at these defaults."""


class Preprocessing(Strict):
    """How records become sequences, and sequences are packed.

    `truncation_mode` is one policy: it says which end of a sequence longer than `max_seq_len` is kept when it is built,
    and of one longer than `max_packed_len` when it is packed. `min_chars` and `max_chars` (inclusive) measure texts of
    outputs that train every section and have no template. `max_items` counts records that are kept.

    Options of our own, whose defaults keep what the format has always given:

    - `add_bos`: the tokenizer's bos id stands before what a template renders; not, where the template says it all.
    - `append_eos`: the tokenizer's eos id, trained, after each sequence (or list element) whose last token is trained
      and is not eos already. Recommended for pretraining text whose tokenizer puts no end there by itself.
    - `trained_turns`: "all" turns of a trained role; "last" only the last message of a conversation, which templates
      need that write earlier answers otherwise than the last, such as without the thinking: turns cannot be told apart.
    - `trained_part`: of a trained turn, "turn" trains all of it, role header and trailing blanks included; "content"
      only what the model has to write, the content and the end marker.
    - `record_form`: "fields", whose sections read a record as it is; "pair", for preference records: a prompt and two
      answers become two conversations, `chosen` and `rejected`, first, see `rukh_loaders.records.pairs`.
    - `max_record_chars`: a record whose texts, rendered conversations among them, have more characters together, and
      more than `max_chars`, is skipped. It bounds what memory one line can take, some 200 bytes a character, since
      texts are encoded before they are cut.
    - `strict`: the first bad line or malformed record ends the run.
    """

    max_seq_len: Positive = 2048
    min_chars: NotNegative = 50
    max_chars: NotNegative = 2_000_000
    max_items: Positive | None = None
    batch_size: Positive = 256
    packing_strategy: Literal["simple", "bfd", "bfd_split"] = "simple"
    max_packed_len: Positive = 8192
    truncation_mode: Literal["keep_start", "keep_end"] = "keep_start"
    add_bos: bool = True
    append_eos: bool = False
    trained_turns: Literal["all", "last"] = "all"
    trained_part: Literal["turn", "content"] = "turn"
    record_form: Literal["fields", "pair"] = "fields"
    max_record_chars: Positive = 4_000_000
    strict: bool = False

    @model_validator(mode="after")
    def _check(self) -> "Preprocessing":
        if self.min_chars > self.max_chars:
            raise ValueError(f"min_chars is {self.min_chars}, above max_chars, {self.max_chars}: no text can be kept")
        return self


class Writing(Strict):
    """Where records go and as what: `domain_key` names the record's key that names its folder."""

    domain_key: str | None = None
    storage_format: Literal["bin"] = "bin"
    max_tokens_per_shard: Positive = 100_000_000
    dtype: dict[str, Dtype] = Field(default_factory=dict)
    position_ids_mode: Literal["none", "doc_reset", "continuous"] = "doc_reset"


class PipelineConfig(Strict):
    """The whole config. `mask` maps a role to its action, `mask_default` is for roles that are not in it."""

    version: Literal[1] = 1
    input: Input = Input()
    mask: dict[str, Train] = Field(default_factory=dict)
    mask_default: Train = "mask"
    preprocessing: Preprocessing = Preprocessing()
    output: Writing = Writing()

    @model_validator(mode="after")
    def _check(self) -> "PipelineConfig":
        names = self.input.names()
        for key in self.output.dtype if names else ():
            if key not in (*names, "position_ids"):
                allowed = ", ".join((*names, "position_ids"))
                raise ValueError(f"output.dtype.{key}: the config makes no such key, allowed: {allowed}")
        if names and self.preprocessing.record_form == "pair":
            sections = (section for output in self.input.outputs() for section in output.sections)
            talks = {section.field for section in sections if section.template}
            if not {"chosen", "rejected"} <= talks:
                raise ValueError("preprocessing.record_form: got 'pair', which needs templates of chosen and rejected")
        return self

    @classmethod
    def from_dict(cls, config: dict[str, Any]) -> "PipelineConfig":
        """Check and take a config; `RecordConfigError` names every fault by the path of its key."""
        if not isinstance(config, dict):
            raise RecordConfigError(f"the config: got a JSON {type(config).__name__}, allowed: an object")
        try:
            return cls.model_validate(config)
        except ValidationError as error:
            raise RecordConfigError("; ".join(describe_faults(error, cls))) from error

    @classmethod
    def from_file(cls, path: Path | str) -> "PipelineConfig":
        """Read a UTF-8 JSON file; `RecordConfigError` names the file and every fault in it."""
        try:
            config = json.loads(Path(path).read_bytes().decode("utf-8-sig"))
        except OSError as error:
            raise RecordConfigError(f"{path}: cannot be read: {error.strerror or error}") from error
        except (ValueError, RecursionError) as error:
            raise RecordConfigError(f"{path}: is not JSON: {error}") from error
        try:
            return cls.from_dict(config)
        except RecordConfigError as error:
            raise RecordConfigError(f"{path}: {error}") from error

    def to_dict(self) -> dict[str, Any]:
        """The config as JSON values: every key that other readers know, and options of our own where they are set.

        Sections and sources have the keys that were given for them, so that a whole config comes back as it was.
        """
        config = self.model_dump(mode="json")
        config["input"] |= self.input.model_dump(mode="json", exclude_unset=True)
        options = config["preprocessing"]
        config["preprocessing"] = {k: v for k, v in options.items() if k not in OWN_OPTIONS or v != OWN_OPTIONS[k]}
        return config

    def to_file(self, path: Path | str) -> None:
        """Write `to_dict` as UTF-8 JSON, `indent=2`, letters outside ASCII kept."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    def outputs(self) -> tuple[Output, ...]:
        """What each record is made into; `RecordConfigError` for a config that reads nothing."""
        outputs = self.input.outputs()
        if not outputs:
            raise RecordConfigError("input: neither sections nor sources, so no record can be built")
        return outputs

    def value_dtype(self, name: str) -> np.dtype[Any]:
        """What the values of this name are kept as."""
        return np.dtype(self.output.dtype.get(name, VALUE_DTYPE))

    def trains(self, section: Section, role: str) -> bool:
        """Whether a section trains the messages of a role."""
        action = self.mask.get(role, self.mask_default) if section.action == "$role" else section.action
        return action == "train"

    def can_train(self, output: Output) -> bool:
        """Whether any record could have a trained token under the output's name."""
        actions = {section.action for section in output.sections}
        return "train" in actions or ("$role" in actions and "train" in (*self.mask.values(), self.mask_default))

    def for_building(self) -> "PipelineConfig":
        """The config that records are built with: what rows would cut is cut there, where it is counted and judged.

        Both limits cut the same end. Rows that split documents cut nothing, and what is never packed is not cut to a
        row.
        """
        limits = self.preprocessing
        packs = any(output.name == "sequence" and output.kind is OutputKind.SEQUENCE for output in self.outputs())
        if limits.packing_strategy == "bfd_split" or (limits.packing_strategy == "bfd" and not packs):
            return self
        limit = min(limits.max_seq_len, limits.max_packed_len)
        return self.model_copy(update={"preprocessing": limits.model_copy(update={"max_seq_len": limit})})

    @property
    def fingerprint(self) -> str:
        """sha256 over every setting, defaults filled in: the same for two spellings of one config."""
        return digest(self.model_dump(mode="json"))
