"""Memory and killed processes, in processes of their own."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from corpora import bytes_below, random_games, write_games

from rukh_assets.encode import make_encoder
from rukh_assets.packing import pack_month, write_shards

CHILD = """
    import os, sys, threading, time
    from pathlib import Path
    from rukh_assets.encode import make_encoder
    from rukh_assets.packing import pack_month, write_shards
"""


def run_child(script, *arguments, **options):
    path = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(CHILD) + textwrap.dedent(script), *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
        **options,
    )


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the peak memory from /proc")
def test_memory_does_not_grow_with_the_month(tmp_path):
    script = """
        write_shards(Path(sys.argv[1]), make_encoder("uci"), Path(sys.argv[2]))
        print(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])
    """
    peaks = []
    for n_row_groups in (2, 16):
        games = write_games(tmp_path / f"{n_row_groups}.parquet", random_games(40) * 100 * n_row_groups, 4000)
        child = run_child(script, games, tmp_path / f"shards-{n_row_groups}")
        output, _ = child.communicate(timeout=120)
        assert child.returncode == 0
        peaks.append(int(output) / 1024)
    assert peaks[1] < peaks[0] + 25, f"peak memory in MB, 2 and 16 row groups of about 10 MB each: {peaks}"


@pytest.mark.parametrize("standing", [False, True])
@pytest.mark.parametrize("call", ["write_shards", "pack_month"])
def test_a_killed_process_leaves_the_old_folder_or_none_and_the_next_run_cleans_up(tmp_path, call, standing):
    games = write_games(tmp_path / "in" / "games.parquet", random_games(20), row_group_size=5)
    out = tmp_path / "out" / "2021-10"
    write = write_shards if call == "write_shards" else pack_month
    if standing:
        write(games, make_encoder("uci"), out)
    before = bytes_below(out) if standing else None
    script = f"""
        class Slow:
            encoder, batches = make_encoder("uci"), 0
            vocabulary = encoder.vocabulary
            def encode_batch(self, batch, first_row=0):
                self.batches += 1
                if self.batches == 3:
                    print("in the middle", flush=True)
                    time.sleep(60)
                return self.encoder.encode_batch(batch, first_row)
        {call}(Path(sys.argv[1]), Slow(), Path(sys.argv[2]))
    """
    child = run_child(script, games, out)
    assert child.stdout.readline() == "in the middle\n"
    child.send_signal(signal.SIGKILL)
    child.communicate(timeout=10)
    assert (bytes_below(out) if out.exists() else None) == before
    assert [path for path in out.parent.iterdir() if path != out], "the killed process was in the middle of its work"
    write(games, make_encoder("uci"), out)
    assert [path for path in out.parent.iterdir() if not path.name.endswith(".lock")] == [out]
    write(games, make_encoder("uci"), tmp_path / "fresh")
    assert bytes_below(out) == bytes_below(tmp_path / "fresh")
