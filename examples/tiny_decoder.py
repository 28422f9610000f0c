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


def train(
    model: nn.Module,
    loader: Batches,
    steps: int,
    on_step: Callable[[int, float], None] | None = None,
    learning_rate: float = 3e-3,
) -> list[float]:
    """Takes `steps` AdamW steps over the loader's batches, epoch after epoch, and returns the loss of each.

    The loss of a step is that of its batch before the weights move. `on_step` is called with the number of the step,
    counted from 1, and its loss. The learning rate rises over the first tenth of the steps and then falls in a line.
    """
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate)
    rise = max(1, steps // 10)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda done: min((done + 1) / rise, (steps - done) / (steps - rise + 1))
    )
    losses = []
    model.train()
    for step, (x, y) in enumerate(itertools.islice(_epochs(loader), steps), start=1):
        loss = _loss(model, x, y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if on_step is not None:
            on_step(step, losses[-1])
    return losses


@torch.no_grad()
def evaluate(model: nn.Module, loader: Batches, batches: int) -> float:
    """The mean loss of the first `batches` batches of an epoch, or of all where there are fewer. Nothing is learnt.

    Give it a loader that does not shuffle, so that the same games judge the model before and after.
    """
    was_training = model.training
    model.eval()
    losses = [_loss(model, x, y).item() for x, y in itertools.islice(loader, batches)]
    model.train(was_training)
    return sum(losses) / len(losses)


def _loss(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    return F.cross_entropy(model(x).flatten(0, 1), y.flatten(), ignore_index=PAD)


def _epochs(loader: Batches) -> Iterator[tuple[Tensor, Tensor]]:
    while True:
        yield from loader
