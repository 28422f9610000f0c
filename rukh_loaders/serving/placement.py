"""The way of a batch from the memory that it is gathered in to where it is used.

`send` runs where batches are made, in the prefetching thread if there is one, and `receive` where they are taken.
"""

from __future__ import annotations

from typing import Any, Protocol

import torch

from rukh_loaders.batch import AnyBatch
from rukh_loaders.errors import LoaderArgumentError


class Placement(Protocol):
    """What a loader does with a batch after it is gathered."""

    def send(self, batch: AnyBatch) -> Any:
        """Begin to place the batch; the result is for `receive` alone."""

    def receive(self, sent: Any) -> Any:
        """The placed batch, ready for the operations that the calling thread queues from now on."""


class InHostMemory:
    """The batch as it was gathered."""

    def send(self, batch: AnyBatch) -> AnyBatch:
        """The batch itself."""
        return batch

    def receive(self, sent: AnyBatch) -> AnyBatch:
        """The batch itself."""
        return sent


class InPinnedMemory(InHostMemory):
    """The batch in page-locked memory, for a copy of the caller's own to the CUDA device of this number."""

    def __init__(self, device: int) -> None:
        self.device = device

    def send(self, batch: AnyBatch) -> AnyBatch:
        """A copy in page-locked memory."""
        with torch.cuda.device(self.device):  # the current device is each thread's own, and begins as the first
            return batch.pin_memory()


class OnDevice(InHostMemory):
    """The batch on a device whose copies are waited for, the CPU too."""

    def __init__(self, device: torch.device) -> None:
        self.device = device

    def send(self, batch: AnyBatch) -> AnyBatch:
        """The batch on the device, widened there."""
        return batch.to(self.device).widened()


class OnCuda:
    """The batch on a CUDA device, copied on a stream of its own while the caller's stream computes.

    The copy overlaps with computing only out of page-locked memory, so each batch goes through it. Torch keeps such
    memory from being used again before the copy is done.
    """

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]

    def send(self, batch: AnyBatch) -> tuple[AnyBatch, torch.cuda.Event]:
        """The batch on the device, widened there, and the event at which it has arrived."""
        with torch.cuda.device(self.device), torch.cuda.stream(self.stream):
            moved = batch.pin_memory().to(self.device, non_blocking=True).widened()
            return moved, self.stream.record_event()

    def receive(self, sent: tuple[AnyBatch, torch.cuda.Event]) -> AnyBatch:
        """The batch, which the caller's stream waits for; its memory is kept until that stream is done with it."""
        batch, arrived = sent
        current = torch.cuda.current_stream(self.device)
        current.wait_event(arrived)
        for tensor in batch.tensors():
            tensor.record_stream(current)
        return batch


def placement_of(pin_memory: bool, device: torch.device | str | None) -> Placement:
    """The way to `device`, or to page-locked memory, or none.

    Raises:
        LoaderArgumentError: page-locked memory or CUDA is asked for where torch has no such device.
    """
    target = None if device is None else torch.device(device)
    needs_cuda = pin_memory or (target is not None and target.type == "cuda")
    if needs_cuda and not torch.cuda.is_available():
        raise LoaderArgumentError(
            f"pin_memory is {pin_memory} and device is {device}, and torch finds no CUDA device here; "
            f"pass pin_memory=False and device=None or 'cpu'"
        )
    if target is None:
        return InPinnedMemory(torch.cuda.current_device()) if pin_memory else InHostMemory()
    if target.type != "cuda":
        return OnDevice(target)
    return OnCuda(target if target.index is not None else torch.device("cuda", torch.cuda.current_device()))
