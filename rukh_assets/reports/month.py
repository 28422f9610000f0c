"""A month's report, `data/reports/<YYYY-MM>/`, and the one table that is published of all of them.

tokenizer-stats.json         the whole month
tokenizer-stats-20000.json   its first 20,000 games, as the published table counts them
lengths.svg                  histograms of how long games are in each scheme
manifest.json                what they were made from, written last
"""

import re
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rukh_assets.encode import SCHEMES
from rukh_assets.errors import ReportMissingError
from rukh_assets.reports.lengths import pack_lengths
from rukh_assets.reports.pictures import histograms_svg
from rukh_assets.reports.statistics import month_statistics, to_bytes
from rukh_assets.standing import standing_manifest
from rukh_loaders.errors import PackError
from rukh_loaders.formats import (
    MANIFEST,
    Pack,
    describe_files,
    digest,
    hash_file,
    open_pack,
    publish_file,
    publish_folder,
    read_manifest,
    verify_files,
    write_manifest,
)
from rukh_loaders.formats.publish import exclusive

REPORT_VERSION = 1
REPORT_FORMAT_VERSION = 1
PUBLISHED_GAMES = 20_000

WHOLE_MONTH = "tokenizer-stats.json"
FIRST_GAMES = f"tokenizer-stats-{PUBLISHED_GAMES}.json"
PICTURE = "lengths.svg"

_MONTH = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])")


def write_report(packs: Mapping[str, Path], bpe_file: Path, out_dir: Path) -> dict[str, Any]:
    """Write a month's report from its packs, scheme -> folder, and the tokenizer of the bpe pack; it appears whole.

    Returns the manifest: besides versions, `files`, `inputs` and `data_version` it holds `statistics`, the table of the
    whole month. Raises `StatisticsError` as `month_statistics` does, and `PackError` for what is no pack.
    """
    opened, tokenizer = _open(packs), _tokenizer(bpe_file)
    statistics = month_statistics(opened, tokenizer)
    with publish_folder(out_dir) as building:
        (building / WHOLE_MONTH).write_bytes(to_bytes(statistics))
        (building / FIRST_GAMES).write_bytes(to_bytes(month_statistics(opened, tokenizer, first=PUBLISHED_GAMES)))
        lengths = {scheme: pack_lengths(opened[scheme]) for scheme in SCHEMES}
        (building / PICTURE).write_bytes(histograms_svg(lengths))
        files = describe_files(building)
        manifest = {
            "format_version": REPORT_FORMAT_VERSION,
            "code_version": REPORT_VERSION,
            "statistics": statistics,
            "inputs": _inputs(opened, tokenizer),
            "files": files,
            "data_version": digest(files),
            "libraries": {name: version(name) for name in ("numpy", "tokenizers")},
        }
        write_manifest(building, manifest)
    return manifest


def standing_report(packs: Mapping[str, Path], bpe_file: Path, out_dir: Path) -> dict[str, Any] | None:
    """The manifest of the report in `out_dir` if it is whole and `write_report` would make it again, else None."""
    return standing_manifest(out_dir, _inputs(_open(packs), _tokenizer(bpe_file)))


def publish_newest(reports_dir: Path, target: Path) -> str:
    """Put the newest month's table over its first games at `target`, and return that month.

    Called after each report: whatever the order in which months are done, and however many at once, the table that
    stands in the end is that of the newest month with a report, since looking and publishing happen under one lock.

    Raises `ReportMissingError` where no month has a report, `ManifestError` for one whose files are not those it lists.
    """
    with exclusive(target):
        months = [path.parent.name for path in reports_dir.glob(f"*/{MANIFEST}") if _MONTH.fullmatch(path.parent.name)]
        if not months:
            raise ReportMissingError(f"{reports_dir}: no month has a report; a folder <YYYY-MM> with a manifest is one")
        newest = max(months)
        report = reports_dir / newest
        verify_files(report, read_manifest(report))
        table = (report / FIRST_GAMES).read_bytes()
        if not target.is_file() or target.read_bytes() != table:
            publish_file(target, table)
    return newest


def _open(packs: Mapping[str, Path]) -> dict[str, Pack]:
    """The packs, their starts found to be those of their manifests: all that the statistics read."""
    opened = {scheme: open_pack(path) for scheme, path in packs.items()}
    for pack in opened.values():
        got = hash_file(pack.path / "starts.npy")["sha256"]
        if got != (said := _starts_sha256(pack)):
            raise PackError(f"{pack.path / 'starts.npy'}: has sha256 {got}, its manifest says {said}")
    return opened


def _tokenizer(bpe_file: Path) -> Any:
    from rukh_loaders.tokenizers.bpe import load_bpe

    return load_bpe(bpe_file)


def _inputs(packs: Mapping[str, Pack], tokenizer: Any) -> str:
    """A digest of all that the report depends on: where games start, the vocabularies, the code."""
    from rukh_loaders.tokenizers.bpe import bpe_vocabulary

    return digest(
        {
            "packs": {scheme: [pack.info.model_dump(), _starts_sha256(pack)] for scheme, pack in packs.items()},
            "vocab_hash": bpe_vocabulary(tokenizer).vocab_hash,
            "code_version": REPORT_VERSION,
        }
    )


def _starts_sha256(pack: Pack) -> str:
    if pack.manifest is None:
        return hash_file(pack.path / "starts.npy")["sha256"]
    sha256: str = pack.manifest["files"]["starts.npy"]["sha256"]
    return sha256
