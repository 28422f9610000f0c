"""The Jinja environment that chat templates run in. Imports jinja2, so it is imported when a template is read."""

import json
from typing import Any, NoReturn

from jinja2 import TemplateError
from jinja2.exceptions import SecurityError
from jinja2.sandbox import ImmutableSandboxedEnvironment


class ChatEnvironment(ImmutableSandboxedEnvironment):
    """Jinja's sandbox over values that cannot be changed, set up as authors of chat templates expect it.

    Blocks are trimmed, loops can `break` and `continue`, `tojson` keeps letters as they are, `raise_exception(text)`
    refuses a conversation. Reaching for an attribute that the sandbox keeps back raises at once, where Jinja's own
    would print nothing.
    """

    def __init__(self) -> None:
        super().__init__(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
        self.filters["tojson"] = _to_json
        self.globals["raise_exception"] = _raise_exception

    def unsafe_undefined(self, obj: Any, attribute: str) -> NoReturn:
        """Called by Jinja for an attribute that is not safe; `SecurityError`."""
        raise SecurityError(f"access to attribute {attribute!a} of {type(obj).__name__!a} is not allowed")


def _raise_exception(message: object) -> NoReturn:
    raise TemplateError(str(message))


def _to_json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)
