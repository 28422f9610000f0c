"""From a raw month to its games: read, replay, filter, count, publish.

    open_source   a setting and a month to a `Source`: hashed files, and batches of raw games
    Filters       which games are kept
    read_month    the way through: a source's games to games.parquet, rejects.jsonl and manifest.json

    sources <- find, expectation; zst -> pgn_* | tables | sample   files to batches of RAW_SCHEMA
    judge <- headers -> filters; replay, comments -> verdicts      a batch to its games, a reason for each other one
    month <- judge, seen, rejects, writer                          batches to a published month

Kernels do nearly all of the work. Beside them stands the readable path, their oracle and the judge of what they do not
take: `pgn` splits text to games (fast: `pgn_text`, `pgn_spans`, `pgn_columns`, `pgn_splitter`), `movetext` replays them
(fast: `board`). Batches are judged by several workers and put together in the source's order.

A game is kept, or has exactly one of `verdicts.REASONS`. Two games, of which python-chess takes the first alone:

>>> import tempfile
>>> from pathlib import Path
>>> from rukh_assets.ingest.filters import Filters
>>> from rukh_assets.ingest.month import read_month
>>> from rukh_assets.ingest.sources import open_source
>>> tags = '[WhiteElo "1900"]\\n[BlackElo "1900"]\\n[TimeControl "300+3"]\\n[Termination "Normal"]\\n[Result "0-1"]'
>>> games = {"one": "1. f3 e5 2. g4 { why } 2... Qh4# 0-1", "two": "1. e4 e5 2. Ke3 0-1"}
>>> text = "\\n\\n".join(f'[Event "Rated game"]\\n[Site "{site}"]\\n{tags}\\n\\n{game}' for site, game in games.items())
>>> with tempfile.TemporaryDirectory() as home:
...     _ = Path(home, "games-2024-01.pgn").write_text(text)
...     source = open_source(f"{home}/games-{{year}}-{{month}}.pgn", "2024-01")
...     manifest = read_month("2024-01", source, Filters(min_plies=2), Path(home, "2024-01"))
...     rejects = Path(home, "2024-01", "rejects.jsonl").read_text()
>>> {name: manifest["counts"][name] for name in ("read", "kept", "comments")}
{'read': 2, 'kept': 1, 'comments': {'why': 1}}
>>> print(rejects)  # doctest: +ELLIPSIS
{"detail": "illegal san: 'Ke3' in ...", "file": "games-2024-01.pgn", ..., "ply": 3, "reason": "illegal", "site": "two"}
<BLANKLINE>
"""
