"""JSON and JSONL records to shards: `rukh_loaders.records` builds each record, and this packs and writes them.

    inputs     files in batches, hashed before and looked at afterwards
    layout     the keys of a config's shards: names, dtypes, which of them is packed
    packing    documents into rows, positions their position ids
    spool      records that wait for their shard, in files; values their dtypes
    shards     a spool to keyed tensors, piece by piece
    writer     when which domain gets a shard
    pipeline   all of it: Pipeline(config, inputs, output_dir, tokenizer).run()
    corpora    the corpora of a lake, and the raw records of their months
    checking   what has to hold of a corpus that was written
    chess      a month of games to raw records: seq, sft, grpo and dpo
    __main__   python -m rukh_assets.records INPUT... -o DIR -c CONFIG

The output is a folder that appears whole, with a manifest.json; `rukh_loaders.formats.corpus.open_corpus` opens it.

>>> import json, tempfile
>>> from pathlib import Path
>>> from tokenizers import Tokenizer
>>> from tokenizers.models import WordLevel
>>> from tokenizers.pre_tokenizers import WhitespaceSplit
>>> home = tempfile.TemporaryDirectory()
>>> folder = Path(home.name)
>>> model = Tokenizer(WordLevel({"<unk>": 0, "a": 1, "b": 2, "c": 3}, unk_token="<unk>"))
>>> model.pre_tokenizer = WhitespaceSplit()
>>> model.save(str(folder / "tokenizer.json"))
>>> _ = (folder / "texts.jsonl").write_text('{"text": "a b c"}\\nnot json\\n{"text": "c c"}\\n{"text": "b"}\\n')

Texts of three, two and one token, packed into rows of at most four:

>>> from rukh_assets.records import Pipeline
>>> from rukh_loaders.formats.corpus import open_corpus
>>> from rukh_loaders.records import PipelineConfig
>>> config = PipelineConfig.from_dict({
...     "input": {"sections": [{"field": "text", "action": "train"}]},
...     "preprocessing": {"min_chars": 0, "packing_strategy": "bfd", "max_packed_len": 4},
... })
>>> report = Pipeline(config, [folder / "texts.jsonl"], folder / "corpus", folder).run()
>>> report.kept, report.skipped, report.n_records, report.n_tokens
(3, {'not_json': 1}, 2, 6)
>>> [shard] = open_corpus(folder / "corpus").readers
>>> [shard.record("sequence", i).tolist() for i in range(2)]
[[1, 2, 3, 2], [3, 3]]
>>> [document.tolist() for document in shard.parts("sequence", 0)], shard.record("position_ids", 0).tolist()
([[1, 2, 3], [2]], [0, 1, 2, 0])
>>> home.cleanup()
"""

from rukh_assets.records.packing import Rows, best_fit, best_fit_split, one_a_row
from rukh_assets.records.pipeline import RECORDS_VERSION, Pipeline, Report

__all__ = ["RECORDS_VERSION", "Pipeline", "Report", "Rows", "best_fit", "best_fit_split", "one_a_row"]
