"""Two sample months through Dagster, then a batch, a decoded window and a tiny model: the whole way in one command.

Run by `make demo`. Months already made are not made again. Everything lands under RUKH_HOME (default: the project).
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import tiny_decoder

from rukh_loaders import PackedDataset, make_loader, open_pack
from rukh_loaders.formats.manifest import read_manifest
from rukh_loaders.tokenizers import UciTokenizer

PROJECT = Path(__file__).resolve().parent.parent
HOME = Path(os.environ.get("RUKH_HOME") or PROJECT).expanduser().resolve()
MONTHS = ("2025-01", "2025-02")
STEPS = 60
BATCH = 32
LOG_LINE = re.compile(r" - INFO - .* - (?P<message>[a-z_/]+( \d{4}-\d\d)?: .*)$")


def say(text: str) -> None:
    print(text, flush=True)


def refuse_real_months() -> None:
    """The demo writes sample games; it must never replace a month of real ones."""
    for month in MONTHS:
        folder = HOME / "data" / "games" / f"year={month[:4]}" / f"month={month[5:]}"
        if folder.is_dir() and read_manifest(folder)["source"]["form"] != "sample":
            sys.exit(f"{folder} holds real games, which the demo will not replace; set RUKH_HOME to another folder")


def materialise(month: str) -> None:
    """One month through Dagster, as a user would type it; its log is shown in short lines."""
    dagster_home = HOME / "data" / "dagster"
    dagster_home.mkdir(parents=True, exist_ok=True)
    shutil.copy(PROJECT / "dagster.yaml", dagster_home / "dagster.yaml")
    settings = {
        "RUKH_HOME": str(HOME),
        "RUKH_SOURCE": "sample",
        "DAGSTER_HOME": str(dagster_home),
        "DAGSTER_DISABLE_TELEMETRY": "1",
    }
    console = {"loggers": {"console": {"config": {"log_level": "INFO"}}}}
    launch = ["launch", "--job", "month", "--partition", month]
    say(f"\n$ dg {' '.join(launch)}")
    process = subprocess.Popen(
        [Path(sys.executable).parent / "dg", *launch, "--config-json", json.dumps(console)],
        cwd=PROJECT,
        env=os.environ | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if found := LOG_LINE.search(line):
            say(f"  {found['message']}")
    if process.wait() != 0:
        sys.exit("".join(lines) + f"\nDagster could not materialise {month}; its log stands above")


def train() -> None:
    """Serve one month, show what comes out, and train a tiny decoder on it; the other month judges."""
    tokenizer = UciTokenizer()
    packs = [open_pack(HOME / "data" / "packs" / "uci" / month, tokenizer.vocabulary.vocab_hash) for month in MONTHS]
    say("")
    for month, pack in zip(MONTHS, packs, strict=True):
        say(f"uci pack {month}: {pack.info.n_games:,} games, {pack.info.n_tokens:,} tokens")
    windows = [PackedDataset(pack, block=128) for pack in packs]
    train_loader, judge_loader = make_loader(windows[0], BATCH), make_loader(windows[1], BATCH, evaluate=True)
    x, y = next(iter(train_loader))
    say(f"a batch: x {tuple(x.shape)} {x.dtype}, y {tuple(y.shape)} {y.dtype}")
    say("a window: " + " ".join(tokenizer.decode(x[0].tolist())[:24]) + " ...")

    model = tiny_decoder.TinyDecoder(vocab_size=tokenizer.vocabulary.vocab_size, context=128)
    before = tiny_decoder.evaluate(model, judge_loader, batches=4)
    say(f"\na tiny decoder learns {MONTHS[0]}; loss on {MONTHS[1]} before: {before:.3f}")
    tiny_decoder.train(
        model,
        train_loader,
        steps=STEPS,
        on_step=lambda step, loss: say(f"  step {step:3d}  loss {loss:.3f}") if step % 10 == 0 else None,
    )
    say(f"loss on {MONTHS[1]} after:  {tiny_decoder.evaluate(model, judge_loader, batches=4):.3f}")


def main() -> None:
    began = time.monotonic()
    refuse_real_months()
    say("On a new machine the first month begins with up to a minute of silence: kernels are compiled, once.")
    for month in MONTHS:
        materialise(month)
    train()
    say(f"\nDone in {time.monotonic() - began:.0f} s. Packs: {HOME / 'data' / 'packs'}. `make ui` shows the months.")


if __name__ == "__main__":
    main()
