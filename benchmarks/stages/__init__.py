"""The stages by name: what each measures, and what it needs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module

from benchmarks.plan import Plan
from benchmarks.report import Result


@dataclass(frozen=True)
class Stage:
    """A function of a module here, which is imported only in the process that runs it."""

    module: str
    function: str
    settings: Mapping[str, str] = field(default_factory=dict)
    one_core: bool = True
    """Whether its process is kept on one core, without threads of the libraries' own."""
    needs_head: bool = False
    """Whether it needs the real games."""
    needs_gpu: bool = False

    def run(self, plan: Plan) -> list[Result]:
        function: Callable[..., list[Result]] = getattr(import_module(f"{__name__}.{self.module}"), self.function)
        return function(plan, **self.settings)


STAGES = {
    "uci": Stage("encoding", "uci"),
    "san": Stage("encoding", "san"),
    "bpe": Stage("encoding", "bpe"),
    "movetext": Stage("ingest", "movetext", {"of": "sample"}),
    "movetext_head": Stage("ingest", "movetext", {"of": "head"}, needs_head=True),
    "pgn_zst": Stage("ingest", "pgn_zst", {"of": "sample"}),
    "pgn_zst_head": Stage("ingest", "pgn_zst", {"of": "head"}, needs_head=True),
    "packing": Stage("packing", "packing"),
    "sample": Stage("sample", "sample"),
    "records": Stage("records", "records"),
    "loader": Stage("loader", "loader"),
    "loader_wait": Stage("loader_wait", "loader_wait", one_core=False),
    "loader_start": Stage("loader_start", "loader_start"),
    "loader_gpu": Stage("loader_gpu", "loader_gpu", one_core=False, needs_gpu=True),
    "cores": Stage("cores", "cores", one_core=False),
    "dagster": Stage("chain", "dagster", one_core=False),
    "growth": Stage("chain", "growth", one_core=False),
    "start": Stage("start", "start"),
}
