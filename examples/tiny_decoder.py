"""A decoder-only transformer small enough to train on a laptop's processor, and the loops that train and judge it.

    model = TinyDecoder(vocab_size=2030, context=128)
    train(model, loader, steps=60, on_step=lambda step, loss: print(step, loss))
    print(evaluate(model, other_loader, batches=8))

The model reads ids of shape (batch, length) and gives, at every position, a score for each id of the vocabulary to
come next: logits of shape (batch, length, vocab_size). A loader's batch is a pair `x, y` of ids, where `y` is `x` one
token later, so `y` is what the logits of `x` should have scored highest. The loss is the mean of -log(probability of
the right token), in nats. A model that knows nothing gives each of V tokens the probability 1/V and so has a loss of
ln V: 7.6 for the 2,030 tokens of the uci scheme.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

PAD = 0  # the id that fills a window past the end of the stream; a target of PAD is left out of the loss

Batches = Iterable[tuple[Tensor, Tensor]]


class TinyDecoder(nn.Module):
    """Token and position embeddings, `depth` blocks, and one score per token of the vocabulary.

    Sequences may be shorter than `context`, never longer. The same seed gives the same weights, and torch's global
    random numbers stay where they were.
    """

    def __init__(
        self, vocab_size: int, context: int = 128, width: int = 128, depth: int = 2, heads: int = 4, seed: int = 0
    ) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.token = nn.Embedding(vocab_size, width)
            self.position = nn.Embedding(context, width)
            self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(depth)))
            self.norm = nn.LayerNorm(width)
            self.scores = nn.Linear(width, vocab_size, bias=False)
            self.apply(_start_small)
        self.scores.weight = self.token.weight  # a token is written and read as the same vector

    def forward(self, ids: Tensor) -> Tensor:
        places = torch.arange(ids.shape[1], device=ids.device)
        return self.scores(self.norm(self.blocks(self.token(ids) + self.position(places))))


class Block(nn.Module):
    """Each position first gathers from those before it, then thinks by itself; both are added to what it was."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention = CausalAttention(width, heads)
        self.feed_forward = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.before_attention = nn.LayerNorm(width)
        self.before_feed_forward = nn.LayerNorm(width)

    def forward(self, state: Tensor) -> Tensor:
        state = state + self.attention(self.before_attention(state))
        return state + self.feed_forward(self.before_feed_forward(state))


class CausalAttention(nn.Module):
    """Attention in `heads` parts of width / heads each, where no position sees a later one."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query_key_value = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, state: Tensor) -> Tensor:
        batch, length, width = state.shape
        # (batch, length, 3 * width) -> three of (batch, heads, length, width / heads)
        split = self.query_key_value(state).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        gathered = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.out(gathered.transpose(1, 2).reshape(batch, length, width))


def _start_small(module: nn.Module) -> None:
    """Weights of GPT-2's size, so that all scores begin near 0 and the first loss near ln(vocab_size)."""
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)


class Trainer:
    """A model's steps, of which it knows how many there are to be: AdamW, and a learning rate that rises and falls.

    The rate rises over the first tenth of the steps and then falls in a line. `state_dict` and `load_state_dict` carry
    all of it but the model: with the model's weights and the loader's state, the steps that follow are the same ones.

    Where processes share each batch and average their gradients, `mean` is to give the mean of a number over them: a
    step then follows the gradient of the mean over all targets of the batch, however many each process has of them.
    """

    def __init__(
        self,
        model: nn.Module,
        steps: int,
        learning_rate: float = 3e-3,
        mean: Callable[[float], float] = lambda number: number,
    ) -> None:
        self.model = model
        self.steps = steps
        self.mean = mean
        self.done = 0
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate)
        rise = max(1, steps // 10)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda done: min((done + 1) / rise, (steps - done) / (steps - rise + 1))
        )

    def step(self, x: Tensor, y: Tensor) -> float:
        """Learns from one batch; its mean loss, before the weights move."""
        self.model.train()
        loss = _summed(self.model, x, y) / self.mean(_targets(y))
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.schedule.step()
        self.done += 1
        return self.mean(loss.item())

    def state_dict(self) -> dict[str, Any]:
        return {
            "steps": self.steps,
            "done": self.done,
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        if state["steps"] != self.steps:
            raise ValueError(f"the state is of a training of {state['steps']} steps, this one has {self.steps}")
        self.done = state["done"]
        self.optimizer.load_state_dict(state["optimizer"])
        self.schedule.load_state_dict(state["schedule"])


def train(
    model: nn.Module,
    loader: Batches,
    steps: int,
    on_step: Callable[[int, float], None] | None = None,
    learning_rate: float = 3e-3,
) -> list[float]:
    """Takes `steps` steps over the loader's batches, epoch after epoch, and returns the loss of each.

    `on_step` is called with the number of the step, counted from 1, and its loss.
    """
    trainer = Trainer(model, steps, learning_rate)
    losses = []
    for x, y in itertools.islice(epochs(loader), steps):
        losses.append(trainer.step(x, y))
        if on_step is not None:
            on_step(trainer.done, losses[-1])
    return losses


def evaluate(model: nn.Module, loader: Batches, batches: int) -> float:
    """The mean loss of the first `batches` batches of an epoch, or of all where there are fewer. Nothing is learnt.

    Give it a loader that begins anew each time and does not shuffle, so that the same games judge the model before and
    after: `make_loader(dataset, batch_size, evaluate=True)`.
    """
    loss, targets = summed_loss(model, itertools.islice(loader, batches))
    return loss / targets


@torch.no_grad()
def summed_loss(model: nn.Module, batches: Batches) -> tuple[float, int]:
    """The loss summed over all targets but padding, and how many these are."""
    was_training = model.training
    model.eval()
    loss, targets = 0.0, 0
    for x, y in batches:
        loss += _summed(model, x, y).item()
        targets += _targets(y)
    model.train(was_training)
    return loss, targets


def _summed(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    return F.cross_entropy(model(x).flatten(0, 1), y.flatten(), ignore_index=PAD, reduction="sum")


def _targets(y: Tensor) -> int:
    return int((y != PAD).sum())


def epochs(loader: Batches) -> Iterator[tuple[Tensor, Tensor]]:
    """The loader's batches without end."""
    while True:
        yield from loader
