"""The Dagster side of the project, and the only place (with `rukh_assets.definitions`) that imports Dagster.

Belongs here: a decorator, one call of a plain function of `rukh_assets`, and what its page in the UI shows. Does not
belong here: anything that reads a game or writes a token; that lies in `ingest`, `encode`, `packing` and `reports`,
which know no Dagster.

| module | holds |
|---|---|
| `partitions.py` | the months |
| `resources.py` | `Lake` (where things lie), `GameSource` (where games come from), `Machine` (workers) |
| `games.py`, `tokenizers.py`, `schemes.py`, `reports.py` | the assets |
| `chess_records.py` | the raw records made of games |
| `records.py` | the shards of every record corpus |
| `checks.py`, `record_checks.py` | the blocking checks, of the chain and of record shards |
| `automation.py` | the jobs over the chain and over the records, and their monthly schedules |
| `metadata.py` | tables, pictures and progress for the pages and the log |
"""
