"""Games to shards, shards to a pack.

    write_shards(games_parquet, encoder, shards_dir)      # one shard a row group of the games file
    pack_shards(shards_dir, games_parquet, pack_dir)      # the shards as one stream, and the columns
    pack_month(games_parquet, encoder, pack_dir)          # both in one call, for those without Dagster

`shards` encodes, `pack` joins, `columns` parses what games are chosen by, `games_file` opens the month's games.
Every folder appears whole, and the same games, vocabulary and code give the same bytes.
"""

from rukh_assets.packing.pack import pack_month, pack_shards, standing_pack
from rukh_assets.packing.shards import PACKING_VERSION, standing_shards, write_shards

__all__ = ["PACKING_VERSION", "pack_month", "pack_shards", "standing_pack", "standing_shards", "write_shards"]
