"""Where a loader stands: a few numbers from which any number of ranks goes on, and which other data refuses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rukh_loaders.errors import StateFormatError, StateMismatchError
from rukh_loaders.orders.permutation import MAX_COUNT

Count = Annotated[int, Field(ge=0)]


class LoaderState(BaseModel):
    """`position` samples, of the `n_samples` that an epoch has over all ranks, were delivered of epoch `epoch`.

    The other fields say which order that is a position of. Neither ranks nor batch size are among them, since the order
    does not depend on them.
    """

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    version: Literal[1] = 1
    fingerprint: str
    seed: int
    shuffle: bool | Literal["blocks"]
    epoch: Annotated[int, Field(ge=0, lt=MAX_COUNT)]
    position: Count
    n_samples: Count

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> LoaderState:
        """Check what `model_dump` gave, possibly in another version; `StateFormatError` names each fault."""
        try:
            return cls.model_validate(state)
        except ValidationError as error:
            faults = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'the state'}: {e['msg']}" for e in error.errors())
            raise StateFormatError(
                f"no state of a loader: {faults} (its keys: {', '.join(cls.model_fields)})"
            ) from error

    def check_goes_on_in(self, loader: LoaderState) -> None:
        """Raise `StateMismatchError`, with both values, unless this is a place in the order that `loader` serves."""
        for field in ("fingerprint", "seed", "shuffle", "n_samples"):
            saved, own = getattr(self, field), getattr(loader, field)
            if saved != own:
                raise StateMismatchError(
                    f"the state was saved with the {field} {saved!r} and this loader has {own!r}; "
                    f"its position means nothing here"
                )
        if self.position > self.n_samples:
            raise StateFormatError(f"the position is {self.position}; an epoch has {self.n_samples} samples")
