"""Chess records: what they say is what the games say, found again with python-chess, and what comes of them as ids."""

import io
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import chess
import chess.pgn
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from months import EVERYTHING, MONTH, pgn, read

from rukh_assets.errors import EmptyCorpusError, GamesChangedError, RecordSettingError
from rukh_assets.ingest.filters import Filters
from rukh_assets.ingest.game_ids import game_id
from rukh_assets.ingest.month import read_month
from rukh_assets.ingest.movetext import comments_by_ply, parse_movetext
from rukh_assets.ingest.sources import open_source
from rukh_assets.records import Pipeline
from rukh_assets.records.chess import (
    DPO,
    GRPO,
    SEQ,
    SFT,
    AnnotatedGames,
    GameTexts,
    Groups,
    OneSide,
    Pairs,
    make_records,
    making,
    spool,
)
from rukh_assets.records.chess.annotated import Visits, replay
from rukh_assets.records.chess.evaluations import NONE, centipawns_of, evaluations_of
from rukh_assets.records.chess.groups import groups_of
from rukh_assets.records.chess.kernels import WORTH
from rukh_assets.records.chess.making import UNCHANGED
from rukh_assets.records.chess.pairs import worse_move
from rukh_assets.records.chess.spool import VisitSpool
from rukh_assets.records.chess.tokens import move_text
from rukh_loaders.formats import read_manifest
from rukh_loaders.formats.corpus import open_corpus
from rukh_loaders.records import PipelineConfig, RecordTokenizer, build_record
from rukh_loaders.tokenizers import UciTokenizer

Record = dict[str, Any]
HEAD = "2021-10"
SAMPLE_GAMES = 300


def records_of(folder: Path) -> list[Record]:
    return [json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text().splitlines()]


def games_of(folder: Path) -> list[Record]:
    table: pa.Table = pq.read_table(folder / "games.parquet", partitioning=None)
    return table.to_pylist()  # type: ignore[no-any-return]


class Lake:
    """A month's games, and what is made of them, in one folder."""

    def __init__(self, home: Path, source: str, month: str, filters: Filters = EVERYTHING, **settings: Any) -> None:
        self.home, self.month, self.games_folder = home, month, home / "games"
        self.source = open_source(source, month, **settings)
        read_month(month, self.source, filters, self.games_folder)
        self.annotated = AnnotatedGames(month, self.source, filters, self.games_folder)
        self.games = games_of(self.games_folder)

    def make(self, recipe: Any, **options: Any) -> list[Record]:
        make_records(recipe, self.month, self.home / recipe.corpus, **options)
        return records_of(self.home / recipe.corpus / self.month)

    def make_all(self) -> None:
        groups = Groups(self.annotated)
        for recipe in (GameTexts(self.games_folder), OneSide(self.games_folder), groups):
            self.make(recipe)
        self.make(Pairs(self.home / GRPO / self.month))

    def built(self, corpus: str, record: Record) -> dict[str, Any]:
        config = PipelineConfig.from_file(self.home / corpus / "config.json")
        tokenizer = RecordTokenizer.from_folder(self.home / corpus / "tokenizer")
        return build_record(record, config, tokenizer).keys  # type: ignore[union-attr]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    lake = Lake(tmp_path_factory.mktemp("sample"), "sample", "2025-01", Filters(), sample_games=SAMPLE_GAMES)
    lake.make_all()
    return lake


def small(folder: Path, *movetexts: str, **tags: str) -> Lake:
    games = [pgn(text, Site=f"https://lichess.org/game{n:04d}", **tags) for n, text in enumerate(movetexts)]
    (folder / f"{MONTH}.pgn").write_text("\n".join(games))
    return Lake(folder, str(folder / "{year}-{month}.pgn"), MONTH)


# Whole games


def test_the_text_of_a_game_has_the_ids_that_the_games_pack_has(sample: Lake) -> None:
    tokenizer = UciTokenizer()
    records = records_of(sample.home / SEQ / sample.month)
    assert [record["game_id"] for record in records] == [game["game_id"] for game in sample.games]
    for record, game in zip(records[:50], sample.games, strict=False):
        keys = sample.built(SEQ, record)
        ratings = game["white_elo"], game["black_elo"]
        assert keys["sequence"] == tokenizer.encode_game(game["uci"], *ratings, game["result"])


@pytest.mark.parametrize("side", ["winner", "white", "black"])
def test_a_talk_trains_the_moves_of_one_side_and_nothing_else(sample: Lake, side: str, tmp_path: Path) -> None:
    tokenizer = UciTokenizer()
    make_records(OneSide(sample.games_folder, side), sample.month, tmp_path)  # type: ignore[arg-type]
    games = {game["game_id"]: game for game in sample.games}
    records = records_of(tmp_path / sample.month)
    won = {game_id for game_id, game in games.items() if side != "winner" or game["result"] != "1/2-1/2"}
    assert {record["game_id"] for record in records} == won
    for record in records[:50]:
        game = games[record["game_id"]]
        whole = tokenizer.encode_game(game["uci"], game["white_elo"], game["black_elo"], game["result"])
        trained = {"1-0": 0, "0-1": 1}[game["result"]] if side == "winner" else ["white", "black"].index(side)
        keys = sample.built(SFT, record)
        assert keys["sequence"] == whole[:-2]
        assert keys["loss_mask"] == [0, 0, 0, *(int(ply % 2 == trained) for ply in range(game["n_plies"]))]


def test_a_month_of_draws_has_no_winner_and_says_so(tmp_path: Path) -> None:
    lake = small(tmp_path, "1. e4 e5 1/2-1/2", Result="1/2-1/2")
    with pytest.raises(EmptyCorpusError, match="chess_sft 2024-01: no record can be made; games 1"):
        lake.make(OneSide(lake.games_folder))
    assert len(lake.make(OneSide(lake.games_folder, "white"))) == 1


# Positions


def key_of(board: chess.Board) -> Any:
    return board._transposition_key()


@given(st.lists(st.lists(st.integers(0, 10**6), max_size=30), min_size=1, max_size=8))
@settings(max_examples=60, deadline=None)
def test_keys_are_equal_exactly_where_python_chess_sees_one_position(choices: list[list[int]]) -> None:
    width = 24
    games, expected = [], defaultdict(set)
    for chosen in choices:
        board = chess.Board()
        for choice in chosen:
            # Few different moves a position, so that games meet again.
            moves = sorted(board.legal_moves, key=lambda move: move.uci())[::5][:3]
            if not moves:
                break
            board.push(moves[choice % len(moves)])
        games.append(board.move_stack)
    texts = pa.array([" ".join(move.uci() for move in moves) for moves in games])
    keys, moves_found, balances = replay(texts, width)
    seen = {}
    for row, moves in enumerate(games):
        board = chess.Board()
        for ply, move in enumerate(moves[:width]):
            expected[key_of(board)].add(int(keys[row, ply]))
            seen[int(keys[row, ply])] = key_of(board)
            board.push(move)
            assert move_text(int(moves_found[row, ply])) == move.uci()
            assert int(balances[row, ply]) == max(-1000, min(1000, material(board)))
        assert (balances[row, len(moves) :] == NONE).all()
    assert all(len(keys) == 1 for keys in expected.values())
    assert len(seen) == len(expected)


def material(board: chess.Board) -> int:
    worth = WORTH
    return sum(worth[piece.piece_type] * (1 if piece.color else -1) for piece in board.piece_map().values())


def test_en_passant_and_promotion_count_in_the_material() -> None:
    games = pa.array(["e2e4 a7a6 e4e5 d7d5 e5d6", "a2a4 b7b5 a4b5 a7a6 b5a6 c8b7 a6b7 h7h6 b7a8q"])
    balances = replay(games, 9)[2]
    assert balances[0, :5].tolist() == [0, 0, 0, 0, 100]
    assert balances[1].tolist() == [0, 0, 100, 100, 200, 200, 500, 500, 1000]  # 1,000 is the most


# Groups


def test_a_group_has_the_moves_of_several_games_and_what_each_did_for_the_mover(tmp_path: Path) -> None:
    lake = small(
        tmp_path,
        "1. e4 { [%eval 0.3] } e5 { [%eval 0.4] } 2. Nf3 { [%eval 0.2] } 1-0",
        "1. e4 { [%eval 0.3] } c5 { [%eval 0.1] } 2. Nf3 { [%eval 0.2] } 1-0",
        "1. e4 { [%eval 0.2] } e5 { [%eval 0.5] } 2. Qh5 { [%eval #-4] } 1-0",
        "1. e4 c5 2. Nf3 1-0",
    )
    first, second = sorted(lake.make(Groups(lake.annotated)), key=lambda record: len(record["prompt"][0]["content"]))
    # Black's moves: c5 won 20 centipawns, e5 lost 10 and 30, of which the mean is 20.
    assert first == {
        "prompt": [{"role": "user", "content": "<w1900> <b2000> e2e4"}],
        "responses": ["c7c5", "e7e5"],
        "rewards": [0.2, -0.2],
        "games": [1, 2],
        "evaluation": "%eval",
    }
    assert second["prompt"][0]["content"] == "<w1900> <b2000> e2e4 e7e5"
    assert (second["responses"], second["rewards"]) == (["g1f3", "d1h5"], [-0.2, -10.5])


def test_a_position_is_one_whatever_the_order_of_moves_and_its_prompt_is_of_the_first_game(tmp_path: Path) -> None:
    moves = ["1. d4 {0} Nf6 {0} 2. c4 {0} e6 {0}", "1. c4 {0} e6 {0} 2. d4 {0} Nf6 {0} 3. Nc3 {1}"]
    said = [text.replace("{0}", "{ [%eval 0.0] }").replace("{1}", "{ [%eval 1.0] }") for text in moves]
    lake = small(tmp_path, said[0] + " 3. Nf3 { [%eval -0.1] } 1-0", said[1] + " 1-0")
    [group] = lake.make(Groups(lake.annotated))
    assert group["prompt"][0]["content"] == "<w1900> <b2000> d2d4 g8f6 c2c4 e7e6"
    assert (group["responses"], group["rewards"]) == (["b1c3", "g1f3"], [1.0, -0.1])


def test_a_game_that_comes_back_to_a_position_counts_once(tmp_path: Path) -> None:
    said = "1. Nf3 {0} Nf6 {0} 2. Ng1 {0} Ng8 {0} 3. Nf3 {0} Nc6 {0} 1-0".replace("{0}", "{ [%eval 0.0] }")
    lake = small(tmp_path, said)
    with pytest.raises(EmptyCorpusError, match="evaluated_games 1, evaluated_moves 5"):
        lake.make(Groups(lake.annotated))


def test_a_source_without_evaluations_has_no_groups(tmp_path: Path) -> None:
    lake = small(tmp_path, "1. e4 { [%clk 0:01:00] } e5 1-0", "1. e4 c5 1-0")
    with pytest.raises(EmptyCorpusError, match="chess_grpo 2024-01: no record can be made; evaluated_games 0"):
        lake.make(Groups(lake.annotated))
    assert not (tmp_path / GRPO / MONTH).exists()


def test_games_in_the_projects_own_format_have_no_comments_and_so_no_groups(tmp_path: Path) -> None:
    first = small(tmp_path, "1. e4 { [%eval 0.3] } e5 1-0")
    (first.games_folder / "games.parquet").rename(tmp_path / f"{MONTH}.parquet")
    own = Lake(tmp_path / "own", str(tmp_path / "{year}-{month}.parquet"), MONTH)
    assert own.source.form == "games"
    with pytest.raises(EmptyCorpusError, match="evaluated_games 0"):
        own.make(Groups(own.annotated))
    assert len(own.make(GameTexts(own.games_folder))) == 1


def test_games_that_the_ingest_rejects_or_has_already_are_in_no_group(tmp_path: Path) -> None:
    good = "1. e4 { [%eval 0.3] } e5 { [%eval 0.4] } 1-0"
    other = "1. e4 { [%eval 0.3] } c5 { [%eval 0.4] } 1-0"
    games = [pgn(good, Site="one"), pgn(other, Site="one"), pgn(other.replace("c5", "Ke4"), Site="two")]
    read(tmp_path, "\n".join([*games, pgn(other, Site="three", Result="0-1")]))
    lake = Lake(tmp_path, str(tmp_path / "{year}-{month}.pgn"), MONTH)
    assert len(lake.games) == 1
    with pytest.raises(EmptyCorpusError, match="evaluated_games 1"):
        lake.make(Groups(lake.annotated))


def test_the_groups_of_the_real_head_are_those_that_python_chess_finds(shared_data: Path, tmp_path: Path) -> None:
    lake = Lake(tmp_path, str(shared_data / "lichess-{year}-{month}-head.pgn"), HEAD)
    found = {}
    for record in lake.make(Groups(lake.annotated, first_plies=30)):
        _, _, *moves = record["prompt"][0]["content"].split(" ")
        board = chess.Board()
        for move in moves:
            board.push_uci(move)
        rows = zip(record["responses"], record["rewards"], record["games"], strict=True)
        found[key_of(board)] = (record["prompt"][0]["content"], {move: rest for move, *rest in rows})
    expected = groups_by_python_chess(shared_data / f"lichess-{HEAD}-head.pgn", lake.games, 30)
    assert len(found) > 30
    assert found == expected


def groups_by_python_chess(path: Path, kept: list[Record], plies: int) -> dict[Any, Any]:
    games = {game["game_id"]: game for game in kept}
    visits: dict[Any, list[tuple[str, str, float]]] = defaultdict(list)
    for text in path.read_text().split("\n\n[Event "):
        if "%eval" not in text:
            continue
        game = chess.pgn.read_game(io.StringIO(text if text.startswith("[Event") else f"[Event {text}"))
        assert game is not None
        row = games.get(game_id(game.headers["Site"]))
        if row is None:
            continue
        visited = set()
        for ply, node in enumerate(list(game.mainline())[:plies]):
            board = node.parent.board()
            before, after = (centipawns(one) for one in (node.parent, node))
            if before is None or after is None or key_of(board) in visited:
                continue
            visited.add(key_of(board))
            bins = [min(max(row[f"{side}_elo"], 600), 3299) // 100 * 100 for side in ("white", "black")]
            prompt = " ".join([f"<w{bins[0]:04d}> <b{bins[1]:04d}>", *row["uci"].split(" ")[:ply]])
            change = after - before if board.turn else before - after
            visits[key_of(board)].append((prompt, node.move.uci(), change))
    groups = {}
    for key, played in visits.items():
        by_move: dict[str, list[float]] = defaultdict(list)
        for _, move, change in played:
            by_move[move].append(change)
        if len(by_move) > 1:
            means = {move: np.floor(np.mean(changes) + 0.5) / 100 for move, changes in by_move.items()}
            groups[key] = (played[0][0], {move: [means[move], len(by_move[move])] for move in by_move})
    return groups


def centipawns(node: chess.pgn.GameNode) -> int | None:
    score = node.eval()
    if score is None:
        return None
    cut = score.white().score(mate_score=100_000)
    return max(-1000, min(1000, cut))


def test_every_response_of_the_sample_is_legal_and_its_reward_is_the_material_it_won(sample: Lake) -> None:
    records = records_of(sample.home / GRPO / sample.month)
    assert len(records) > 50
    for record in records:
        assert record["evaluation"] == "material"
        _, _, *moves = record["prompt"][0]["content"].split(" ")
        board = chess.Board()
        for uci in moves:
            board.push_uci(uci)
        assert record["rewards"] == sorted(record["rewards"], reverse=True)
        for response, reward in zip(record["responses"], record["rewards"], strict=True):
            move = board.parse_uci(response)
            before = max(-1000, min(1000, material(board)))
            board.push(move)
            change = max(-1000, min(1000, material(board))) - before
            board.pop()
            assert reward * 100 == pytest.approx(change if board.turn else -change)


# Pairs


def group(*moves: tuple[str, float, int]) -> Record:
    names, rewards, games = (list(part) for part in zip(*moves, strict=True))
    return {"prompt": [], "responses": names, "rewards": rewards, "games": games, "evaluation": "%eval"}


def test_of_clearly_worse_moves_the_one_most_games_have_is_rejected_of_these_the_worst() -> None:
    moves = group(("a", 0.5, 9), ("b", -0.49, 9), ("c", -0.5, 2), ("d", -1.0, 2), ("e", -7.0, 1))
    assert worse_move(moves, 100) == 3
    assert worse_move(moves, 101) == 3
    assert worse_move(moves, 151) == 4
    assert worse_move(group(("a", 0.5, 9), ("b", -0.49, 9)), 100) is None


def test_pairs_are_the_best_move_of_a_group_and_one_at_least_a_pawn_worse(sample: Lake) -> None:
    groups = {record["prompt"][0]["content"]: record for record in records_of(sample.home / GRPO / sample.month)}
    pairs = records_of(sample.home / DPO / sample.month)
    assert len(pairs) == sum(record["rewards"][0] - record["rewards"][-1] >= 1 for record in groups.values()) > 5
    for pair in pairs:
        (prompt, chosen), (same, rejected) = pair["chosen"], pair["rejected"]
        whole = groups[prompt["content"]]
        assert prompt == same
        assert chosen == {"role": "assistant", "content": whole["responses"][0]}
        worse = whole["rewards"][whole["responses"].index(rejected["content"])]
        assert pair["margin"] == pytest.approx(whole["rewards"][0] - worse)
        assert pair["margin"] >= 1
        keys = sample.built(DPO, pair)
        assert keys["chosen_mask"] == [0] * (len(keys["chosen"]) - 1) + [1]
        assert keys["rejected"][:-1] == keys["chosen"][:-1]


# Evaluations


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("{ [%eval 0.17] [%clk 0:00:30] }", 17),
        ("{ [%eval -1.05,22] }", -105),
        ("{ [%eval 12] }", 1000),
        ("{ [%eval #3] }", 1000),
        ("{ [%eval #-12] }", -1000),
        ("{ [%clk 0:00:30] }", NONE),
        ("{ [%eval nan] }", NONE),
        ("{ eval 0.17 }", NONE),
    ],
)
def test_evaluations_are_read_in_centipawns(comment: str, expected: int) -> None:
    assert centipawns_of(comment) == expected


def test_comments_before_the_first_move_and_in_variations_are_of_no_move() -> None:
    variation = "(1. d4 { [%eval 5.0] } (1. c4 { [%eval 6.0] }))"
    text = f"{{ [%eval 9] }} 1. e4 {{ [%eval 0.1] }} {variation} 1... e5 $1 {{ [%eval 0.2] }} 1-0"
    assert evaluations_of(text, 4).tolist() == [10, 20, NONE, NONE]
    assert evaluations_of(text, 1).tolist() == [10]
    assert len(comments_by_ply(text, 9)) == len(parse_movetext(text).sans)


# Months


def test_the_same_bytes_whatever_the_workers_and_the_number_of_records_a_file(
    sample: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = Groups(sample.annotated, workers=3)
    make_records(recipe, sample.month, tmp_path / "three")
    first, again = sample.home / GRPO / sample.month, tmp_path / "three" / sample.month
    assert {path.name: path.read_bytes() for path in again.iterdir()} == {
        path.name: path.read_bytes() for path in first.iterdir()
    }
    monkeypatch.setattr(making, "RECORDS_PER_FILE", 7)
    make_records(recipe, sample.month, tmp_path / "few")
    assert len(list((tmp_path / "few" / sample.month).glob("part_*.jsonl"))) > 3
    assert records_of(tmp_path / "few" / sample.month) == records_of(first)


def test_a_month_is_made_again_only_for_other_settings_or_when_it_is_forced(sample: Lake, tmp_path: Path) -> None:
    def work(recipe: Any, **options: Any) -> str:
        return make_records(recipe, sample.month, tmp_path, **options)[1]

    games = sample.games_folder
    assert work(OneSide(games)) == "built"
    assert work(OneSide(games)) == UNCHANGED
    assert work(OneSide(games), force=True) == "built"
    assert work(OneSide(games, "black")) == "built"
    (tmp_path / sample.month / "part_0000.jsonl").write_text("")
    assert work(OneSide(games, "black")) == "built"


def test_config_and_tokenizer_that_stand_are_the_users(sample: Lake, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    make_records(OneSide(sample.games_folder), sample.month, tmp_path)
    assert (tmp_path / "config.json").read_text() == "{}"
    assert (tmp_path / "tokenizer" / "tokenizer.json").is_file()


def test_groups_are_refused_of_games_that_another_source_or_other_filters_gave(sample: Lake, tmp_path: Path) -> None:
    stricter = AnnotatedGames(sample.month, sample.source, Filters(min_elo=2000), sample.games_folder)
    with pytest.raises(GamesChangedError, match="make the month's games again"):
        make_records(Groups(stricter), sample.month, tmp_path)


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"first_plies": 1}, "first_plies: got 1, allowed: 2 to 300"), ({"min_games": 1}, "min_games: got 1, allowed: 2")],
)
def test_settings_without_sense_are_refused(sample: Lake, settings: Record, message: str) -> None:
    with pytest.raises(RecordSettingError, match=message):
        Groups(sample.annotated, **settings)
    with pytest.raises(RecordSettingError, match="margin: got 99, allowed: 100"):
        Pairs(sample.home / GRPO / sample.month, 99)


@pytest.mark.parametrize("corpus", [SEQ, SFT, GRPO, DPO])
def test_the_pipeline_makes_shards_of_every_record(sample: Lake, corpus: str, tmp_path: Path) -> None:
    folder = sample.home / corpus
    config = PipelineConfig.from_file(folder / "config.json")
    report = Pipeline(config, [folder / sample.month], tmp_path / "shards", folder / "tokenizer").run()
    assert (report.kept, report.skipped, report.truncated) == (
        read_manifest(folder / sample.month)["n_records"],
        {},
        0,
    )
    found = open_corpus(tmp_path / "shards")
    found.verify()
    keys = {SEQ: "sequence", SFT: "sequence", GRPO: "prompts", DPO: "chosen"}
    ids = np.concatenate([np.asarray(reader.tensor(keys[corpus]).values) for reader in found.readers])
    tokens = UciTokenizer().vocab
    assert "<unk>" not in {tokens[token_id] for token_id in ids.tolist()}


def test_visits_are_grouped_alike_in_however_many_pieces_they_come(sample: Lake, tmp_path: Path) -> None:
    whole = Visits(*map(np.concatenate, zip(*sample.annotated.visits(12, 1), strict=True)))
    grouped = []
    for size in (37, SAMPLE_GAMES):
        folder = tmp_path / str(size)
        folder.mkdir()
        with VisitSpool(folder, 12) as waiting:
            for begin in range(0, SAMPLE_GAMES, size):
                waiting.add(Visits(*(part[begin : begin + size] for part in whole)))
            groups = [group for rows in waiting.partitions() for group in groups_of(rows, 2)]
            moves, elos = waiting.openings()
        assert waiting.n_visits == SAMPLE_GAMES * 12
        np.testing.assert_array_equal(moves, whole.moves)
        np.testing.assert_array_equal(elos, whole.elos)
        grouped.append(groups)
    assert grouped[0] == grouped[1]
    assert max(group.game for group in grouped[0]) > 37


def test_nothing_is_left_of_the_files_that_visits_waited_in(sample: Lake) -> None:
    names = {path.name for path in (sample.home / GRPO / sample.month).iterdir()}
    assert names == {"part_0000.jsonl", "manifest.json"}
    assert spool.PARTITIONS == 1 << spool._BITS
