"""What the assets' pages show: column tables, small pictures, and progress in the log."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dagster as dg
import pyarrow as pa

OWNERS = ["team:rukh"]


def column_schema(schema: pa.Schema, meanings: Mapping[str, str]) -> dict[str, Any]:
    """Definition metadata that makes the UI's Columns tab: names, types and what each column means."""
    columns = [
        dg.TableColumn(field.name, type=str(field.type), description=meanings.get(field.name)) for field in schema
    ]
    return {"dagster/column_schema": dg.TableSchema(columns=columns)}


def array_schema(arrays: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    """The same for arrays on disk: name -> dtype and what it means."""
    columns = [dg.TableColumn(name, type=kind, description=meaning) for name, (kind, meaning) in arrays.items()]
    return {"dagster/column_schema": dg.TableSchema(columns=columns)}


def counts_table(title: str, unit: str, counts: Mapping[str, int]) -> dg.MarkdownMetadataValue:
    """A two-column table, largest count first; rows of zero are left out."""
    rows = sorted(((name, count) for name, count in counts.items() if count), key=lambda row: (-row[1], row[0]))
    lines = [f"| {title} | {unit} |", "|---|---:|", *(f"| {name} | {count:,} |" for name, count in rows)]
    return dg.MetadataValue.md("\n".join(lines) if rows else "none")


def picture(data_uri: str, caption: str) -> dg.MarkdownMetadataValue:
    """A picture that the UI shows inline."""
    return dg.MetadataValue.md(f"![{caption}]({data_uri})")


def progress_log(
    log: dg.DagsterLogManager, what: str, units: Sequence[str], every_seconds: float = 5.0
) -> Callable[..., None]:
    """A callback that takes counts so far, one per unit, and logs them with a rate at most every few seconds."""
    began = last = time.monotonic()

    def tell(*counts: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < every_seconds:
            return
        last = now
        parts = ", ".join(f"{count:,} {unit}" for count, unit in zip(counts, units, strict=True))
        log.info(f"{what}: {parts} ({counts[0] / (now - began):,.0f} {units[0]}/s)")

    return tell
