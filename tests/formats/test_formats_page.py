"""docs/formats.md says what the code does: the values on the page are those of the code."""

import json
import re

import numpy as np
import pytest

from rukh_loaders.formats import COLUMNS, KeyedTensor, PackInfo, Parts, ShardWriter
from rukh_loaders.tokenizers import SPECIALS, SanCharTokenizer, UciTokenizer
from rukh_loaders.tokenizers.bpe import ALPHABET, TRAINING_GAMES, VOCAB_SIZE
from rukh_loaders.tokenizers.san import ALPHABET as SAN_ALPHABET


@pytest.fixture(scope="module")
def page(project):
    return (project / "docs" / "formats.md").read_text("utf-8")


def test_the_columns_and_their_dtypes_are_those_of_the_code(page):
    rows = re.findall(r"^\| `(\w+)\.npy` \| (\w+) \|", page, re.MULTILINE)
    assert dict(rows) == {name: dtype.name for name, dtype in COLUMNS.items()}


def test_the_vocabulary_hashes_are_those_of_the_code(page):
    hashes = dict(re.findall(r"^\| (uci|san) \| `([0-9a-f]{64})` \|", page, re.MULTILINE))
    assert hashes == {"uci": UciTokenizer().vocabulary.vocab_hash, "san": SanCharTokenizer().vocabulary.vocab_hash}


def test_alphabets_specials_and_defaults_are_those_of_the_code(page):
    assert f"`{' '.join(SPECIALS)}`" in page
    assert f'"{SAN_ALPHABET}"' in page
    assert f"`{ALPHABET}`" in page
    assert f"{VOCAB_SIZE:,} entries are trained on the first {TRAINING_GAMES:,} games" in page


def test_the_example_of_meta_has_the_keys_and_the_bytes_of_the_code(page):
    example = re.search(r"```json\n(.*?)```", page, re.DOTALL)
    assert example is not None
    info = PackInfo.model_validate_json(example[1])
    assert info.to_bytes().decode() == example[1]


def test_every_link_within_the_page_has_its_heading(page):
    headings = {
        re.sub(r"[^a-z0-9 -]", "", line.lstrip("# ").lower()).replace(" ", "-")
        for line in page.splitlines()
        if line.startswith("#")
    }
    assert set(re.findall(r"\]\(#([^)]+)\)", page)) <= headings


def test_the_keys_of_a_key_in_meta_are_those_of_the_code(page, tmp_path):
    groups = KeyedTensor(np.arange(3), np.array([0, 3]), Parts(np.array([0, 1, 3]), np.array([0, 2])))
    ShardWriter(tmp_path / "shard").write({"ids": groups})
    meta = json.loads((tmp_path / "shard" / "meta.json").read_bytes())["ids"]
    assert meta == {
        "shape": [3],
        "dtype": "int64",
        "offsets": [0, 3],
        "parts": {"offsets": [0, 1, 3], "records": [0, 2]},
    }
    section = page.split("## 3. Shards")[1].split("## 4. Packs")[0]
    assert all(f'"{name}":' in section for name in (*meta, *meta["parts"]))
