"""The assets `<scheme>/shards` and `<scheme>/pack`, the same two for each of the three schemes."""

from typing import Any

import dagster as dg

from rukh_assets.defs.metadata import OWNERS, array_schema, picture, progress_log
from rukh_assets.defs.partitions import months
from rukh_assets.defs.resources import Lake, Machine, MonthConfig
from rukh_assets.encode import SCHEMES
from rukh_assets.packing import PACKING_VERSION, pack_shards, standing_pack, standing_shards, write_shards
from rukh_assets.reports.pictures import lengths_histogram, sparkline_svg
from rukh_loaders.formats import COLUMNS, digest, open_pack, read_manifest

SHARDS_NOTE = {
    "uci": "bos, White's Elo, Black's Elo, one id a move, result, eos",
    "san": "bos, one id a character of the numbered SAN movetext and the result, eos",
    "bpe": "bos, the BPE ids of the moves joined without spaces, result, eos",
}


TOKENIZERS = {"uci": [], "san": [], "bpe": [dg.AssetKey(["bpe", "tokenizer"])]}
"""What a scheme's assets depend on besides games: both of bpe's become stale with another tokenizer."""

COLUMN_MEANINGS = {
    "game_id": "that of games.parquet, one row a game in the same order, as in all columns",
    "white_elo": "rating",
    "black_elo": "rating",
    "n_plies": "number of moves",
    "result": "1 White won, 0 draw, -1 Black won",
    "base_seconds": "thinking time, -1 for correspondence",
    "increment_seconds": "seconds added a move, -1 for correspondence",
    "utc_date": "days since 1970-01-01, -1 where unknown",
    "eco": "A00 is 0, E99 is 499, -1 where unknown",
}
PACK_ARRAYS = {
    "tokens": ("uint16", "every game of the month, whole, one after the other"),
    "starts": ("int64", "where each game's bos is"),
    **{f"columns/{name}": (str(kind), COLUMN_MEANINGS[name]) for name, kind in COLUMNS.items()},
}


def shards_of(scheme: str) -> dg.AssetsDefinition:
    """The asset `<scheme>/shards`."""

    @dg.asset(
        key=dg.AssetKey([scheme, "shards"]),
        deps=["games", *TOKENIZERS[scheme]],
        partitions_def=months,
        group_name=scheme,
        kinds={"python", "numpy"},
        owners=OWNERS,
        code_version=str(PACKING_VERSION),
        metadata=array_schema({"sequence": ("uint16", "the ids of all games; offsets in meta.json cut it into games")}),
        description=f"The month's games as ids, one shard a row group. A game: {SHARDS_NOTE[scheme]}.",
    )
    def shards(
        context: dg.AssetExecutionContext, config: MonthConfig, lake: Lake, machine: Machine
    ) -> dg.MaterializeResult[Any]:
        month = context.partition_key
        encoder, source, folder = lake.encoder(scheme), lake.games_file(month), lake.shards(scheme, month)
        manifest = None if config.force else standing_shards(source, encoder, folder)
        work = "unchanged: games, vocabulary and code are what the standing shards were made from"
        if manifest is None:
            work = "built"
            progress = progress_log(context.log, f"{scheme}/shards {month}", ["games"])
            manifest = write_shards(source, encoder, folder, progress, workers=machine.workers)
        context.log.info(f"{scheme}/shards {month}: {work}; {manifest['n_games']:,} games")
        return dg.MaterializeResult(
            data_version=dg.DataVersion(manifest["data_version"]),
            metadata={
                "work": work,
                "games": manifest["n_games"],
                "tokens": manifest["n_tokens"],
                "shards": len(manifest["shards"]),
                "vocab_hash": manifest["vocab_hash"],
                "folder": dg.MetadataValue.path(folder),
            },
        )

    return shards


def pack_of(scheme: str) -> dg.AssetsDefinition:
    """The asset `<scheme>/pack`."""

    @dg.asset(
        key=dg.AssetKey([scheme, "pack"]),
        deps=["games", dg.AssetKey([scheme, "shards"]), *TOKENIZERS[scheme]],
        partitions_def=months,
        group_name=scheme,
        kinds={"python", "numpy"},
        owners=OWNERS,
        code_version=str(PACKING_VERSION),
        metadata=array_schema(PACK_ARRAYS),
        description="The month's shards as one memory map, with one row a game of columns to choose games by.",
    )
    def pack(
        context: dg.AssetExecutionContext, config: MonthConfig, lake: Lake, machine: Machine
    ) -> dg.MaterializeResult[Any]:
        month = context.partition_key
        shards, source, folder = lake.shards(scheme, month), lake.games_file(month), lake.pack(scheme, month)
        work = "unchanged: shards and code are what the standing pack was made from"
        if config.force or standing_pack(shards, source, folder) is None:
            work = "built"
            pack_shards(shards, source, folder, workers=machine.workers)
        opened = open_pack(folder)
        manifest = read_manifest(folder)
        context.log.info(f"{scheme}/pack {month}: {work}; {opened.info.n_tokens:,} tokens")
        return dg.MaterializeResult(
            data_version=dg.DataVersion(digest(manifest["files"])),
            metadata={
                "work": work,
                "games": opened.info.n_games,
                "tokens": opened.info.n_tokens,
                "tokens a game": round(opened.info.n_tokens / opened.info.n_games, 2),
                "lengths": picture(sparkline_svg(lengths_histogram(opened)), "tokens a game"),
                "vocab_hash": opened.info.vocab_hash,
                "open it": f"rukh_loaders.open_pack({str(folder)!r})",
                "folder": dg.MetadataValue.path(folder),
            },
        )

    return pack


scheme_assets = [build(scheme) for scheme in SCHEMES for build in (shards_of, pack_of)]
