"""Packs of chess games to training batches: all that a training job imports.

    open_pack          one month of one scheme, as arrays over mapped files       needs numpy and pydantic
    open_packs         many months as one stream, and the choice of games         needs numpy and pydantic
    Mixture            several choices of games, each in its share                needs numpy and pydantic
    PackedDataset      windows of them as pairs of tensors                        needs torch
    PaddedDataset      a game a row instead; padding_report compares them         needs torch
    make_loader        a Loader: whole batches, in an order that a seed decides   needs torch
    load_dataset       shards or .jsonl files of records, for four trainings      needs torch
    ResumableSampler   that order for torch's own DataLoader                      needs torch

    rukh_loaders.formats      packs, shards and manifests: read, checked and written
    rukh_loaders.tokenizers   ids and text of one game, and back
    rukh_loaders.records      JSON and JSONL records to ids and masks, by a config
    rukh_loaders.stores       shards of them, or the files themselves, by token and by record
    rukh_loaders.errors       every error that the package raises on purpose

Packs come from the asset `<scheme>/pack`, or from `rukh_assets.packing.pack_month`. Here two games are packed by hand,
in the `uci` scheme, whose ids are fixed and need no training:

>>> import tempfile
>>> from pathlib import Path
>>> import numpy as np
>>> from rukh_loaders.formats import PackInfo, PackWriter, publish_folder
>>> from rukh_loaders.tokenizers import UciTokenizer
>>> uci = UciTokenizer()
>>> games = [
...     uci.encode_game("f2f3 e7e5 g2g4 d8h4", white_elo=1210, black_elo=1345, result="0-1"),
...     uci.encode_game("e2e4 e7e5 g1f3", white_elo=1873, black_elo=1902, result="1/2-1/2"),
... ]
>>> home = tempfile.TemporaryDirectory()
>>> target = Path(home.name, "packs", "uci", "2025-01")
>>> info = PackInfo(
...     n_games=2,
...     n_tokens=sum(map(len, games)),
...     scheme="uci",
...     vocab_size=uci.vocabulary.vocab_size,
...     vocab_hash=uci.vocabulary.vocab_hash,
...     source="two games by hand",
... )
>>> with publish_folder(target) as folder, PackWriter(folder, info) as writer:
...     writer.append(np.concatenate(games).astype(np.uint16), np.array([len(game) for game in games]))
...     manifest = writer.finish({"months": ["2025-01"]})

Opened with the hash of the vocabulary that the ids are to be read with, so that no other pack is taken for it:

>>> from rukh_loaders import PackedDataset, make_loader, open_pack
>>> pack = open_pack(target, vocab_hash=uci.vocabulary.vocab_hash)
>>> pack.info.n_games, pack.info.n_tokens
(2, 17)
>>> uci.decode(pack.game(0))
['<bos>', '<w1200>', '<b1300>', 'f2f3', 'e7e5', 'g2g4', 'd8h4', '<0-1>', '<eos>']

One window a game: `y` is `x` one token later, and 0 (`<pad>`) is what a loss ignores:

>>> dataset = PackedDataset(pack, block=6)
>>> x, y = dataset[1]
>>> uci.decode(x.tolist())
['<bos>', '<w1800>', '<b1900>', 'e2e4', 'e7e5', 'g1f3']
>>> uci.decode(y.tolist())
['<w1800>', '<b1900>', 'e2e4', 'e7e5', 'g1f3', '<pad>']

>>> loader = make_loader(dataset, batch_size=2, seed=7)
>>> for x, y in loader:
...     print(tuple(x.shape), x.dtype, tuple(y.shape))
(2, 6) torch.int64 (2, 6)

One loop is one epoch, the next loop the next one, in another order. A loop that was left is gone on with by the next,
and a checkpoint holds where that is, from which any number of ranks with any batch size goes on:

>>> for x, y in loader:
...     checkpoint = loader.state_dict()
>>> checkpoint["epoch"], checkpoint["position"]
(1, 2)
>>> resumed = make_loader(dataset, batch_size=1, seed=7)
>>> resumed.load_state_dict(checkpoint)
>>> resumed.epoch, resumed.position
(2, 0)

Months open together, and games are chosen without encoding anything again: by place, by an array of one bool a game, or
by the columns that the assets write (and this pack lacks), as in `packs.where(white_elo=(1800, None), result="1-0")`:

>>> from rukh_loaders import Mixture, open_packs
>>> packs = open_packs(target.parent, months="2025-01:2025-01")
>>> packs.n_games, packs.games(slice(1, None)).n_games, packs.where([True, False]).n_games
(2, 1, 1)

Two choices mixed by weight, and rows that whole games fill, with what keeps the games of a row apart:

>>> mixture = Mixture([(packs.games(slice(0, 1)), 0.75), (packs.games(slice(1, 2)), 0.25)], samples=8)
>>> order = PackedDataset(mixture, block=6).order(seed=0, epoch=0, shuffle=True)
>>> order.take(0, 8).tolist()
[0, 0, 0, 1, 0, 0, 0, 1]
>>> rows = PackedDataset(packs, block=20, windows="best_fit", cu_seqlens=True, loss_mask="winner")
>>> batch = rows.gather(np.array([0]))
>>> batch.cu_seqlens.tolist(), round(rows.padding, 2)
([0, 9, 17, 20], 0.15)
>>> uci.decode(batch.y[batch.loss_mask].tolist())
['e7e5', 'd8h4']
>>> home.cleanup()
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rukh_loaders.batch import Batch
    from rukh_loaders.datasets import PackedDataset
    from rukh_loaders.formats.pack import open_pack
    from rukh_loaders.loader import Loader, make_loader
    from rukh_loaders.loading import load_dataset
    from rukh_loaders.orders.mixture import Mixture
    from rukh_loaders.packs.packs import open_packs
    from rukh_loaders.sampler import ResumableSampler
    from rukh_loaders.windows.padding import PaddedDataset, padding_report

__all__ = [
    "Batch",
    "Loader",
    "Mixture",
    "PackedDataset",
    "PaddedDataset",
    "ResumableSampler",
    "load_dataset",
    "make_loader",
    "open_pack",
    "open_packs",
    "padding_report",
]

_HOMES = {
    "Batch": "rukh_loaders.batch",
    "Loader": "rukh_loaders.loader",
    "Mixture": "rukh_loaders.orders.mixture",
    "PackedDataset": "rukh_loaders.datasets",
    "PaddedDataset": "rukh_loaders.windows.padding",
    "ResumableSampler": "rukh_loaders.sampler",
    "load_dataset": "rukh_loaders.loading",
    "make_loader": "rukh_loaders.loader",
    "open_pack": "rukh_loaders.formats.pack",
    "open_packs": "rukh_loaders.packs.packs",
    "padding_report": "rukh_loaders.windows.padding",
}


def __getattr__(name: str) -> Any:
    # Imported when first asked for, so that those who want the formats alone do not wait for torch.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
