"""What a training machine must have installed: numpy, pydantic and torch, and torch for the datasets only."""

import subprocess
import sys
from pathlib import Path

BLOCKER = """
import sys

BLOCKED = {blocked!r}

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ImportError(name + " is blocked")

sys.meta_path.insert(0, Blocker())
"""

WRITE_A_PACK = """
from pathlib import Path
import numpy as np
from rukh_loaders.formats.pack import PackInfo, PackWriter

folder = Path(sys.argv[1])
info = PackInfo(n_games=2, n_tokens=7, scheme="tiny", vocab_size=10, vocab_hash="0" * 64, source="small integers")
with PackWriter(folder, info) as writer:
    writer.append(np.array([1, 7, 8, 2, 1, 9, 2], dtype=np.uint16), np.array([4, 3], dtype=np.int64))
    writer.finish({})
"""

ASSETS_ONLY = ("dagster", "pyarrow", "chess", "zstandard", "tokenizers", "rukh_assets")


def run_python(code: str, folder: Path, blocked: tuple[str, ...] = ()) -> str:
    command = [sys.executable, "-W", "error", "-c", BLOCKER.format(blocked=blocked) + code, str(folder / "pack")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_packs_are_read_and_served_without_what_builds_them(tmp_path):
    code = """
from rukh_loaders import PackedDataset, make_loader, open_pack

pack = open_pack(folder)
pack.verify()
(x, y), = make_loader(PackedDataset(pack, block=4), batch_size=2, shuffle=False)
print(pack.game(1).tolist(), x.tolist(), y.tolist())
"""
    printed = run_python(WRITE_A_PACK + code, tmp_path, ASSETS_ONLY)
    assert printed == "[1, 9, 2] [[1, 7, 8, 2], [1, 9, 2, 0]] [[7, 8, 2, 0], [9, 2, 0, 0]]\n"


def test_formats_and_tokenizers_need_no_torch(tmp_path):
    code = """
import rukh_loaders.formats.shard
import rukh_loaders.tokenizers.bpe
import rukh_loaders.tokenizers.san
import rukh_loaders.tokenizers.uci
from rukh_loaders import open_pack

print(open_pack(folder).game(0).tolist())
"""
    assert run_python(WRITE_A_PACK + code, tmp_path, ("torch", *ASSETS_ONLY)) == "[1, 7, 8, 2]\n"


def test_importing_the_package_imports_no_torch(tmp_path):
    code = "import rukh_loaders; print('torch' in sys.modules, 'numpy' in sys.modules)"
    assert run_python(code, tmp_path) == "False False\n"


def test_an_unknown_name_of_the_package_is_an_attribute_error(tmp_path):
    code = "import rukh_loaders; print(hasattr(rukh_loaders, 'pack'), 'PackedDataset' in dir(rukh_loaders))"
    assert run_python(code, tmp_path) == "False True\n"
