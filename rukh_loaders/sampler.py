"""The order of a `make_loader` for those who keep torch's own `DataLoader`, or torchdata's."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from torch.utils.data import Sampler

from rukh_loaders.errors import (
    LoaderArgumentError,
    NoBatchError,
    OrderArgumentError,
    StateFormatError,
    StateMismatchError,
)
from rukh_loaders.orders.order import FeistelOrder, Indices, Order
from rukh_loaders.orders.permutation import MAX_COUNT
from rukh_loaders.serving.ranks import find_rank

_TAKEN_AT_ONCE = 1 << 14  # positions, over all ranks


class ResumableSampler(Sampler[int]):
    """This rank's indices of one epoch an iteration, each iteration the next epoch, from 0 on.

        sampler = ResumableSampler(len(dataset), seed=7)
        loader = DataLoader(dataset, batch_size=64, sampler=sampler)

    Rank r of W serves the positions r, r + W, r + 2W, ... of the epoch's order, `count // W` of them on every rank. The
    fewer than W that are left over are left out, others in each epoch; to evaluate on every item, use `make_loader`.

    An iteration that is left half-way ends its epoch; one after `load_state_dict` is the rest of that epoch, and where
    nothing is left, the next one. `state_dict` counts the indices that were drawn. Where workers draw ahead of what is
    delivered, take the state from torchdata's `StatefulDataLoader`, which keeps count, or say yourself how many samples
    were delivered: `set_epoch(epoch, position)`.

    `order` makes the order of `(count, seed, epoch)`: `BlockOrder`, `RandpermOrder`, or a function of your own. Without
    `rank` and `world_size`, they are what torch.distributed says where it is initialised, else 0 and 1. `fingerprint`,
    such as that of a `PackedDataset`, goes into the state, which is refused where it is another one.

    Raises:
        NoBatchError: fewer items than ranks, so that a loop would do nothing and say nothing.
        LoaderArgumentError: a rank that is none of `0..world_size-1`, or given without `world_size`.
        OrderArgumentError: what no order can have, or an order of another length than `count`.
    """

    def __init__(
        self,
        count: int,
        seed: int = 0,
        rank: int | None = None,
        world_size: int | None = None,
        order: Callable[[int, int, int], Order] = FeistelOrder,
        fingerprint: str | None = None,
    ) -> None:
        self.count = operator.index(count)
        self.seed = operator.index(seed)
        self.rank, self.world_size = find_rank(rank, world_size)
        self.fingerprint = fingerprint
        self._make_order = order
        self._epoch = self._position = 0
        self._running: object | None = None  # the iteration that the epoch and position are those of
        self._order_of(0)
        if self.count < self.world_size:
            raise NoBatchError(f"there are {count} items for {self.world_size} ranks; each must have one or more")

    def __len__(self) -> int:
        """The number of indices of a whole epoch, the same on every rank; fewer are left within one."""
        return self.count // self.world_size

    @property
    def epoch(self) -> int:
        """The epoch of the running iteration, or of the next where none was begun or the last one was whole."""
        return self._epoch

    @property
    def position(self) -> int:
        """How many positions of the epoch's order were drawn, over all ranks."""
        return self._position

    def set_epoch(self, epoch: int, position: int | None = None) -> None:
        """Let the next iteration be that of `epoch`, from `position`, of all ranks together, on.

        Without `position` it is the whole epoch, or what is left of it where that is what a state was loaded for.
        """
        epoch = operator.index(epoch)
        if epoch < 0:
            raise LoaderArgumentError(f"epoch is {epoch}; it must be 0 or more")
        if position is None:
            position = self._position if epoch == self._epoch and self._running is None else 0
        position = operator.index(position)
        if not 0 <= position <= self.count:
            raise LoaderArgumentError(f"position is {position}; it must be from 0 to {self.count}")
        self._epoch, self._position, self._running = epoch, position, None

    def state_dict(self) -> dict[str, Any]:
        """Where the sampler stands, as numbers and a text that JSON can hold: the same on every rank."""
        return {**self._identity(), "epoch": self._epoch, "position": self._position}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Let the next iteration go on where a sampler was when it gave `state`, with any number of ranks.

        Raises:
            StateFormatError: `state` is not what `state_dict` gives.
            StateMismatchError: it is the place in another order: of another count, seed, kind or fingerprint.
        """
        if not isinstance(state, Mapping):
            raise StateFormatError(f"the state is {state!r}; expected what state_dict gives, a mapping")
        if set(state) != set(self.state_dict()):
            raise StateFormatError(
                f"the state has the keys {sorted(map(str, state))}; a sampler's has {sorted(self.state_dict())}"
            )
        for name, own in self._identity().items():
            if state[name] != own:
                raise StateMismatchError(f"the state was saved with the {name} {state[name]!r} and this is {own!r}")
        for name, most in (("epoch", MAX_COUNT - 1), ("position", self.count)):
            if not hasattr(state[name], "__index__") or not 0 <= state[name] <= most:
                raise StateFormatError(f"the state has the {name} {state[name]!r}; it must be from 0 to {most}")
        self.set_epoch(state["epoch"], state["position"])

    def __iter__(self) -> Iterator[int]:
        # A generator, since loaders ask for iterators that they never draw from: an epoch begins with its first index.
        if self._running is not None or self.count - self._position < self.world_size:
            self._begin_next_epoch()
        running = self._running = object()
        for index in self._rest(self._order_of(self._epoch), self._position):
            if self._running is running:  # else another iteration has begun, and what is left of this one is its own
                self._position += self.world_size
            yield index
        if self._running is running:
            self._begin_next_epoch()

    def _rest(self, order: Order, position: int) -> Iterator[int]:
        end = self.count - (self.count - position) % self.world_size
        at_once = max(_TAKEN_AT_ONCE // self.world_size, 1) * self.world_size
        for begin in range(position, end, at_once):
            taken: Indices = order.take(begin, min(begin + at_once, end))
            yield from taken[self.rank :: self.world_size].tolist()

    def _begin_next_epoch(self) -> None:
        self._epoch, self._position, self._running = self._epoch + 1, 0, None

    def _order_of(self, epoch: int) -> Order:
        order = self._make_order(self.count, self.seed, epoch)
        if len(order) != self.count:
            raise OrderArgumentError(f"the order has {len(order)} positions; count is {self.count}")
        return order

    def _identity(self) -> dict[str, Any]:
        kind = getattr(self._make_order, "__qualname__", type(self._make_order).__qualname__)
        return {
            "version": 1,
            "count": self.count,
            "seed": self.seed,
            "order": kind,
            "fingerprint": self.fingerprint,
        }
