"""The training example: interrupted and gone on with, by one process or several, it is one and the same training."""

import importlib.util
import os
import subprocess
import sys

import numpy as np
import pytest
import torch

from rukh_loaders.errors import StateMismatchError
from rukh_loaders.formats.pack import COLUMNS, PackInfo, PackWriter

SMALL = ["--steps", "6", "--every", "2", "--batch", "8", "--block", "16", "--val", "0.2"]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Threads of torch wait for each other where the cores are busy, and these models need none."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def example(project):
    spec = importlib.util.spec_from_file_location("train_tiny", project / "examples" / "train_tiny.py")
    module = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    spec.loader.exec_module(module)
    sys.path[:] = before
    return module


@pytest.fixture(scope="module")
def packs(tmp_path_factory):
    """Two months of sixty short games with columns, the second month of stronger players."""
    root = tmp_path_factory.mktemp("packs")
    for month in (1, 2):
        lengths = np.arange(60) % 5 + 6
        games = [[1, 20 + number % 70, *range(30, 30 + length - 3), 2] for number, length in enumerate(lengths)]
        info = PackInfo(
            n_games=60,
            n_tokens=int(lengths.sum()),
            scheme="tiny",
            vocab_size=100,
            vocab_hash="0" * 64,
            source="small integers",
        )
        columns = {name: np.full(60, month, dtype) for name, dtype in COLUMNS.items()}
        columns["game_id"] = np.arange(60, dtype=np.int64) + 1_000 * month
        columns["white_elo"][:] = columns["black_elo"][:] = 1_000 * month
        with PackWriter(root / f"2025-0{month}", info) as writer:
            writer.append(np.concatenate(games).astype(np.uint16), lengths.astype(np.int64))
            writer.append_columns(columns)
            writer.finish({})
    return root


def run(example, packs, *arguments):
    return example.main([str(packs), *SMALL, *map(str, arguments)])


def torchrun(project, packs, processes, *arguments):
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    done = subprocess.run(
        [*command, project / "examples" / "train_tiny.py", packs, *SMALL, *arguments],
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(project)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


def losses(checkpoint):
    return torch.load(checkpoint, weights_only=True)["losses"]


def test_a_training_that_was_paused_has_the_losses_of_one_that_was_not_to_the_last_bit(example, packs, tmp_path):
    whole = run(example, packs)
    assert len(whole.losses) == 6
    for pause in (2, 4):
        run(example, packs, "--checkpoint", tmp_path / "tiny.pt", "--pause-at", pause)
        assert losses(tmp_path / "tiny.pt") == whole.losses[:pause]
    assert run(example, packs, "--checkpoint", tmp_path / "tiny.pt").losses == whole.losses


def test_a_crash_between_two_checkpoints_costs_the_steps_since_the_first(example, packs, tmp_path, monkeypatch):
    whole = run(example, packs)
    step = example.Trainer.step

    def crash_at_the_fourth(trainer, x, y):
        if trainer.done == 3:
            raise KeyboardInterrupt
        return step(trainer, x, y)

    monkeypatch.setattr(example.Trainer, "step", crash_at_the_fourth)
    with pytest.raises(KeyboardInterrupt):
        run(example, packs, "--checkpoint", tmp_path / "tiny.pt")
    monkeypatch.undo()
    assert len(losses(tmp_path / "tiny.pt")) == 2
    assert run(example, packs, "--checkpoint", tmp_path / "tiny.pt").losses == whole.losses


def test_it_learns_and_is_judged_on_games_that_it_never_saw(example, packs, capsys):
    trained = run(example, packs, "--steps", "40")
    assert trained.losses[-1] < trained.losses[0] - 1
    assert "loss on the games put aside" in capsys.readouterr().out
    train, judged = trained.loader.dataset.packs, trained.judge.dataset.packs
    assert not set(train.column("game_id")) & set(judged.column("game_id"))
    assert train.n_games + judged.n_games == 120


def test_months_and_ratings_choose_the_games(example, packs):
    chosen = run(example, packs, "--min-elo", "1500").loader.dataset.packs
    assert set(chosen.column("white_elo")) == {2000}
    assert [pack.path.name for pack in run(example, packs, "--months", "2025-01").loader.dataset.packs.packs] == [
        "2025-01"
    ]


def test_a_checkpoint_of_other_games_is_refused(example, packs, tmp_path):
    run(example, packs, "--checkpoint", tmp_path / "tiny.pt", "--pause-at", 2)
    with pytest.raises(StateMismatchError, match="fingerprint"):
        run(example, packs / "2025-02", "--checkpoint", tmp_path / "tiny.pt")


@pytest.mark.parametrize(
    ("argument", "value", "change"),
    [
        ("--months", "2025-02", "--months was None and is 2025-02"),
        ("--min-elo", "1500", "--min-elo was None and is 1500"),
        ("--val", "0.3", "--val was 0.2 and is 0.3"),
        ("--steps", "7", "--steps was 6 and is 7"),
        ("--block", "20", "--block was 16 and is 20"),
        ("--seed", "1", "--seed was 0 and is 1"),
    ],
)
def test_a_checkpoint_gone_on_from_with_another_argument_names_it(example, packs, tmp_path, argument, value, change):
    run(example, packs, "--checkpoint", tmp_path / "tiny.pt", "--pause-at", 2)
    with pytest.raises(SystemExit, match=rf"tiny.pt: is of a training with other arguments: {change}; to begin anew"):
        run(example, packs, "--checkpoint", tmp_path / "tiny.pt", argument, value)


def test_months_that_are_the_same_ones_in_other_words_go_on(example, packs, tmp_path):
    run(example, packs, "--checkpoint", tmp_path / "tiny.pt", "--pause-at", 2)
    assert len(run(example, packs, "--checkpoint", tmp_path / "tiny.pt", "--months", "2025-01:2025-02").losses) == 6


@pytest.mark.parametrize(("share", "use"), [("0", "judge by"), ("1", "train on")])
def test_a_share_that_leaves_no_games_is_one_line(example, packs, share, use):
    with pytest.raises(SystemExit, match=rf"--val {share}.0 leaves none of 120 games to {use}; take another share"):
        run(example, packs, "--val", share)


@pytest.mark.parametrize("kept", [0, 1, 500, -100])
def test_a_checkpoint_that_was_cut_is_one_line(example, packs, tmp_path, kept):
    checkpoint = tmp_path / "tiny.pt"
    run(example, packs, "--checkpoint", checkpoint, "--pause-at", 2)
    checkpoint.write_bytes(checkpoint.read_bytes()[:kept])
    with pytest.raises(SystemExit, match=r"tiny.pt: cannot be read as a checkpoint: .+; to begin anew, remove it$"):
        run(example, packs, "--checkpoint", checkpoint)


def test_two_processes_go_on_where_one_stopped_and_one_where_they_did(example, project, packs, tmp_path):
    whole = run(example, packs)
    checkpoint = tmp_path / "tiny.pt"
    run(example, packs, "--checkpoint", checkpoint, "--pause-at", 2)
    said = torchrun(project, packs, 2, "--checkpoint", checkpoint, "--pause-at", "4")
    assert said.splitlines()[0] == "going on after step 2"
    assert len(said.splitlines()) == 2
    ended = run(example, packs, "--checkpoint", checkpoint)
    assert ended.losses[:2] == whole.losses[:2]
    assert ended.losses == pytest.approx(whole.losses, rel=1e-4)


@pytest.mark.long
def test_two_processes_that_were_paused_have_the_losses_of_two_that_were_not(project, packs, tmp_path):
    torchrun(project, packs, 2, "--checkpoint", tmp_path / "whole.pt")
    for pause in ("2", "5", "6"):
        torchrun(project, packs, 2, "--checkpoint", tmp_path / "paused.pt", "--pause-at", pause)
    assert losses(tmp_path / "paused.pt") == losses(tmp_path / "whole.pt")


def test_a_batch_that_the_processes_cannot_share_is_refused(example, packs, monkeypatch):
    monkeypatch.setattr(example, "world_size", lambda: 3)
    with pytest.raises(SystemExit, match="--batch 8 cannot be shared by 3"):
        run(example, packs)


def test_help_says_how_to_go_on(example, capsys):
    with pytest.raises(SystemExit, match="0"):
        example.main(["--help"])
    assert "torchrun" in capsys.readouterr().out
