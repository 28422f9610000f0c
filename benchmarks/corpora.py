"""The games that are measured: made once, in every form that a stage reads, and kept in the system's temporary folder.

Two sets of distinct games: `sample`, made by the sample source, and `head`, the real games beside the project where
they are present. A corpus of any size repeats its set, each time with other addresses, so that no game is a duplicate.
"""

import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import zstandard

from rukh_assets import ingest
from rukh_assets.encode import make_encoder
from rukh_assets.ingest.filters import Filters
from rukh_assets.ingest.judge import judge
from rukh_assets.ingest.month import GAMES_FILE, read_month
from rukh_assets.ingest.raw import TAGS
from rukh_assets.ingest.sample import sample_batches
from rukh_assets.ingest.sources import Source, open_source
from rukh_assets.packing import pack_month
from rukh_assets.training import TrainingGames, tokenizer_of_month
from rukh_loaders.formats import PackWriter, open_pack, publish_folder
from rukh_loaders.tokenizers.bpe import VOCAB_SIZE

MONTH = "2021-10"
DISTINCT_GAMES = 200_000
"""Most games of the sample before it repeats."""
HEAD = Path(__file__).resolve().parents[2] / "shared" / "data"

NOTHING_FILTERED = Filters(
    min_elo=None,
    min_base_seconds=None,
    terminations=None,
    min_plies=None,
    max_plies=None,
    exclude_bots=False,
    exclude_same_player=False,
)
"""So that every game of a raw corpus is one of which the moves are read."""

_SITE = re.compile(r'^\[Site "([^"]*)"\]$', re.MULTILINE)
_ROW_GROUP_GAMES = 10_000
_FRAME_GAMES = 5_000
PACK_REPEATS = 15
"""How often a pack repeats its games: 200,000 of them make 3M and some 480 MB, more than any cache of a processor."""


def head_is_present() -> bool:
    """Whether the real games are on this machine."""
    return HEAD.is_dir()


@dataclass(frozen=True)
class Corpora:
    """Files of games, made when they are first asked for; `of` says of which set, "sample" or "head"."""

    folder: Path
    distinct: int = DISTINCT_GAMES
    """Most games of the sample before it repeats."""
    head: Path = HEAD

    def hf(self, games: int, of: str = "sample") -> Path:
        """A raw month in the Hugging Face layout."""
        return self._made("hf", games, of, self._write_hf) / f"{MONTH}.parquet"

    def pgn_zst(self, games: int, of: str = "sample") -> Path:
        """A raw month as a dump of several zstandard frames."""
        return self._made("zst", games, of, self._write_pgn_zst) / f"{MONTH}.pgn.zst"

    def games(self, games: int) -> Path:
        """The games.parquet that the ingest makes of `hf`."""
        return self._made("games", games, "sample", self._write_games) / "month" / GAMES_FILE

    def bpe(self) -> Path:
        """The folder of a tokenizer trained on the distinct sample games."""
        return self._made("bpe", self.distinct, "sample", self._train_bpe) / "bpe"

    def pack(self, games: int) -> Path:
        """A pack of the uci scheme without columns: `games` of the sample, `PACK_REPEATS` times over."""
        return self._made("pack", games, "sample", self._write_pack) / "pack"

    def _made(self, form: str, games: int, of: str, write: Callable[[int, str, Path], None]) -> Path:
        """The folder of a corpus, written if it is not there yet; whole, whatever happens meanwhile."""
        repeats = f"-of-{self.distinct}" if of == "sample" and games > self.distinct else ""
        folder = self.folder / f"{of}-{form}-{games}{repeats}"
        if not folder.exists():
            with publish_folder(folder) as building:
                write(games, of, building)
        return folder

    def _write_hf(self, games: int, of: str, folder: Path) -> None:
        table = self._distinct_hf(games, of)
        with pq.ParquetWriter(folder / f"{MONTH}.parquet", table.schema, compression="zstd") as writer:
            for repeat, count in _repeats(games, table.num_rows):
                sites = pc.binary_join_element_wise(table["Site"], _suffix(repeat), "")
                repeated = table.set_column(table.schema.get_field_index("Site"), "Site", sites)
                writer.write_table(repeated.slice(0, count), row_group_size=_ROW_GROUP_GAMES)

    def _write_pgn_zst(self, games: int, of: str, folder: Path) -> None:
        compressor = zstandard.ZstdCompressor()
        texts = self._head_texts(games) if of == "head" else self._sample_texts(games)
        with (folder / f"{MONTH}.pgn.zst").open("wb") as file:
            for text in texts:
                file.write(compressor.compress(text.encode()))

    def _write_games(self, games: int, of: str, folder: Path) -> None:
        read_month(MONTH, open_month(self.hf(games, of)), NOTHING_FILTERED, folder / "month")

    def _train_bpe(self, games: int, of: str, folder: Path) -> None:
        standing = TrainingGames.standing(MONTH, self.games(games).parent)
        tokenizer_of_month(folder / "bpe", standing, training_month=None, training_games=games, vocab_size=VOCAB_SIZE)

    def _write_pack(self, games: int, of: str, folder: Path) -> None:
        with tempfile.TemporaryDirectory() as once:
            pack_month(self.games(games), make_encoder("uci"), Path(once, "pack"))
            pack = open_pack(Path(once, "pack"))
            lengths = np.diff(pack.starts, append=pack.info.n_tokens)
            info = pack.info.model_copy(
                update={"n_games": games * PACK_REPEATS, "n_tokens": pack.info.n_tokens * PACK_REPEATS}
            )
            with PackWriter(folder / "pack", info) as writer:
                for _ in range(PACK_REPEATS):
                    writer.append(pack.tokens, lengths)
                writer.finish({})

    def _distinct_hf(self, games: int, of: str) -> pa.Table:
        if of == "head":
            year, month = MONTH.split("-")
            files = sorted(self.head.glob(f"hf/data/year={year}/month={month}/*.parquet"))
            return pq.read_table(files, partitioning=None)
        if games != self.distinct:
            return pq.read_table(self.hf(self.distinct), partitioning=None)
        rows = _kept_sample(games)
        columns = {tag: rows[column] for tag, column in TAGS.items()} | {"movetext": rows["movetext"]}
        columns |= {tag: columns[tag].cast(pa.int16()) for tag in ("WhiteElo", "BlackElo")}
        columns["UTCDate"] = pc.strptime(columns["UTCDate"], "%Y.%m.%d", "s").cast(pa.date32())
        return pa.table(columns).drop_columns(["Variant", "FEN", "SetUp"])

    def _sample_texts(self, games: int) -> Iterator[str]:
        with pq.ParquetFile(self.hf(games)) as file:
            for batch in file.iter_batches(_FRAME_GAMES):
                yield "".join(map(_pgn, batch.to_pylist()))

    def _head_texts(self, games: int) -> Iterator[str]:
        text = (self.head / f"lichess-{MONTH}-head.pgn").read_text("utf-8")
        distinct = [f"[Event {game.rstrip()}\n\n" for game in text.split("[Event ")[1:]]
        for repeat, count in _repeats(games, len(distinct)):
            yield _SITE.sub(rf'[Site "\1{_suffix(repeat)}"]', "".join(distinct[:count]))


def setting_of(raw: Path) -> str:
    """The source setting that names a raw corpus, a file of `hf` or `pgn_zst`."""
    return str(raw.with_name(raw.name.replace(MONTH, "{year}-{month}")))


def open_month(raw: Path) -> Source:
    """A raw corpus as the source of `MONTH`."""
    return open_source(setting_of(raw), MONTH)


def default_corpora(distinct: int = DISTINCT_GAMES) -> Corpora:
    """The corpora in the system's temporary folder, one folder for each version of the code that makes them."""
    folder = Path(tempfile.gettempdir()) / f"rukh-benchmarks-{os.getuid()}-{_code_version()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return Corpora(folder, distinct)


def _kept_sample(games: int) -> pa.Table:
    """Raw sample games of which the default filters keep every one."""
    batches = []
    for batch in sample_batches(MONTH, games, seed=0):
        kept = judge(batch, MONTH, Filters()).rows
        batches.append(batch.take(pa.array(kept, pa.int64())))
    return pa.Table.from_batches(batches).combine_chunks()


def _repeats(games: int, distinct: int) -> Iterator[tuple[int, int]]:
    """Yield the number of each repeat, and how many games of it are wanted."""
    for repeat in range(-(-games // distinct)):
        yield repeat, min(distinct, games - repeat * distinct)


def _suffix(repeat: int) -> str:
    return f"-{repeat}" if repeat else ""


def _pgn(game: dict[str, Any]) -> str:
    tags = game | {"UTCDate": game["UTCDate"].strftime("%Y.%m.%d")}
    lines = [f'[{tag} "{tags[tag]}"]\n' for tag in TAGS if tags.get(tag) is not None]
    return f"{''.join(lines)}\n{game['movetext']}\n\n"


def _code_version() -> str:
    """A digest of the code that decides what the corpora hold."""
    sources = [*sorted(Path(ingest.__file__).parent.rglob("*.py")), Path(__file__)]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:12]
