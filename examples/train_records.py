"""Trains a tiny decoder on records in the four ways there are: plain text, answers, preferences and rewarded groups.

    python examples/train_records.py
    python examples/train_records.py seq --steps 200 --data data/records/chess_seq/2025-01
    python examples/train_records.py sft --data data/records/chess_sft

Without `--data` it makes a small corpus of its own to learn the alphabet from: a prompt names some letters, and the
right answer is the letters that follow. What each training asks of a batch is in its loss below, ten lines each.

The tiny decoder reads 64 ids. So `seq` is served in windows of 64, of a talk the first 64 ids count, and of a pair or a
response the 64 up to its last trained one.

The tiny decoder knows no padding: ids that stand before a prompt to fill its row up are read like any others. A model
for real use takes `prompt_mask` as its attention mask.
"""

import argparse
import copy
import itertools
import json
import random
import string
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from torch import Tensor, nn
from torch.nn import functional as F

sys.path.insert(0, str(Path(__file__).parent))  # where it is imported rather than run
from tiny_decoder import TinyDecoder

from rukh_loaders import load_dataset, make_loader
from rukh_loaders.errors import RukhLoadersError
from rukh_loaders.stores import JsonlStore, Store

CONTEXT = 64
BETA = 0.5  # how far preferences may pull the model from where it began
SPECIALS = ["<pad>", "<s>", "<|im_start|>", "<|im_end|>"]
TEMPLATE = "{% for message in messages %}<|im_start|> {{ message.role }} {{ message.content }} <|im_end|>\n{% endfor %}"
SEQ_CONFIG = {
    "input": {"sections": [{"field": "text", "action": "train"}]},
    "preprocessing": {"min_chars": 0},
}

Batch = dict[str, Tensor]
Loss = Callable[[nn.Module, nn.Module, Batch], Tensor]


def seq_loss(model: nn.Module, start: nn.Module, batch: Batch) -> Tensor:
    """Every next token."""
    return F.cross_entropy(model(batch["input_ids"]).flatten(0, 1), batch["target_ids"].flatten())


def sft_loss(model: nn.Module, start: nn.Module, batch: Batch) -> Tensor:
    """The tokens of the answers alone: the mask is of the targets."""
    ids, targets, mask = (batch[key][:, :CONTEXT] for key in ("input_ids", "target_ids", "loss_mask"))
    losses = F.cross_entropy(model(ids).transpose(1, 2), targets, reduction="none")
    return losses[mask].sum() / mask.sum().clamp(min=1)


def dpo_loss(model: nn.Module, start: nn.Module, batch: Batch) -> Tensor:
    """The chosen answer to become likelier beside the rejected one than it was at the start (Rafailov et al., 2023)."""
    gains = []
    for side in ("chosen", "rejected"):
        ids, mask = up_to_the_last_trained(batch[side], batch[f"{side}_mask"])
        with torch.no_grad():
            before = trained_log_probability(start, ids, mask)
        gains.append(trained_log_probability(model, ids, mask) - before)
    return -F.logsigmoid(BETA * (gains[0] - gains[1])).mean()


def grpo_loss(model: nn.Module, start: nn.Module, batch: Batch) -> Tensor:
    """Responses better than their group's mean to become likelier, worse ones less so (Shao et al., 2024).

    One step on responses that were given before: without the ratio and the clipping of many steps on the same ones.
    """
    there = batch["group_mask"]
    count = there.sum(1, keepdim=True).clamp(min=1)
    centred = (batch["rewards"] - batch["rewards"].sum(1, keepdim=True) / count) * there
    spread = (centred.square().sum(1, keepdim=True) / count).sqrt()
    advantages = centred / (spread + 1e-4)
    n_rows, size = there.shape
    prompts = batch["prompts"].unsqueeze(1).expand(n_rows, size, -1).flatten(0, 1)
    ids = torch.cat([prompts, batch["responses"].flatten(0, 1)], 1)
    ids, mask = up_to_the_last_trained(ids, F.pad(batch["masks"].flatten(0, 1), (prompts.shape[1], 0)))
    per_token = trained_log_probability(model, ids, mask) / mask.sum(1).clamp(min=1)
    return -(advantages.flatten() * per_token).sum() / there.sum().clamp(min=1)


def up_to_the_last_trained(ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Of rows that are longer than the context, the part of its length that ends with the last masked id."""
    width = ids.shape[1]
    if width <= CONTEXT:
        return ids, mask
    ends = (mask * torch.arange(1, width + 1)).amax(1, keepdim=True)
    columns = (ends - CONTEXT).clamp(min=0) + torch.arange(CONTEXT)
    return ids.gather(1, columns), mask.gather(1, columns)


def trained_log_probability(model: nn.Module, ids: Tensor, mask: Tensor) -> Tensor:
    """Of each row, the log of the probability of its masked ids, each after those before it: (B,)."""
    scores = model(ids[:, :-1]).log_softmax(-1)
    chosen = scores.gather(2, ids[:, 1:].unsqueeze(2)).squeeze(2)
    return (chosen * mask[:, 1:]).sum(1)


LOSSES: dict[str, Loss] = {"seq": seq_loss, "sft": sft_loss, "dpo": dpo_loss, "grpo": grpo_loss}


def train(train_type: str, data: Path, tokenizer: Path | None, steps: int, seed: int = 0) -> list[float]:
    """The losses of so many steps, the first before anything was learnt."""
    window = CONTEXT if train_type == "seq" else 0
    dataset = load_dataset(train_type, data, window, tokenizer_path=tokenizer, pad_last=True)
    loader = make_loader(dataset, 8, seed=seed)
    model = TinyDecoder(vocab_size(dataset.store), CONTEXT, width=32, depth=1, seed=seed)
    start = copy.deepcopy(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    losses = []
    with loader:
        for batch in itertools.islice(without_end(loader), steps):
            loss = LOSSES[train_type](model, start, batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


def without_end(loader: object) -> Iterator[Batch]:
    while True:
        yield from loader


def vocab_size(store: Store) -> int:
    """As the manifest of shards says, or of the tokenizer that lines are read with."""
    if isinstance(store, JsonlStore):
        return store.tokenizer.vocab_size
    if "vocab_size" not in store.manifest:
        sys.exit(f"{store.path}: no manifest says how large the vocabulary is")
    return store.manifest["vocab_size"]


def write_tokenizer(folder: Path) -> Path:
    """Letters and roles, one id each."""
    words = [*SPECIALS, "user", "assistant", *string.ascii_lowercase]
    tokenizer = Tokenizer(WordLevel({word: i for i, word in enumerate(words)}, unk_token="<pad>"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    tokenizer.add_special_tokens(SPECIALS)
    folder.mkdir()
    tokenizer.save(str(folder / "tokenizer.json"))
    named = {"special_tokens": {"pad_token": "<pad>", "bos_token": "<s>"}, "chat_template": TEMPLATE}
    (folder / "tokenizer_config.json").write_text(json.dumps(named))
    return folder


def write_corpus(folder: Path, train_type: str, count: int = 200) -> Path:
    """Records of one type of training, the same each time."""
    source = random.Random(train_type)
    lines = [json.dumps(RECORDS[train_type](source)) for _ in range(count)]
    folder.mkdir()
    (folder / "records.jsonl").write_text("\n".join(lines))
    if train_type == "seq":
        (folder / "dataset_config.json").write_text(json.dumps({"tokenizer_path": "../tokenizer", **SEQ_CONFIG}))
    return folder


def letters(source: random.Random) -> tuple[str, str, str]:
    """Some letters of the alphabet, those that follow, and as many wrong ones."""
    begin, n = source.randrange(16), source.randint(2, 5)
    wrong = source.sample(string.ascii_lowercase, n)
    return (
        " ".join(string.ascii_lowercase[begin : begin + n]),
        " ".join(string.ascii_lowercase[begin + n : begin + 2 * n]),
        " ".join(wrong),
    )


def text_record(source: random.Random) -> dict[str, object]:
    asked, right, _ = letters(source)
    return {"text": f"{asked} {right}"}


def talk_record(source: random.Random) -> dict[str, object]:
    asked, right, _ = letters(source)
    return {"messages": [{"role": "user", "content": asked}, {"role": "assistant", "content": right}]}


def pair_record(source: random.Random) -> dict[str, object]:
    asked, right, wrong = letters(source)
    return {"prompt": asked, "chosen": right, "rejected": wrong}


def group_record(source: random.Random) -> dict[str, object]:
    asked, right, wrong = letters(source)
    responses = [right, wrong, right.split()[0]][: source.randint(2, 3)]
    rewards = [1.0, 0.0, 0.5][: len(responses)]
    return {"prompt": [{"role": "user", "content": asked}], "responses": responses, "rewards": rewards}


RECORDS: dict[str, Callable[[random.Random], dict[str, object]]] = {
    "seq": text_record,
    "sft": talk_record,
    "dpo": pair_record,
    "grpo": group_record,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("type", nargs="?", default="all", choices=["all", *LOSSES], help="default: all four")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--data", type=Path, help="shards of a corpus, all months or one, or .jsonl files")
    parser.add_argument("--tokenizer", type=Path, help="the tokenizer of .jsonl files")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        for train_type in LOSSES if chosen.type == "all" else [chosen.type]:
            data, tokenizer = chosen.data, chosen.tokenizer
            if data is None:
                data = write_corpus(Path(home, train_type), train_type)
                folder = Path(home, "tokenizer")
                tokenizer = folder if folder.exists() else write_tokenizer(folder)
            losses = train(train_type, data, tokenizer, chosen.steps)
            print(f"{train_type:5} loss {losses[0]:7.4f} -> {losses[-1]:7.4f} after {len(losses)} steps")


if __name__ == "__main__":
    try:
        main()
    except RukhLoadersError as error:
        sys.exit(f"{error}")
