"""Games to shards, shards to a pack.

    write_shards(games_parquet, encoder, shards_dir)      # one shard a row group of the games file
    pack_shards(shards_dir, games_parquet, pack_dir)      # the shards as one stream, and the columns
    pack_month(games_parquet, encoder, pack_dir)          # both in one call, for those without Dagster

`shards` encodes, `pack` joins, `columns` parses what games are chosen by, `games_file` opens the month's games.
Every folder appears whole, and the same games, vocabulary and code give the same bytes.

>>> import tempfile
>>> from datetime import date
>>> from pathlib import Path
>>> import pyarrow as pa
>>> import pyarrow.parquet as pq
>>> from rukh_assets.encode import make_encoder
>>> from rukh_assets.ingest.schema import GAMES_SCHEMA
>>> game = {"game_id": 1, "uci": "e2e4 e7e5", "n_plies": 2, "white_elo": 1900, "black_elo": 1850, "result": "1-0"}
>>> game |= {"time_control": "300+3", "utc_date": date(2024, 1, 2), "eco": "C20", "month": "2024-01"}
>>> with tempfile.TemporaryDirectory() as home:
...     pq.write_table(pa.Table.from_pylist([game], GAMES_SCHEMA), Path(home, "games.parquet"))
...     info = pack_month(Path(home, "games.parquet"), make_encoder("uci"), Path(home, "pack"))
>>> info.n_games, info.n_tokens, info.scheme
(1, 7, 'uci')
"""

from rukh_assets.packing.pack import pack_month, pack_shards, standing_pack
from rukh_assets.packing.shards import PACKING_VERSION, standing_shards, write_shards

__all__ = ["PACKING_VERSION", "pack_month", "pack_shards", "standing_pack", "standing_shards", "write_shards"]
