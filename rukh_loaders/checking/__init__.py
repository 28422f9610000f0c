"""Whether packs and corpora of records are what they promise: what `python -m rukh_loaders check` does. No torch.

    folders = packs_below(Path("data/packs"))
    faults = [finding for finding in check_packs(folders) if finding.is_fault]

| module | holds |
|---|---|
| `packs.py` | the functions above: packs, alone and side by side |
| `records.py` | `corpora_below` and `check_corpora`: the hashes of corpora of records |
| `columns.py` | whether row i of the columns is game i of the stream |
| `repeated_games.py` | games that are there more than once, in bounded memory |
| `progress.py` | how far a long reading is, on a terminal |
"""

from rukh_loaders.checking.packs import Finding, check_packs, packs_below
from rukh_loaders.checking.records import check_corpora, corpora_below

__all__ = ["Finding", "check_corpora", "check_packs", "corpora_below", "packs_below"]
