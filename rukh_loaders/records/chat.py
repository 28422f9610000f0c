"""Chat templates: Jinja in a sandbox, compiled once; whatever goes wrong names the template's line.

The sandbox keeps a template from Python's internals and from changing the messages. It limits neither time nor memory:
a template is part of a tokenizer that somebody chose, a record is not.
"""

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

from rukh_loaders.errors import ChatTemplateError, ConversationError, UnsafeTemplateError

Message = Mapping[str, Any]


class ChatTemplate:
    """A template, ready to render. `where` names its file in errors; `variables` are the special tokens' texts.

    Templates see `messages`, `add_generation_prompt`, the variables and `raise_exception`. There is no clock, so that
    the same messages are always the same text. `ChatTemplateError` for what is no Jinja or cannot be compiled.
    """

    def __init__(self, source: str, where: str, variables: Mapping[str, str]) -> None:
        from jinja2 import TemplateSyntaxError

        from rukh_loaders.records.sandbox import ChatEnvironment

        self.where = where
        self.variables = dict(variables)
        try:
            self._template = ChatEnvironment().from_string(source)
        except TemplateSyntaxError as error:
            raise ChatTemplateError(f"{where}: line {error.lineno} of the chat template: {error.message}") from error
        except Exception as error:  # Jinja works out constants, and Python limits numbers, nested blocks and memory
            why = str(error) or type(error).__name__
            raise ChatTemplateError(f"{where}: the chat template cannot be compiled: {why}") from error

    def render(self, messages: Sequence[Message], *, add_generation_prompt: bool = False) -> str:
        """The text of a conversation, with the header of an answer behind it where asked.

        `ConversationError` when the template raises, by its own `raise_exception` or by what it does with the messages;
        `UnsafeTemplateError` when it reaches for what the sandbox keeps from it, `ChatTemplateError` when memory ends.
        """
        from jinja2.exceptions import SecurityError

        try:
            return self._template.render(
                {**self.variables, "messages": messages, "add_generation_prompt": add_generation_prompt}
            )
        except MemoryError as error:  # of the template or of the machine: no fault of the conversation
            raise ChatTemplateError(f"{self.where}: {_line(error)}: out of memory") from error
        except SecurityError as error:
            raise UnsafeTemplateError(f"{self.where}: {_line(error)}: {error}") from error
        except Exception as error:  # what a template can do to a value, and so raise, is open
            raise ConversationError(f"{self.where}: {_line(error)}: {error}") from error


def _line(error: BaseException) -> str:
    """`line N of the chat template`: Jinja puts frames of the template into the traceback of what it raises."""
    number = None
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        if "__jinja_exception__" in trace.tb_frame.f_globals:
            number = trace.tb_lineno
        trace = trace.tb_next
    return "the chat template" if number is None else f"line {number} of the chat template"
