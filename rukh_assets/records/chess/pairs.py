"""`chess_dpo`: of a group the best move and a clearly worse one."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rukh_assets.errors import RecordSettingError
from rukh_assets.records.chess.corpora import DPO
from rukh_assets.records.chess.making import Progress, RecordFiles
from rukh_assets.records.corpora import raw_files
from rukh_loaders.formats import read_manifest

LEAST_MARGIN = 100
"""Centipawns."""

_GROUPS_AT_ONCE = 10_000

RawGroup = dict[str, Any]


@dataclass(frozen=True)
class Pairs:
    """One record a group of `chess_grpo` in which a move is at least `margin` centipawns worse than the best one.

    `{"chosen", "rejected", "margin", "evaluation"}`: two talks of the group's prompt and a move, and by how many pawns
    the moves differ. Of several that are so much worse, the one that most games have is rejected, of these the worst.

    Raises `RecordSettingError` for a `margin` under 100.
    """

    groups_folder: Path
    margin: int = LEAST_MARGIN
    corpus: str = DPO

    def __post_init__(self) -> None:
        if self.margin < LEAST_MARGIN:
            raise RecordSettingError(f"margin: got {self.margin}, allowed: {LEAST_MARGIN} centipawns and more")

    def describe(self) -> dict[str, Any]:
        """The groups by what their files are, where evaluations come from, and the margin."""
        manifest = read_manifest(self.groups_folder)
        return {
            "groups": manifest["data_version"],
            "evaluation": manifest["evaluation"],
            "settings": {"margin": self.margin},
        }

    def write(self, files: RecordFiles, progress: Progress | None) -> dict[str, int]:
        """At most one record a group, in the groups' order."""
        n_groups = 0
        for group in read_groups(self.groups_folder):
            files.write(self._lines(group))
            n_groups += 1
            if progress and n_groups % _GROUPS_AT_ONCE == 0:
                progress(n_groups, files.n_records)
        return {"groups": n_groups, "groups_without_a_pair": n_groups - files.n_records}

    def _lines(self, group: RawGroup) -> Iterator[str]:
        worse = worse_move(group, self.margin)
        if worse is not None:
            chosen, rejected = (_talk(group, index) for index in (0, worse))
            margin = round(group["rewards"][0] - group["rewards"][worse], 2)
            record = {"chosen": chosen, "rejected": rejected, "margin": margin, "evaluation": group["evaluation"]}
            yield json.dumps(record)


def read_groups(folder: Path) -> Iterator[RawGroup]:
    """The records of a month of `chess_grpo`, in order; `ManifestError` where its files are not what it lists."""
    for path in raw_files(folder):
        with path.open(encoding="ascii") as lines:
            yield from map(json.loads, lines)


def worse_move(group: RawGroup, margin: int) -> int | None:
    """The index of the move that is rejected, of a group whose best move comes first; None where none is so bad."""
    changes = [round(100 * reward) for reward in group["rewards"]]
    clearly = [index for index, change in enumerate(changes) if changes[0] - change >= margin]
    return max(clearly, key=lambda index: (group["games"][index], -changes[index], index), default=None)


def _talk(group: RawGroup, index: int) -> list[dict[str, str]]:
    return [*group["prompt"], {"role": "assistant", "content": group["responses"][index]}]
