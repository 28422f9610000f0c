"""What a user can set: where things lie, where games come from and which are kept, on how many cores, what is forced.

Each default is read from the environment when the code location loads, so the Launchpad shows the value that a run
will use; a value typed there wins.
"""

import json
import os
import re
from pathlib import Path

import dagster as dg
from pydantic import Field

from rukh_assets.defs.partitions import months
from rukh_assets.encode import Encoder, make_encoder
from rukh_assets.errors import LakeError, SettingError, SourceMissingError, WorkersError
from rukh_assets.ingest.filters import Filters
from rukh_assets.ingest.find import find_files
from rukh_assets.ingest.sources import SAMPLE, Source, open_source
from rukh_assets.training import BPE_FILE
from rukh_loaders.errors import ManifestError
from rukh_loaders.formats import read_manifest, verify_files

SAMPLE_MONTH = "2025-01"
_PROJECT = Path(__file__).resolve().parents[2]


def default_home() -> str:
    """`RUKH_HOME`, else the project's folder, else (where the package is installed elsewhere) the working folder."""
    project = _PROJECT if (_PROJECT / "pyproject.toml").is_file() else Path.cwd()
    return os.environ.get("RUKH_HOME") or str(project)


class Lake(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Where everything lies: one folder, the paths in it fixed by the formats page."""

    home: str = Field(
        default=default_home(),
        description="Folder that holds data/ and artifacts/. Environment: RUKH_HOME. Default: the project's folder.",
    )

    @property
    def root(self) -> Path:
        """The folder itself, absolute.

        Raises `LakeError` where it lies in the home folder of nobody (`~name`).
        """
        try:
            return Path(self.home).expanduser().resolve()
        except RuntimeError as error:
            raise LakeError(f"RUKH_HOME {self.home!r}: there is no home folder of that name") from error

    def games(self, month: str) -> Path:
        """Folder of a month's games.parquet, manifest.json and rejects.jsonl."""
        return self.root / "data" / "games" / f"year={month[:4]}" / f"month={month[5:]}"

    def games_file(self, month: str) -> Path:
        """A month's games.parquet."""
        return self.games(month) / "games.parquet"

    def has_games(self, month: str, *, sample: bool) -> bool:
        """Whether games of the month stand, and are sample games or real ones, as asked."""
        try:
            manifest = read_manifest(self.games(month))
        except ManifestError:
            return False
        return bool(manifest["source"]["form"] == SAMPLE) == sample

    def shards(self, scheme: str, month: str) -> Path:
        """Folder of a month's shards in one scheme."""
        return self.root / "data" / "shards" / scheme / month

    def pack(self, scheme: str, month: str) -> Path:
        """Folder of a month's pack in one scheme."""
        return self.root / "data" / "packs" / scheme / month

    def report(self, month: str) -> Path:
        """Folder of a month's statistics."""
        return self.reports / month

    @property
    def reports(self) -> Path:
        """The folder over every month's statistics."""
        return self.root / "data" / "reports"

    @property
    def raw_records(self) -> Path:
        """The folder over every corpus' raw records."""
        return self.root / "data" / "raw_records"

    def raw_corpus(self, corpus: str) -> Path:
        """Folder of a corpus' config.json, its tokenizer/ and its months of raw records."""
        return self.raw_records / corpus

    def raw_corpus_month(self, corpus: str, month: str) -> Path:
        """Folder of a month's raw records: .jsonl and .json files."""
        return self.raw_corpus(corpus) / month

    def corpus(self, corpus: str, month: str) -> Path:
        """Folder of a month's record shards."""
        return self.root / "data" / "records" / corpus / month

    @property
    def vocab(self) -> Path:
        """The uci vocabulary's file."""
        return self.root / "artifacts" / "tokenizer" / "vocab.json"

    @property
    def bpe(self) -> Path:
        """Folder of the trained BPE tokenizer."""
        return self.root / "artifacts" / "tokenizer" / "bpe"

    @property
    def bpe_file(self) -> Path:
        """The trained BPE tokenizer itself, found to be the one that its manifest lists: it says what ids mean.

        Raises `ManifestError` for another file, and `LakeError` where no tokenizer was trained yet.
        """
        if not self.bpe.is_dir():
            raise LakeError(f"{self.bpe}: no tokenizer stands there; materialise bpe/tokenizer first")
        verify_files(self.bpe, read_manifest(self.bpe))
        return self.bpe / BPE_FILE

    def encoder(self, scheme: str) -> Encoder:
        """The encoder of a scheme; bpe takes the tokenizer that stands in the lake."""
        return make_encoder(scheme, self.bpe_file if scheme == "bpe" else None)

    @property
    def fixtures(self) -> Path:
        """Folder of the parity fixture."""
        return self.root / "artifacts" / "tokenizer" / "fixtures"

    @property
    def published_statistics(self) -> Path:
        """The published table of statistics."""
        return self.root / "artifacts" / "web" / "tokenizer-stats.json"


def default_workers() -> int | None:
    """`RUKH_WORKERS`, None where it is not set; raises `WorkersError` for what is no number of workers."""
    text = os.environ.get("RUKH_WORKERS")
    if not text:
        return None
    if not re.fullmatch("[1-9][0-9]{0,3}", text):
        raise WorkersError(f"RUKH_WORKERS is {text!r}; allowed are 1 to 9999, or not set for all cores")
    return int(text)


class Machine(dg.ConfigurableResource):  # type: ignore[type-arg]
    """What a run may use of the machine; no byte that it writes depends on it."""

    workers: int | None = Field(
        default=default_workers(),
        ge=1,
        description="Threads that read and encode games. Environment: RUKH_WORKERS. Default: one a core.",
    )


class FilterSettings(dg.Config, Filters):
    """Which games are kept; a month's manifest counts what each filter rejected."""

    # Dagster's config knows lists, not the tuple that the frozen filters hold.
    terminations: list[str] | None = Field(default=["Normal", "Time forfeit"])  # type: ignore[assignment]


def default_filters() -> FilterSettings:
    """The filters of `RUKH_FILTERS`, a JSON object such as `{"min_elo": 1500}`; where it is not set, the defaults.

    Raises `SettingError` for anything else in it.
    """
    text = os.environ.get("RUKH_FILTERS") or "{}"
    try:
        return FilterSettings(**json.loads(text))
    except (ValueError, TypeError) as error:
        raise SettingError(f"RUKH_FILTERS is {text!r}, expected JSON such as {{'min_elo': 1500}}: {error}") from error


class GameSource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Where a month's games come from, and which of them are kept."""

    source: str = Field(
        default=os.environ.get("RUKH_SOURCE") or "sample",
        description=(
            "`sample`, or a path pattern with {year} and {month} that ends in .parquet (Hugging Face layout, or games "
            "in this project's own format), .pgn.zst or .pgn; a glob may match several files. Environment: RUKH_SOURCE."
        ),
    )
    sample_games: int = Field(default=2000, ge=1, description="Games of a sample month that the default filters keep.")
    sample_seed: int = Field(default=0, ge=0, description="Seed of the sample months.")
    filters: FilterSettings = Field(
        default_factory=default_filters, description="Which games are kept. Environment: RUKH_FILTERS, as JSON."
    )

    def open(self, month: str) -> Source:
        """The month's raw games; every file is hashed here."""
        return open_source(self.source, month, sample_games=self.sample_games, seed=self.sample_seed)

    @property
    def is_sample(self) -> bool:
        """Whether months are sample games."""
        return self.source == SAMPLE

    def find(self, month: str) -> None:
        """Raise `SourceMissingError` when the month is not published yet; nothing is read."""
        if not self.is_sample:
            find_files(self.source, month)

    def first_month(self) -> str:
        """The first month that the source has; every month has a sample, of which this one stands for all.

        Raises `SourceMissingError` when it has none.
        """
        if self.is_sample:
            return SAMPLE_MONTH
        for month in months.get_partition_keys():
            try:
                self.find(month)
            except SourceMissingError:
                continue
            return month
        raise SourceMissingError(f"no month since 2013-01 has a file that matches {self.source!r}")

    def kept(self) -> Filters:
        """The filters as the ingest takes them."""
        return Filters(**self.filters.model_dump())


class MonthConfig(dg.Config):
    """What a single run of a monthly asset may be told."""

    force: bool = Field(default=False, description="Build again although nothing that the month is made from changed.")
