import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from month_packs import write_month
from packed_months import GAMES as LEGAL_GAMES
from packed_months import write_pack as write_legal_pack

from rukh_loaders import Mixture, PackedDataset, PaddedDataset, open_packs
from rukh_loaders.errors import LossMaskError
from rukh_loaders.tokenizers import SanCharTokenizer, UciTokenizer

THREE_GAMES = [[1, 7, 8, 9, 2], [1, 5, 2], [1, 6, 6, 2]]
SIDES = {"1-0": "w", "0-1": "b", "1/2-1/2": None}
ALL = {"position_ids": True, "document_ids": True, "cu_seqlens": True}


@pytest.fixture(scope="module")
def three_games(tmp_path_factory):
    return write_month(tmp_path_factory.mktemp("packs") / "2024-01", THREE_GAMES, {"white_elo": range(3)})


@pytest.fixture(scope="module")
def legal_packs(tmp_path_factory):
    home = tmp_path_factory.mktemp("lake")
    return {scheme: write_legal_pack(home, scheme, "2024-01", LEGAL_GAMES) for scheme in ("uci", "san", "bpe")}


def test_positions_and_documents_begin_anew_at_each_game(three_games):
    batch = PackedDataset(three_games, block=6, **ALL).gather(np.array([0, 2, -1]))
    assert batch.x.tolist() == [[1, 7, 8, 9, 2, 1], [1, 6, 6, 2, 0, 0], [0] * 6]
    assert batch.position_ids.tolist() == [[0, 1, 2, 3, 4, 0], [0, 1, 2, 3, 0, 0], [0] * 6]
    assert batch.document_ids.tolist() == [[0, 0, 0, 0, 0, 1], [2, 2, 2, 2, -1, -1], [-1] * 6]
    assert batch.cu_seqlens.tolist() == [0, 5, 6, 10, 12, 18]
    assert batch.max_seqlen == 6
    assert (batch.position_ids.dtype, batch.document_ids.dtype) == (torch.int64, torch.int32)
    assert batch.cu_seqlens.dtype == torch.int32


def test_a_window_that_begins_amid_a_game_begins_a_document_at_position_0(three_games):
    batch = PackedDataset(three_games, block=4, start_at_game=False, **ALL).gather(np.array([1]))
    assert batch.x.tolist() == [[2, 1, 5, 2]]
    assert batch.position_ids.tolist() == [[0, 0, 1, 2]]
    assert batch.document_ids.tolist() == [[0, 1, 1, 1]]
    assert batch.cu_seqlens.tolist() == [0, 1, 4]


def test_a_batch_holds_only_what_was_asked_for(three_games):
    batch = PackedDataset(three_games, position_ids=True).gather(np.array([0]))
    assert batch.position_ids is not None
    assert batch.document_ids is batch.cu_seqlens is batch.max_seqlen is batch.loss_mask is None


def documents_one_by_one(rows):
    """Positions, documents and sequences of rows of ids, in which a game ends with 2 and 0 is padding."""
    positions, documents, begins, number, place = [], [], [], -1, 0
    for row in rows:
        previous = None
        for i, token in enumerate(row):
            begin = previous is None or (previous == 2 and token != 0) or (token == 0 and previous != 0)
            if begin:
                begins.append(place + i)
            number += begin and token != 0
            positions.append(0 if begin or token == 0 else positions[-1] + 1)
            documents.append(-1 if token == 0 else number)
            previous = token
        place += len(row)
    return positions, documents, [*begins, place]


games = st.lists(st.lists(st.integers(3, 99), max_size=6).map(lambda moves: [1, *moves, 2]), min_size=1, max_size=5)


@settings(max_examples=60, deadline=None)
@given(st.lists(games, min_size=1, max_size=3), st.integers(2, 14), st.booleans(), st.data())
def test_documents_are_those_that_the_ids_show(tmp_path_factory, months, block, last_target, data):
    root = tmp_path_factory.mktemp("months")
    for number, month in enumerate(months):
        write_month(root / f"2024-{number + 1:02}", month, {"white_elo": range(len(month))})
    packs = open_packs(root)
    chosen = data.draw(st.sampled_from([packs, packs.where(white_elo=[0, 2]), packs.games(slice(1, None))]))
    kinds = ["games", "best_fit"] + (["blocks", "random"] if chosen.token_range is not None else [])
    for made in (
        *(PackedDataset(chosen, block, last_target=last_target, windows=kind, **ALL) for kind in kinds),
        (PaddedDataset(chosen, block, last_target, **ALL)),
    ):
        if not len(made):
            continue
        drawn = data.draw(st.lists(st.integers(-1, len(made) - 1), min_size=1, max_size=6))
        batch = made.gather(np.array(drawn))
        positions, documents, begins = documents_one_by_one(batch.x.tolist())
        assert batch.position_ids.view(-1).tolist() == positions
        assert batch.document_ids.view(-1).tolist() == documents
        assert batch.cu_seqlens.tolist() == begins
        assert batch.max_seqlen == max(np.diff(begins))


@pytest.mark.parametrize("windows", ["games", "best_fit", "blocks"])
def test_block_diagonal_attention_isolates_the_games(tmp_path, windows):
    """nanoVLM#204: position ids alone do not. What a game's positions give must not change with the games beside it."""
    rng = np.random.default_rng(0)
    many = [[1, *rng.integers(3, 100, size).tolist(), 2] for size in rng.integers(2, 12, 40)]
    dataset = PackedDataset(write_month(tmp_path / "pack", many), block=24, windows=windows, **ALL)
    batch = dataset.gather(np.arange(6))
    embed = torch.randn(100, 16, generator=torch.Generator().manual_seed(0), dtype=torch.float64)

    def attended(ids, allowed):
        states = embed[ids]
        causal = torch.ones(allowed.shape[-2:], dtype=torch.bool).tril()
        return torch.nn.functional.scaled_dot_product_attention(states, states, states, allowed & causal)

    by_document = batch.document_ids[:, :, None] == batch.document_ids[:, None, :]
    by_row = attended(batch.x, by_document)

    sequence = torch.bucketize(torch.arange(batch.x.numel()), batch.cu_seqlens[1:].long(), right=True)
    flattened = attended(batch.x.view(1, -1), (sequence[:, None] == sequence[None, :])[None]).view(by_row.shape)
    real = batch.document_ids >= 0
    torch.testing.assert_close(flattened[real], by_row[real])

    for number in range(int(batch.document_ids.max()) + 1):
        row, columns = torch.nonzero(batch.document_ids == number, as_tuple=True)
        alone = batch.x[row, columns][None]
        whole = torch.ones(1, len(row), len(row), dtype=torch.bool)
        torch.testing.assert_close(by_row[row, columns][None], attended(alone, whole))
    mixed = attended(batch.x, torch.ones_like(by_document))
    assert not torch.allclose(mixed[real], by_row[real])


def labels_of(scheme, ids):
    """Of each id of a whole game: w or b for a move of that side, None for the frame; and the side that won."""
    if scheme == "uci":
        words = UciTokenizer().decode(ids)
        moves = len(words) - 5
        sides = [None] * 3 + ["wb"[ply % 2] for ply in range(moves)] + [None] * 2
        return sides, SIDES[{"<1-0>": "1-0", "<0-1>": "0-1", "<1/2>": "1/2-1/2"}[words[-2]]]
    text = SanCharTokenizer().decode(ids)
    *moves, result = text.split(" ")
    sides = [
        side for move, side in zip(moves, itertools.cycle("wb"), strict=False) for side in [side] * (len(move) + 1)
    ]
    return [None, *sides, *[None] * len(result), None], SIDES[result]


def trained_one_by_one(trained, sides, winner):
    """Of each id whether it is a target to train on."""
    wanted = {"moves": ("w", "b"), "white": ("w",), "black": ("b",), "winner": (winner,)}[trained]
    return [side is not None and side in wanted for side in sides]


@pytest.mark.parametrize("scheme", ["uci", "san"])
@pytest.mark.parametrize("trained", ["moves", "white", "black", "winner"])
@pytest.mark.parametrize("windows", ["games", "blocks", "scattered"])
def test_loss_masks_of_windows_are_those_of_the_games_read_one_by_one(legal_packs, scheme, trained, windows):
    packs = open_packs(legal_packs[scheme])
    if windows == "scattered":
        packs = packs.where(np.arange(packs.n_games) % 3 != 1)
    games = [packs.packs[0].game(i).tolist() for i in packs.select(np.arange(packs.n_games)).tolist()]
    stream = [label for ids in games for label in trained_one_by_one(trained, *labels_of(scheme, ids))]
    kind = "blocks" if windows == "blocks" else "games"
    for last_target in (False, True):
        dataset = PackedDataset(packs, 50, last_target=last_target, windows=kind, loss_mask=trained)
        begins = np.cumsum([0, *map(len, games)])[:-1] if kind == "games" else np.arange(len(dataset)) * 50
        batch = dataset.gather(np.array([*range(len(dataset)), -1]))
        expected = [stream[begin + 1 : begin + 51] + [False] * 50 for begin in begins.tolist()]
        expected = [row[:50] if last_target else [*row[:49], False] for row in expected]
        assert batch.loss_mask.dtype == torch.bool
        assert batch.loss_mask.tolist() == [*expected, [False] * 50]


@pytest.mark.parametrize("scheme", ["uci", "san"])
@pytest.mark.parametrize("trained", ["moves", "white", "black", "winner"])
def test_loss_masks_of_packed_rows_hold_each_trained_target_of_each_game(legal_packs, scheme, trained):
    packs = open_packs(legal_packs[scheme])
    games = [packs.packs[0].game(i).tolist() for i in range(packs.n_games)]
    block = max(map(len, games)) + 20
    dataset = PackedDataset(packs, block, windows="best_fit", loss_mask=trained)
    batch = dataset.gather(np.arange(len(dataset)))
    found = sorted(
        str(list(zip(x[begin : end + 1], mask[begin:end], strict=False)))
        for x, mask in zip(batch.x.tolist(), batch.loss_mask.tolist(), strict=True)
        for begin, end in zip(places_of(x, 1), places_of(x, 2), strict=True)
    )
    expected = sorted(
        str(list(zip(ids, trained_one_by_one(trained, *labels_of(scheme, ids))[1:], strict=False))) for ids in games
    )
    assert found == expected
    assert not (batch.loss_mask & (batch.y == 0)).any()


def places_of(ids, wanted):
    return [i for i, token in enumerate(ids) if token == wanted]


def test_the_moves_of_white_and_black_together_are_the_moves(legal_packs):
    for scheme in ("uci", "san"):
        white, black, moves = (
            PackedDataset(legal_packs[scheme], 60, windows="random", loss_mask=trained).gather(np.arange(20)).loss_mask
            for trained in ("white", "black", "moves")
        )
        assert torch.equal(white ^ black, moves)
        assert white.any()
        assert black.any()


def test_a_mask_of_winners_trains_nothing_of_a_draw(legal_packs):
    packs = open_packs(legal_packs["uci"])
    for result, sides in (("1/2-1/2", []), ("1-0", ["white"]), ("0-1", ["black"])):
        chosen = packs.where(result=result)
        every = np.arange(chosen.n_games)
        won = PaddedDataset(chosen, 100, loss_mask="winner").gather(every).loss_mask
        expected = [PaddedDataset(chosen, 100, loss_mask=side).gather(every).loss_mask for side in sides]
        assert torch.equal(won, *expected) if expected else not won.any()


def test_bpe_tells_moves_but_not_whose_they_are(legal_packs):
    dataset = PackedDataset(legal_packs["bpe"], 40, loss_mask="moves")
    batch = dataset.gather(np.arange(len(dataset)))
    assert torch.equal(batch.loss_mask, batch.y >= 8)
    for trained in ("white", "black", "winner"):
        with pytest.raises(LossMaskError, match=rf"loss_mask is '{trained}' and the packs are of bpe, in which one id"):
            PackedDataset(legal_packs["bpe"], loss_mask=trained)


def test_a_mask_that_there_is_none_of_is_refused(legal_packs, three_games):
    with pytest.raises(LossMaskError, match="loss_mask is 'whites'; allowed are moves, white, black, winner, and None"):
        PackedDataset(legal_packs["uci"], loss_mask="whites")
    with pytest.raises(LossMaskError, match="the scheme 'tiny', whose moves are not known"):
        PackedDataset(three_games, loss_mask="moves")


@pytest.mark.parametrize("scheme", ["uci", "san"])
@pytest.mark.parametrize("windows", ["games", "blocks"])
def test_a_mixture_masks_each_part_as_the_part_alone(legal_packs, scheme, windows):
    packs = open_packs(legal_packs[scheme])
    parts = [packs.games(slice(0, 20)), packs.games(slice(15, 40))]
    options = {"block": 30, "windows": windows, "loss_mask": "winner", **ALL}
    alone = [PackedDataset(part, **options) for part in parts]
    together = PackedDataset(Mixture([(part, 1) for part in parts]), **options)
    drawn = np.random.default_rng(0).integers(0, len(together), 30)
    batch = together.gather(np.array([*drawn, -1]))
    positions, documents, begins = documents_one_by_one(batch.x.tolist())
    assert batch.document_ids.view(-1).tolist() == documents
    assert (batch.position_ids.view(-1).tolist(), batch.cu_seqlens.tolist()) == (positions, begins)
    for row, item in enumerate(drawn.tolist()):
        part, index = (0, item) if item < len(alone[0]) else (1, item - len(alone[0]))
        single = alone[part].gather(np.array([index]))
        assert torch.equal(batch.x[row], single.x[0])
        assert torch.equal(batch.loss_mask[row], single.loss_mask[0])
    assert not batch.loss_mask[-1].any()
