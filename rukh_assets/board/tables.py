"""What depends on squares alone: a few small tables, made in some milliseconds when this module is imported.

Squares, bitboards and pieces are as everywhere in this package; a direction is a number from 0 to 7. Those below 4
lead to higher squares, `direction ^ 4` is the way back, and `direction & 2` tells diagonals from files and ranks.
"""

import numpy as np
from numpy.typing import NDArray

from rukh_assets.board.kernel import Table

Step = tuple[int, int]

STEPS: tuple[Step, ...] = ((0, 1), (1, 0), (1, 1), (-1, 1), (0, -1), (-1, 0), (-1, -1), (1, -1))
"""(files, ranks) of one step in each direction: up, right, up right, up left, and back."""

NO_DIRECTION = 8
"""The direction between squares that do not see each other: there are no rays in it, nor in the way back from it."""

_LEAPS: tuple[Step, ...] = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))


def _step(square: int, step: Step) -> int | None:
    file, rank = square % 8 + step[0], square // 8 + step[1]
    return rank * 8 + file if file in range(8) and rank in range(8) else None


def _ray(square: int, step: Step) -> list[int]:
    squares = []
    here = _step(square, step)
    while here is not None:
        squares.append(here)
        here = _step(here, step)
    return squares


def _bitboards(squares_of_rows: list[list[list[int]]]) -> NDArray[np.int64]:
    rows = [[sum(1 << square for square in squares) for squares in row] for row in squares_of_rows]
    return np.array(rows, np.uint64).view(np.int64)


def _rays() -> NDArray[np.int64]:
    table = np.zeros(((NO_DIRECTION ^ 4) + 1, 64), np.int64)
    table[: len(STEPS)] = _bitboards([[_ray(square, step) for square in range(64)] for step in STEPS])
    return table


def _directions() -> NDArray[np.uint8]:
    table = np.full((64, 64), NO_DIRECTION, np.uint8)
    for square in range(64):
        for direction, step in enumerate(STEPS):
            table[square, _ray(square, step)] = direction
    return table


def _attacks() -> NDArray[np.int64]:
    def leaper(steps: tuple[Step, ...]) -> list[list[int]]:
        reached = ([_step(square, step) for step in steps] for square in range(64))
        return [[target for target in targets if target is not None] for targets in reached]

    def slider(steps: tuple[Step, ...]) -> list[list[int]]:
        return [[target for step in steps for target in _ray(square, step)] for square in range(64)]

    nothing = leaper(())
    straight, diagonal = STEPS[0:2] + STEPS[4:6], STEPS[2:4] + STEPS[6:8]
    officers = [leaper(_LEAPS), slider(diagonal), slider(straight), slider(STEPS), leaper(STEPS)]
    pawns = leaper(((-1, 1), (1, 1))), leaper(((-1, -1), (1, -1)))
    return _bitboards([row for pawn in pawns for row in (nothing, pawn, *officers, nothing)])


RAYS: Table = _rays()
"""[direction, square]: the squares from there to the edge of the board, without itself. Oracle: `chess.ray`."""

DIRECTIONS: Table = _directions()
"""[from, to]: the direction in which the one sees the other on an empty board, or `NO_DIRECTION`."""

ATTACKS: Table = _attacks()
"""[piece, square]: what the piece attacks there on an empty board; numbers that are no piece attack nothing.

Oracle: `chess.BB_KNIGHT_ATTACKS` and its like.
"""
