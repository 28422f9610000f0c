"""What is told about the packs and the tokenizers: tables, pictures, and games to test a port against.

`statistics` makes the table of one month, `month` writes it with its picture and publishes that of the newest month,
`pictures` draws, `corpus` shows what record shards hold, `fixture` encodes the games of `fixture_games.pgn`, which
`strict_pgn` reads.
"""
