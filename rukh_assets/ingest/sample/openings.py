"""A small book of openings: main lines with the code of the Encyclopaedia of Chess Openings that each ends in."""

from dataclasses import dataclass
from functools import cache

import chess
import numpy as np
from numpy.typing import NDArray

#: One line each: ECO code, weight, moves.
LINES = """\
A00 2 g3 d5 Bg2 e5 d3
A00 2 b4 e5 Bb2 Bxb4 Bxe5 Nf6
A00 1 e3 d5 b3
A01 3 b3 e5 Bb2 Nc6 e3
A02 2 f4 e5 fxe5 d6 exd6 Bxd6
A03 2 f4 d5 Nf3 Nf6 e3
A04 2 Nf3 c5 g3 Nc6 Bg2 g6
A05 2 Nf3 Nf6 g3 g6 Bg2 Bg7 O-O O-O d3
A07 3 Nf3 d5 g3 Nf6 Bg2 c6 O-O Bg4
A08 2 Nf3 d5 g3 c5 Bg2 Nc6 O-O
A09 2 Nf3 d5 c4 d4
A10 2 c4 b6 Nc3 Bb7
A14 2 c4 e6 Nf3 d5 g3 Nf6 Bg2 Be7 O-O
A16 2 c4 Nf6 Nc3 d5 cxd5 Nxd5 g3 g6
A20 2 c4 e5 g3 Nf6 Bg2 d5 cxd5 Nxd5
A25 2 c4 e5 Nc3 Nc6 g3 g6 Bg2 Bg7
A29 2 c4 e5 Nc3 Nf6 Nf3 Nc6 g3 d5 cxd5 Nxd5
A34 2 c4 c5 Nc3 Nf6 g3 d5 cxd5 Nxd5
A40 2 d4 e5 dxe5 Nc6 Nf3 Qe7
A41 2 d4 d6 Nf3 Bg4 c4
A45 3 d4 Nf6 Bg5 Ne4 Bf4 c5
A46 2 d4 Nf6 Nf3 e6 Bg5 c5 e3
A48 4 d4 Nf6 Nf3 g6 Bf4 Bg7 e3 O-O
A52 2 d4 Nf6 c4 e5 dxe5 Ng4 Bf4 Nc6 Nf3 Bb4+
A58 2 d4 Nf6 c4 c5 d5 b5 cxb5 a6 bxa6 Bxa6 Nc3 d6
A70 2 d4 Nf6 c4 c5 d5 e6 Nc3 exd5 cxd5 d6 e4 g6 Nf3 Bg7
A80 2 d4 f5 Bg5 h6 Bh4 g5
A87 2 d4 f5 c4 Nf6 g3 g6 Bg2 Bg7 Nf3
B00 3 e4 b6 d4 Bb7 Bd3 e6
B00 2 e4 Nc6 d4 d5 e5
B01 6 e4 d5 exd5 Qxd5 Nc3 Qa5 d4 Nf6 Nf3 c6
B01 3 e4 d5 exd5 Nf6 d4 Nxd5 Nf3
B05 2 e4 Nf6 e5 Nd5 d4 d6 Nf3 Bg4 Be2 e6
B06 4 e4 g6 d4 Bg7 Nc3 d6
B08 2 e4 d6 d4 Nf6 Nc3 g6 Nf3 Bg7 Be2 O-O
B11 2 e4 c6 Nc3 d5 Nf3 Bg4 h3 Bxf3 Qxf3 e6
B12 6 e4 c6 d4 d5 e5 Bf5 Nf3 e6 Be2
B13 4 e4 c6 d4 d5 exd5 cxd5 Bd3 Nc6 c3 Nf6
B18 3 e4 c6 d4 d5 Nc3 dxe4 Nxe4 Bf5 Ng3 Bg6
B21 3 e4 c5 d4 cxd4 c3 dxc3 Nxc3
B22 4 e4 c5 c3 d5 exd5 Qxd5 d4 Nf6
B23 3 e4 c5 Nc3 Nc6 f4 g6 Nf3 Bg7
B31 3 e4 c5 Nf3 Nc6 Bb5 g6 O-O Bg7
B33 3 e4 c5 Nf3 Nc6 d4 cxd4 Nxd4 Nf6 Nc3 e5 Ndb5 d6
B42 2 e4 c5 Nf3 e6 d4 cxd4 Nxd4 a6 Bd3
B52 3 e4 c5 Nf3 d6 Bb5+ Bd7 Bxd7+ Qxd7
B76 3 e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 g6 Be3 Bg7 f3 O-O Qd2
B80 2 e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 e6
B90 4 e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6 Be3 e5 Nb3
B92 2 e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6 Be2 e5 Nb3
C00 2 e4 e6 d3 d5 Nd2 Nf6 Ngf3 c5 g3
C01 4 e4 e6 d4 d5 exd5 exd5 Nf3 Nf6 Bd3 Bd6
C02 5 e4 e6 d4 d5 e5 c5 c3 Nc6 Nf3 Qb6
C06 2 e4 e6 d4 d5 Nd2 Nf6 e5 Nfd7 Bd3 c5 c3 Nc6 Ne2 cxd4 cxd4
C11 2 e4 e6 d4 d5 Nc3 Nf6 e5 Nfd7 f4 c5 Nf3
C18 2 e4 e6 d4 d5 Nc3 Bb4 e5 c5 a3 Bxc3+ bxc3 Ne7
C21 2 e4 e5 d4 exd4 c3 dxc3 Bc4
C24 3 e4 e5 Bc4 Nf6 d3 c6 Nf3
C25 2 e4 e5 Nc3 Nc6 Bc4 Bc5
C29 3 e4 e5 Nc3 Nf6 f4 d5 fxe5 Nxe4
C30 2 e4 e5 f4 Bc5 Nf3 d6
C39 2 e4 e5 f4 exf4 Nf3 g5 h4 g4 Ne5
C41 4 e4 e5 Nf3 d6 d4 exd4 Nxd4 Nf6 Nc3
C42 4 e4 e5 Nf3 Nf6 Nxe5 d6 Nf3 Nxe4 d4 d5
C44 2 e4 e5 Nf3 Nc6 d4 exd4 Bc4 Bc5 c3
C45 3 e4 e5 Nf3 Nc6 d4 exd4 Nxd4 Nf6 Nxc6 bxc6
C48 2 e4 e5 Nf3 Nc6 Nc3 Nf6 Bb5 Nd4
C50 4 e4 e5 Nf3 Nc6 Bc4 Bc5 d3 Nf6 O-O d6
C52 2 e4 e5 Nf3 Nc6 Bc4 Bc5 b4 Bxb4 c3 Ba5 d4
C55 4 e4 e5 Nf3 Nc6 Bc4 Nf6 d3 Be7 O-O O-O
C58 2 e4 e5 Nf3 Nc6 Bc4 Nf6 Ng5 d5 exd5 Na5 Bb5+ c6 dxc6 bxc6
C65 2 e4 e5 Nf3 Nc6 Bb5 Nf6 d3 Bc5
C67 2 e4 e5 Nf3 Nc6 Bb5 Nf6 O-O Nxe4 d4 Nd6 Bxc6 dxc6 dxe5 Nf5
C80 2 e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Nxe4 d4 b5 Bb3 d5 dxe5 Be6
C88 2 e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 O-O
C92 2 e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6 c3 O-O h3
D00 5 d4 d5 Bf4 Nf6 e3 c5 c3 Nc6
D00 2 d4 d5 e4 dxe4 Nc3 Nf6 f3
D02 5 d4 d5 Nf3 Nf6 Bf4 e6 e3 Bd6
D05 2 d4 d5 Nf3 Nf6 e3 e6 Bd3 c5 c3
D07 2 d4 d5 c4 Nc6 Nc3 Nf6
D08 2 d4 d5 c4 e5 dxe5 d4 Nf3 Nc6
D10 3 d4 d5 c4 c6 cxd5 cxd5 Nc3 Nf6
D17 2 d4 d5 c4 c6 Nf3 Nf6 Nc3 dxc4 a4 Bf5
D20 2 d4 d5 c4 dxc4 e4 e5 Nf3
D27 2 d4 d5 c4 dxc4 Nf3 Nf6 e3 e6 Bxc4 c5 O-O a6
D35 3 d4 d5 c4 e6 Nc3 Nf6 cxd5 exd5 Bg5
D37 3 d4 d5 c4 e6 Nc3 Nf6 Nf3 Be7 Bf4 O-O
D47 2 d4 d5 c4 c6 Nf3 Nf6 Nc3 e6 e3 Nbd7 Bd3 dxc4 Bxc4 b5
D53 2 d4 d5 c4 e6 Nc3 Nf6 Bg5 Be7 e3 O-O
D85 2 d4 Nf6 c4 g6 Nc3 d5 cxd5 Nxd5 e4 Nxc3 bxc3 Bg7
E06 2 d4 Nf6 c4 e6 g3 d5 Bg2 Be7 Nf3 O-O
E11 2 d4 Nf6 c4 e6 Nf3 Bb4+ Bd2 Qe7
E12 2 d4 Nf6 c4 e6 Nf3 b6 a3 Bb7 Nc3
E24 2 d4 Nf6 c4 e6 Nc3 Bb4 a3 Bxc3+ bxc3
E32 2 d4 Nf6 c4 e6 Nc3 Bb4 Qc2 O-O
E46 2 d4 Nf6 c4 e6 Nc3 Bb4 e3 O-O
E70 2 d4 Nf6 c4 g6 Nc3 Bg7 e4 d6
E81 2 d4 Nf6 c4 g6 Nc3 Bg7 e4 d6 f3 O-O Be3
E97 3 d4 Nf6 c4 g6 Nc3 Bg7 e4 d6 Nf3 O-O Be2 e5 O-O Nc6 d5 Ne7
"""


@dataclass(frozen=True, slots=True)
class Book:
    """The lines of the book, in its order, as columns."""

    ecos: list[str]
    weights: list[int]
    sans: list[tuple[str, ...]]
    moves: NDArray[np.int64]
    """`origin | target << 6` of the moves of all lines, one line after the other."""
    starts: NDArray[np.int64]
    """[lines and one]: where each line begins in `moves`, and the last ends."""


@cache
def book() -> Book:
    """The book, its lines played through by python-chess."""
    words = [line.split() for line in LINES.splitlines()]
    sans = [tuple(line[2:]) for line in words]
    moves = []
    for line in sans:
        board = chess.Board()
        moves += [board.push_san(san) for san in line]
    return Book(
        ecos=[line[0] for line in words],
        weights=[int(line[1]) for line in words],
        sans=sans,
        moves=np.array([move.from_square | move.to_square << 6 for move in moves], np.int64),
        starts=np.cumsum([0, *map(len, sans)], dtype=np.int64),
    )
