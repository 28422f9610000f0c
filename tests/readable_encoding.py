"""The readable way through an encoder, game by game: what its kernel has to agree with."""

from rukh_assets.encode.games import check_columns, read_game
from rukh_assets.errors import RukhAssetsError


def readable_ids(encoder, batch):
    """The ids of each game of a batch, as the encoder judges games that its kernel does not take."""
    check_columns(batch)
    return [encoder.encode_game(read_game(batch, row)) for row in range(batch.num_rows)]


def outcome(encode, *arguments):
    """What a call gives, or the class and text of its error."""
    try:
        return encode(*arguments)
    except RukhAssetsError as error:
        return type(error), str(error)


def encoded_games(encoder, batch):
    """The ids of each game of a batch, as `encode_batch` gives them."""
    ids, lengths = encoder.encode_batch(batch)
    assert int(lengths.sum()) == ids.size
    ends = lengths.cumsum()
    return [ids[end - length : end].tolist() for length, end in zip(lengths.tolist(), ends.tolist(), strict=True)]
