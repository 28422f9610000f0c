"""Whole batches out of a dataset, in an order that a seed decides and from which any number of ranks can go on."""

from __future__ import annotations

import operator
import threading
import weakref
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Generic

import torch

from rukh_loaders.batch import AnyBatchT, BatchSource, Shuffle
from rukh_loaders.errors import IterationClosedError, LoaderArgumentError
from rukh_loaders.orders.mixture import MixtureOrder
from rukh_loaders.orders.order import Order
from rukh_loaders.orders.permutation import MAX_COUNT
from rukh_loaders.serving.placement import Placement, placement_of
from rukh_loaders.serving.prefetch import Prefetcher
from rukh_loaders.serving.ranks import RankBatches, find_rank
from rukh_loaders.serving.state import LoaderState

_Sent = tuple[Any, int]
"""A batch on its way, and the position of the epoch that it leads to."""


def make_loader(
    dataset: BatchSource[AnyBatchT],
    batch_size: int,
    *,
    seed: int = 0,
    shuffle: Shuffle = True,
    drop_last: bool = True,
    evaluate: bool = False,
    rank: int | None = None,
    world_size: int | None = None,
    prefetch: int = 2,
    pin_memory: bool = False,
    device: torch.device | str | None = None,
) -> Loader[AnyBatchT]:
    """A loader over a dataset such as `PackedDataset`, which gathers a whole batch at once: `for x, y in loader`.

    Args:
        dataset: what to serve, see `BatchSource`; a batch is what its `gather` gives. Others are for torch's
            `DataLoader`, with a `ResumableSampler`.
        batch_size: rows of a batch, on each rank.
        seed: any whole number; decides the order together with the number of the epoch.
        shuffle: True for any order, which needs no memory; "blocks" for one that reads neighbours together, for packs
            larger than memory; False for the order of the dataset.
        drop_last: leave out the last global batch of an epoch where it is not full. Else it is filled up with rows of
            `<pad>`, whose `index` is -1, and each sample is served once. Where it has fewer samples than there are
            ranks, some get such rows alone, and the mean loss of no target is NaN: divide a sum of losses instead.
        evaluate: each iteration is all of the dataset's first epoch, not shuffled and with the last batch filled up,
            whatever `shuffle` and `drop_last` are; one that is left half-way begins anew. Not over a mixture.
        rank, world_size: which process this is of how many; by default what torch.distributed says where it is
            initialised, else 0 of 1.
        prefetch: batches made ahead by one thread; 0 for no thread.
        pin_memory: put batches into page-locked memory, for copies of your own to a CUDA device.
        device: where batches are to be. Those on their way to a CUDA device go through page-locked memory and do not
            hold up what computes there.

    Raises:
        LoaderArgumentError: an argument that no loader can have; the message says which are allowed.
        NoBatchError: the dataset is empty, or smaller than one global batch that `drop_last` would leave out, so that a
            loop over the loader would do nothing and say nothing.
    """
    if not isinstance(shuffle, bool) and shuffle != "blocks":
        raise LoaderArgumentError(f"shuffle is {shuffle!r}; it must be True, False or 'blocks'")
    if not hasattr(prefetch, "__index__") or operator.index(prefetch) < 0:
        raise LoaderArgumentError(f"prefetch is {prefetch!r}; it must be 0 or more, 0 for no thread")
    if not callable(getattr(dataset, "gather", None)):
        raise LoaderArgumentError(
            f"the dataset is a {type(dataset).__name__}, which gathers no batches; "
            f"serve it by torch's DataLoader with sampler=ResumableSampler(len(dataset))"
        )
    batches = RankBatches(operator.index(batch_size), *find_rank(rank, world_size), drop_last and not evaluate)
    if evaluate and isinstance(dataset.order(seed, 0, False), MixtureOrder):
        raise LoaderArgumentError(
            "evaluate is True over a mixture, whose epoch is so many samples of each part and not every item once; "
            "evaluate on its parts"
        )
    placement = placement_of(pin_memory, device)
    return Loader(dataset, batches, seed, False if evaluate else shuffle, evaluate, prefetch, placement)


class Loader(Generic[AnyBatchT]):
    """Batches of a dataset, epoch after epoch; made by `make_loader`.

    An iteration serves the rest of the current epoch, and then the next epoch begins: a loop that was left half-way, or
    a state that was loaded, is gone on from by the next loop. Where the rest is no batch, the iteration is the whole
    next epoch. One iteration runs at a time: it ends when another one begins, when `set_epoch` or `load_state_dict`
    move the loader, at `close`, or when nothing refers to it any more.

    Attributes:
        dataset: what is served.
        batch_size: rows of a batch, on this rank.
        rank, world_size: which process this is, of how many that serve the epoch together.
    """

    def __init__(
        self,
        dataset: BatchSource[AnyBatchT],
        batches: RankBatches,
        seed: int,
        shuffle: Shuffle,
        starts_over: bool,
        prefetch: int,
        placement: Placement,
    ) -> None:
        self.dataset = dataset
        self.batch_size, self.rank, self.world_size = batches.batch_size, batches.rank, batches.world_size
        self._batches = batches
        self._seed = operator.index(seed)
        self._shuffle = shuffle
        self._starts_over = starts_over
        self._prefetch = prefetch
        self._placement = placement
        self._epoch = self._position = 0
        self._n_samples = len(self._order())
        self._running: weakref.ref[Iteration[AnyBatchT]] | None = None  # weak: a loop that is left ends its iteration
        batches.check_some(self._n_samples)

    def __len__(self) -> int:
        """How many batches a whole epoch has, the same on every rank; fewer are left within one."""
        return self._batches.count(self._n_samples)

    @property
    def epoch(self) -> int:
        """The number of the current epoch, from 0; it rises when an iteration has served its last batch and ends."""
        return self._epoch

    @property
    def position(self) -> int:
        """How many samples of the epoch were delivered, over all ranks; what is made ahead does not count."""
        return self._position

    def set_epoch(self, epoch: int) -> None:
        """Go to the beginning of another epoch; in the current one stay where it is."""
        if not 0 <= operator.index(epoch) < MAX_COUNT:
            raise LoaderArgumentError(f"epoch is {epoch}; it must be 0 or more, and below 2**62")
        if epoch != self._epoch:
            self._go_to(operator.index(epoch), 0, "set_epoch was called")

    def state_dict(self) -> dict[str, Any]:
        """Where the loader stands, as a few numbers and texts that JSON can hold: the same on every rank.

        The batch that was delivered last counts as done: save it when the step on that batch is done.
        """
        return self._state().model_dump()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where a loader was when it gave `state`, with any number of ranks and any batch size.

        Raises:
            StateFormatError: `state` is not what `state_dict` gives.
            StateMismatchError: it belongs to other data, another seed or another order.
        """
        saved = LoaderState.from_dict(state)
        saved.check_goes_on_in(self._state())
        self._go_to(saved.epoch, saved.position, "load_state_dict was called")

    def __iter__(self) -> Iteration[AnyBatchT]:
        self._end_running("another iteration of the loader began")
        if self._starts_over and self._running is not None:  # since the loader was made, or moved
            self._position = 0
        self._leave_finished_epoch()
        sent = _sent(self.dataset, self._order(), self._batches, self._position, self._placement)
        iteration = Iteration(self, Prefetcher(sent, self._prefetch) if self._prefetch else sent)
        self._running = weakref.ref(iteration)
        return iteration

    def close(self) -> None:
        """End the running iteration and its thread, within a second. A later iteration goes on from here."""
        self._end_running("the loader was closed")

    def __enter__(self) -> Loader[AnyBatchT]:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _order(self) -> Order:
        return self.dataset.order(self._seed, 0 if self._starts_over else self._epoch, self._shuffle)

    def _state(self) -> LoaderState:
        return LoaderState(
            fingerprint=self.dataset.fingerprint,
            seed=self._seed,
            shuffle=self._shuffle,
            epoch=self._epoch,
            position=self._position,
            n_samples=self._n_samples,
        )

    def _go_to(self, epoch: int, position: int, why: str) -> None:
        self._end_running(why)
        self._running = None
        self._epoch, self._position = epoch, position
        self._leave_finished_epoch()

    def _leave_finished_epoch(self) -> None:
        if self._batches.count(self._n_samples - self._position) == 0:
            self._epoch, self._position = self._epoch + 1, 0

    def _end_running(self, why: str) -> None:
        if self._running is not None and (iteration := self._running()) is not None:
            iteration.close(why)


class Iteration(Iterator[AnyBatchT]):
    """The rest of one epoch of a loader. Threads that share it wait for each other, and all of them meet its end.

    Raises:
        IterationClosedError: a batch is asked for after the iteration was ended before its last batch.
    """

    def __init__(self, loader: Loader[AnyBatchT], sent: Iterator[_Sent]) -> None:
        self._loader = loader
        self._sent = sent
        self._ended_by: str | None = None
        self._exhausted = False
        self._one_at_a_time = threading.Lock()

    def __next__(self) -> AnyBatchT:
        with self._one_at_a_time:
            return self._next()

    def close(self, why: str = "it was closed") -> None:
        """End the iteration and its thread; the loader stays where it is. `why` is for the error of a later next."""
        if not self._exhausted:
            self._ended_by = self._ended_by or why
        if isinstance(self._sent, Prefetcher):
            self._sent.close()

    def _next(self) -> AnyBatchT:
        self._check_open()
        if self._exhausted:
            raise StopIteration
        try:
            sent, position = next(self._sent)
        except StopIteration:
            self._check_open()  # another thread may have closed it meanwhile
            self._exhausted = True
            self._loader._epoch, self._loader._position = self._loader._epoch + 1, 0
            raise
        except BaseException as error:
            self.close(f"it met {type(error).__name__}: {error}")
            raise
        batch: AnyBatchT = self._loader._placement.receive(sent)
        self._loader._position = position
        return batch

    def _check_open(self) -> None:
        if self._ended_by is not None:
            raise IterationClosedError(f"this iteration has ended, since {self._ended_by}; call iter(loader) again")


def _sent(
    dataset: BatchSource[AnyBatchT], order: Order, batches: RankBatches, position: int, placement: Placement
) -> Iterator[_Sent]:
    """Each batch from `position` on. Knows no loader, so that the thread in which it runs keeps none alive."""
    for indices, after in batches.indices(order, position):
        yield placement.send(dataset.gather(indices)), after
