"""Where training takes records from: shards, or the raw .jsonl files themselves.

    finding       detect_format: which of the two lies at a path
    shard_store   ShardStore: a corpus of `rukh_assets.records`, a domain or a shard of it, or others' shards
    jsonl_store   JsonlStore: each record built when it is asked for, with the same ids and masks
    store         Store: what both do
    cutting       windows of a stream; items of several domains

`rukh_loaders.load_dataset` opens the right one and puts tensors around it. What a store itself gives are numpy arrays.
Two shards of a stream, as other programs write them:

>>> import tempfile
>>> from pathlib import Path
>>> import numpy as np
>>> from rukh_loaders.formats import KeyedTensor, ShardWriter, cut_at
>>> home = tempfile.TemporaryDirectory()
>>> for number, ids in enumerate(([1, 2, 3, 4, 5, 6], [7, 8, 9])):
...     sequence = KeyedTensor(np.array(ids, np.int32), cut_at(np.array([3] * (len(ids) // 3))))
...     _ = ShardWriter(Path(home.name, f"shard_{number:04d}")).write({"sequence": sequence})

>>> from rukh_loaders.stores import ShardStore, detect_format
>>> detect_format(home.name)
'bin'
>>> store = ShardStore(home.name, window_size=4)
>>> store.token_count, store.num_records, len(store)
(9, 3, 2)
>>> [store.sample_window(i) for i in range(len(store))]
[(0, 4), (4, 8)]
>>> store.fetch(4, 8, "sequence")
array([5, 6, 7, 8], dtype=int32)
>>> store.fetch_record(2, "sequence")
array([7, 8, 9], dtype=int32)
>>> store.document_begins(4, 8)
array([3, 6])
>>> home.cleanup()
"""

from rukh_loaders.stores.finding import detect_format
from rukh_loaders.stores.jsonl_store import JsonlStore
from rukh_loaders.stores.shard_store import ShardStore
from rukh_loaders.stores.store import Store

__all__ = ["JsonlStore", "ShardStore", "Store", "detect_format"]
