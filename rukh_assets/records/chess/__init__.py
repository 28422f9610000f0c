"""A month of games as raw records: real data for each of the four training types, without an engine.

    games.parquet ──▶ chess_seq    whole games as text
                  ──▶ chess_sft    whole games as talks, of which one side's moves are trained
    raw source ─────▶ chess_grpo   positions that several games reached: the moves played, and what each did
                        ──▶ chess_dpo   of such a position the best move and a clearly worse one

    games, groups, pairs   the recipes: GameTexts and OneSide, Groups, Pairs
    annotated              kept games, replayed, with evaluations; evaluations, kernels
    spool                  visits of positions in files, grouped in bounded memory
    tokens                 games as text, and the tokenizer folder that reads it: the ids of the uci scheme
    corpora                each corpus' config.json
    making                 make_records: a month's folder, published whole

docs/records.md says what such data is, and what it is not. A month of two games, as `chess_sft`:

>>> import json, tempfile
>>> from pathlib import Path
>>> from rukh_assets.ingest.filters import Filters
>>> from rukh_assets.ingest.month import read_month
>>> from rukh_assets.ingest.sources import open_source
>>> from rukh_assets.records.chess import OneSide, make_records
>>> home = tempfile.TemporaryDirectory()
>>> folder = Path(home.name)
>>> tags = '[WhiteElo "1900"]\\n[BlackElo "1850"]\\n[TimeControl "300+3"]\\n[Termination "Normal"]'
>>> games = {"one": ("1. f3 e5 2. g4 Qh4#", "0-1"), "two": ("1. e4 e5 2. Nf3 Nf6", "1/2-1/2")}
>>> _ = (folder / "2024-01.pgn").write_text("".join(
...     f'[Event "x"]\\n[Site "{site}"]\\n[Result "{result}"]\\n{tags}\\n\\n{moves} {result}\\n\\n'
...     for site, (moves, result) in games.items()
... ))
>>> source = open_source(f"{folder}/{{year}}-{{month}}.pgn", "2024-01")
>>> _ = read_month("2024-01", source, Filters(min_plies=2), folder / "games")

Of the draw no record is made: it has no winner.

>>> manifest, work = make_records(OneSide(folder / "games"), "2024-01", folder / "chess_sft")
>>> work, manifest["n_records"], manifest["counts"]
('built', 1, {'games': 2, 'games_without_a_record': 1})
>>> sorted(path.name for path in (folder / "chess_sft").iterdir())
['2024-01', 'config.json', 'tokenizer']
>>> record = json.loads((folder / "chess_sft" / "2024-01" / "part_0000.jsonl").read_text())
>>> [f"{message['role']}: {message['content']}" for message in record["messages"][:3]]
['system: <w1900> <b1800>', 'user: f2f3', 'assistant: e7e5']

What is beside the month makes ids and masks of it: those of the uci scheme, 1 at the winner's moves.

>>> from rukh_loaders.records import PipelineConfig, RecordTokenizer, build_record
>>> config = PipelineConfig.from_file(folder / "chess_sft" / "config.json")
>>> tokenizer = RecordTokenizer.from_folder(folder / "chess_sft" / "tokenizer")
>>> build_record(record, config, tokenizer).keys
{'sequence': [1, 21, 47, 1242, 1164, 1484, 956], 'loss_mask': [0, 0, 0, 0, 1, 0, 1]}
>>> home.cleanup()
"""

from rukh_assets.records.chess.annotated import AnnotatedGames
from rukh_assets.records.chess.corpora import CONFIGS, DPO, GRPO, SEQ, SFT, furnish
from rukh_assets.records.chess.games import GameTexts, OneSide, Side
from rukh_assets.records.chess.groups import Groups
from rukh_assets.records.chess.making import CHESS_RECORDS_VERSION, make_records
from rukh_assets.records.chess.pairs import Pairs

__all__ = [
    "CHESS_RECORDS_VERSION",
    "CONFIGS",
    "DPO",
    "GRPO",
    "SEQ",
    "SFT",
    "AnnotatedGames",
    "GameTexts",
    "Groups",
    "OneSide",
    "Pairs",
    "Side",
    "furnish",
    "make_records",
]
