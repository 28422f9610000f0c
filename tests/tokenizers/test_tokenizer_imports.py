"""Formats and tokenizers need numpy and pydantic alone; the package `tokenizers` only to train or apply bpe."""

import subprocess
import sys

SCRIPT = """
import sys

BLOCKED = {"torch", "pyarrow", "chess", "dagster", "tokenizers", "zstandard", "rukh_assets"}

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ImportError(name + " is blocked")

sys.meta_path.insert(0, Blocker())

import rukh_loaders.formats
from rukh_loaders.tokenizers import SanCharTokenizer, UciTokenizer, bpe

print(len(UciTokenizer().vocab), len(SanCharTokenizer().vocab), bpe.split_moves(bpe.bpe_text("e2e4 e7e5")))
try:
    bpe.train_bpe(["e2e4"])
except ImportError as error:
    print(error)
"""


def test_tokenizers_are_imported_and_used_without_what_they_do_not_need(tmp_path):
    done = subprocess.run([sys.executable, "-W", "error", "-c", SCRIPT], capture_output=True, text=True, cwd=tmp_path)
    assert done.stderr == ""
    assert done.stdout == "2030 35 ['e2e4', 'e7e5']\ntokenizers is blocked\n"
