"""The three encoders: a games.parquet to ids."""

import functools
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import baselines
from benchmarks.measure import Variant, Work, interleave
from benchmarks.plan import Plan
from benchmarks.report import Floor, Result
from rukh_assets.encode import Encoder, make_encoder
from rukh_assets.encode.encoder import Encoded
from rukh_assets.packing import pack_month
from rukh_assets.training import BPE_FILE
from rukh_loaders.formats.npy import NpyWriter
from rukh_loaders.tokenizers.bpe import bpe_text, load_bpe

_ENCODED_COLUMNS = ["game_id", "uci", "white_elo", "black_elo", "result"]
_DECODE = "parquet decode alone"


def uci(plan: Plan) -> list[Result]:
    """Games to the .npy files of a pack. How much of that is decoding the parquet tells how little is left to gain."""
    encoder = make_encoder("uci")
    slice_, games = plan.corpora.games(plan.at_most(20_000)), plan.corpora.games(plan.games)
    with tempfile.TemporaryDirectory() as folder:
        timings = interleave(
            [
                Variant("plain Python", lambda: _plain(baselines.uci_ids(slice_), Path(folder))),
                Variant("rukh", lambda: _save(games, encoder, Path(folder))),
                Variant("rukh, pack_month", lambda: _pack(games, encoder, Path(folder))),
                Variant(_DECODE, lambda: _decode(games)),
            ],
            plan.rounds,
        )
    share = 100 * timings[_DECODE].cpu_s / timings["rukh"].cpu_s
    return [
        *plan.compare("uci", timings, {"rukh": Floor(least=15)}),
        plan.figure("uci", "decode's share", share, "%", Floor(least=50)),
    ]


def san(plan: Plan) -> list[Result]:
    """Games to ids, every one replayed."""
    return _scheme(plan, "san", make_encoder("san"), baselines.san_ids, plan.at_most(400), Floor(least=100))


def bpe(plan: Plan) -> list[Result]:
    """Games to ids, and the library's fastest call on their texts alone."""
    tokenizer = load_bpe(plan.corpora.bpe() / BPE_FILE)
    texts = [
        bpe_text(uci)
        for table in _row_groups(plan.corpora.games(plan.at_most(20_000)))
        for uci in table["uci"].to_pylist()
    ]

    def library_alone() -> Work:
        encodings = tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        return Work(len(texts), sum(len(encoding) for encoding in encodings))

    plain = functools.partial(baselines.bpe_ids, tokenizer=tokenizer)
    alone = Variant("encode_batch_fast alone", library_alone)
    encoder = make_encoder("bpe", tokenizer)
    return _scheme(plan, "bpe", encoder, plain, plan.at_most(10_000), Floor(least=1.5), [alone])


def _scheme(
    plan: Plan,
    scheme: str,
    encoder: Encoder,
    plain: Callable[[Path], baselines.Ids],
    plain_games: int,
    floor: Floor,
    others: Sequence[Variant] = (),
) -> list[Result]:
    slice_, games = plan.corpora.games(plain_games), plan.corpora.games(plan.games)
    with tempfile.TemporaryDirectory() as folder:
        timings = interleave(
            [
                Variant("plain Python", lambda: _plain(plain(slice_))),
                Variant("rukh", lambda: _encode(games, encoder)),
                Variant("rukh, pack_month", lambda: _pack(games, encoder, Path(folder))),
                *others,
                Variant(_DECODE, lambda: _decode(games)),
            ],
            plan.rounds,
        )
    return plan.compare(scheme, timings, {"rukh": floor})


def _plain(games: baselines.Ids, folder: Path | None = None) -> Work:
    tokens = baselines.save_ids(games, folder) if folder else sum(map(len, games))
    return Work(len(games), tokens)


def _encode(games: Path, encoder: Encoder) -> Work:
    n_games = n_tokens = 0
    for ids, lengths in _encoded(games, encoder):
        n_games += lengths.size
        n_tokens += ids.size
    return Work(n_games, n_tokens)


def _save(games: Path, encoder: Encoder, folder: Path) -> Work:
    encoded = list(_encoded(games, encoder))
    lengths = np.concatenate([lengths for _, lengths in encoded])
    ends = np.cumsum(lengths)
    with (
        NpyWriter(folder / "tokens.npy", np.uint16, int(ends[-1])) as tokens,
        NpyWriter(folder / "starts.npy", np.int64, ends.size) as starts,
    ):
        for ids, _ in encoded:
            tokens.append(ids)
        starts.append(ends - lengths)
    return Work(lengths.size, int(ends[-1]))


def _pack(games: Path, encoder: Encoder, folder: Path) -> Work:
    info = pack_month(games, encoder, folder / "pack")
    return Work(info.n_games, info.n_tokens)


def _decode(games: Path) -> Work:
    return Work(sum(table.num_rows for table in _row_groups(games)))


def _encoded(games: Path, encoder: Encoder) -> Iterator[Encoded]:
    for table in _row_groups(games):
        for batch in table.combine_chunks().to_batches():
            yield encoder.encode_batch(batch)


def _row_groups(games: Path) -> Iterator[pa.Table]:
    with pq.ParquetFile(games) as file:
        for number in range(file.num_row_groups):
            yield file.read_row_group(number, columns=_ENCODED_COLUMNS)
