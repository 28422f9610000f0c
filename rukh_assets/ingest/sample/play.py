"""Games from the first move to the last, written as movetext: the kernel of the sample."""

from rukh_assets.board.intrinsics import from_slot, memory
from rukh_assets.board.kernel import Numbers, kernel, step
from rukh_assets.board.play import set_up
from rukh_assets.board.position import BLACK, EMPTY, PAWN, SIDE, SQUARES, WHITE
from rukh_assets.board.san_writing import write_and_play
from rukh_assets.ingest.sample.choice import choose
from rukh_assets.ingest.sample.ends import GOING_ON, UNKNOWN, end_before
from rukh_assets.ingest.sample.game import (
    BASE,
    BOOK_PLIES,
    DICE,
    HOPELESS,
    LAST_MOVE,
    LEFT,
    LINE,
    MAX_PLIES,
    PLY,
    QUIET,
    SETTING_SIZE,
    UNFINISHED,
    WHEN_STOPPED,
    Game,
    open_game,
)
from rukh_assets.ingest.sample.repetition import key_of
from rukh_assets.ingest.sample.survey import look
from rukh_assets.ingest.sample.writing import (
    CHARACTERS_PER_PLY,
    SPARE_CHARACTERS,
    write_clock,
    write_ids,
    write_move_number,
    write_result,
)

ROOM = MAX_PLIES * CHARACTERS_PER_PLY + SPARE_CHARACTERS
"""No game has more characters."""


@kernel
def play_games(
    settings: Numbers,
    least_plies: Numbers,
    dice: Numbers,
    book: Numbers,
    text: Numbers,
    offsets: Numbers,
    results: Numbers,
    terminations: Numbers,
    scratch: Numbers,
) -> bool:
    """Play and write one game after the other; False where `text` is too short, which has to have `ROOM` for each.

    Game i is played by the `SETTING_SIZE` numbers of `settings` from `SETTING_SIZE * i` on, with the stream of random
    numbers whose state is `dice[i]`, and again with what follows in the stream while it has less than `least_plies[i]`.
    It becomes `text[offsets[i]:offsets[i + 1]]`, `RESULTS[results[i]]` and `NORMAL` or `FORFEIT`. `book` has
    the moves of all openings; `scratch` has `SCRATCH_SIZE` slots.
    """
    written = 0
    offsets[0] = 0
    for row in range(len(results)):
        if written + ROOM > len(text):
            return False
        game = open_game(from_slot(memory(settings), SETTING_SIZE * row), memory(scratch))
        game.state[DICE] = dice[row]
        length = 0
        while length == 0 or game.state[PLY] < least_plies[row]:
            results[row], terminations[row], length = play_game(game, memory(book), from_slot(memory(text), written))
        written += length
        offsets[row + 1] = written
    return True


@step
def play_game(game: Game, book: Numbers, text: Numbers) -> tuple[int, int, int]:
    """Play and write one game; return its result, termination and length in characters."""
    begin(game)
    cursor = 0
    while True:
        ply = game.state[PLY]
        move = book[game.setting[LINE] + ply] if ply < game.setting[BOOK_PLIES] else choose(game)
        result, termination = end_before(game, move)
        if result != GOING_ON:
            break
        cursor = make_move(game, move, text, cursor)
    if game.setting[WHEN_STOPPED] == UNFINISHED:
        result = UNKNOWN
    return result, termination, write_result(result, text, cursor)


@step
def begin(game: Game) -> None:
    """Set up a new game; the stream of random numbers goes on."""
    for side in (WHITE, BLACK):
        game.state[side + LEFT] = 100 * game.setting[BASE]
        game.state[side + HOPELESS] = game.state[side + LAST_MOVE] = 0
    game.state[PLY] = game.state[QUIET] = 0
    set_up(game.position)
    look(game.position, game.sight)
    game.keys[0] = key_of(game.position)


@step
def make_move(game: Game, move: int, text: Numbers, cursor: int) -> int:
    """Make and write a legal move; return where the next word goes."""
    position, state = game.position, game.state
    side, has_clocks = position[SIDE], game.setting[BASE] != 0
    is_quiet = position[SQUARES + ((move >> 6) & 63)] == EMPTY and position[SQUARES + (move & 63)] != side + PAWN
    if side == WHITE or has_clocks:
        cursor = write_move_number((state[PLY] >> 1) + 1, side == BLACK, game.word, text, cursor)
    length = write_and_play(position, move & 63, (move >> 6) & 63, move >> 12, game.word, 0)
    cursor = write_ids(game.word, length, text, cursor)
    if has_clocks:
        cursor = write_clock(state[side + LEFT] // 100, text, cursor)
    look(position, game.sight)
    state[side + LAST_MOVE] = move
    state[PLY] += 1
    state[QUIET] = state[QUIET] + 1 if is_quiet else 0
    game.keys[state[PLY]] = key_of(position)
    return cursor
