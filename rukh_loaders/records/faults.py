"""What is wrong with a config, in words: the path of the key, what was got and what is allowed."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ValidationError


def describe_faults(error: ValidationError, model: type[BaseModel]) -> Iterator[str]:
    """One text a fault: `preprocessing.max_seq_len: got 0, allowed: greater than 0`."""
    for fault in error.errors():
        loc = tuple(part for part in fault["loc"] if part != "[key]")
        path = ".".join(map(str, loc))
        if fault["type"] == "value_error":
            separator = "." if _names_a_key(str(fault["ctx"]["error"])) else ": "
            yield f"{path}{separator}{fault['ctx']['error']}" if path else str(fault["ctx"]["error"])
        elif fault["type"] == "missing":
            yield f"{path}: missing"
        elif fault["type"] == "extra_forbidden":
            yield f"{path}: got {_short(fault['input'])}, allowed keys here: {', '.join(_keys_at(model, loc[:-1]))}"
        else:
            allowed = fault["msg"].removeprefix("Input should be ")
            yield f"{path}: got {_short(fault['input'])}, allowed: {allowed}"


def _names_a_key(text: str) -> bool:
    """Whether a text of our own validators goes on with the path, as in `sections.0: action ...`."""
    return text.startswith(("sections.", "sources.", "sources:"))


def _keys_at(model: type[BaseModel], loc: tuple[int | str, ...]) -> list[str]:
    """The keys that the part of the config at this path may have."""
    for part in loc:
        field = model.model_fields.get(str(part))
        if field is not None:
            model = _model_in(field.annotation) or model
    return list(model.model_fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The model inside an annotation such as `dict[str, Source] | None`, or none."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    models = map(_model_in, getattr(annotation, "__args__", ()))
    return next((model for model in models if model is not None), None)


def _short(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= 80 else text[:77] + "..."
