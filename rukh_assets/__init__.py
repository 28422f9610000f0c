"""From a raw month of chess games to packed memory maps: everything that writes.

The steps, each a plain function that knows no Dagster (`rukh_assets.defs` makes assets of them):

    ingest.read_month      a raw month to games.parquet: converted, checked, filtered, counted
    training               the uci vocabulary, and the BPE tokenizer that all months share
    packing.write_shards   games to ids in one of three schemes, through `encode`
    packing.pack_shards    shards to one memory map with columns to choose games by
    reports                statistics of a month, and the parity fixture
    records.Pipeline       JSON and JSONL records, of anything, to shards: a way of its own beside the months

The first and the third take a number of `workers`, all cores by default; no byte that they write depends on it.

Without Dagster, from a games file to a pack in two lines:

    encoder = make_encoder("san")                       # rukh_assets.encode
    pack_month(games_parquet, encoder, out_dir)         # rukh_assets.packing
"""
