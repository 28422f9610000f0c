"""Whether packs are what they promise, alone and side by side: what `python -m rukh_loaders check` does. No torch.

    folders = packs_below(Path("data/packs"))
    faults = [finding for finding in check_packs(folders) if finding.is_fault]

| module | holds |
|---|---|
| `packs.py` | the functions above |
| `columns.py` | whether row i of the columns is game i of the stream |
| `repeated_games.py` | games that are there more than once, in bounded memory |
| `progress.py` | how far a long reading is, on a terminal |
"""

from rukh_loaders.checking.packs import Finding, check_packs, packs_below

__all__ = ["Finding", "check_packs", "packs_below"]
