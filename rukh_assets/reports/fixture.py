"""The parity fixture, `artifacts/tokenizer/fixtures/games.json`: a few games in every scheme, to test a port against.

Each game of the fixture's PGN becomes one object: `id` (the text of its Site tag), `white_elo`, `black_elo`, `result`,
`uci` (moves with one space between), `san` (numbered movetext without the result), `uci_ids` (the first 200, frame
included), `san_ids` (of `san`, a space and the result, frame included) and `bpe_ids` (of the moves alone, no frame).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rukh_assets.encode.san_text import uci_to_san
from rukh_assets.errors import FixtureMismatchError
from rukh_assets.reports.strict_pgn import StrictGame, read_strictly
from rukh_assets.standing import standing_manifest
from rukh_loaders.formats import (
    describe_files,
    digest,
    hash_file,
    publish_folder,
    read_manifest,
    verify_files,
    write_manifest,
)
from rukh_loaders.tokenizers import UNK, SanCharTokenizer, UciTokenizer
from rukh_loaders.tokenizers.bpe import bpe_text, bpe_vocabulary, load_bpe

FIXTURE_VERSION = 1
FIXTURE_FORMAT_VERSION = 1
FIXTURE_PGN = Path(__file__).with_name("fixture_games.pgn")
FIXTURE_FILE = "games.json"
UCI_IDS = 200

_FIELDS = ("id", "white_elo", "black_elo", "result", "uci", "san", "uci_ids", "san_ids", "bpe_ids")


def build_fixture(
    pgn_path: Path, uci_tok: UciTokenizer, san_tok: SanCharTokenizer, bpe_tokenizer: Any
) -> list[dict[str, Any]]:
    """Encode every game of a PGN file, in its order, with the keys in the order of the published file.

    Raises `FixtureGameError` where the file is not read without any doubt (see `read_strictly`), and
    `FixtureMismatchError` for a game that the bpe tokenizer can only write with `<unk>`.
    """
    return [_entry(game, uci_tok, san_tok, bpe_tokenizer) for game in read_strictly(pgn_path)]


def to_bytes(fixture: Sequence[Mapping[str, Any]]) -> bytes:
    """The file's bytes: JSON with `indent=0`, ASCII, `\\n` line ends and one at the end."""
    return (json.dumps(list(fixture), indent=0, ensure_ascii=True) + "\n").encode("ascii")


def write_fixture(pgn_path: Path, bpe_file: Path, out_dir: Path) -> dict[str, Any]:
    """Publish the folder `out_dir` whole: games.json and, last, manifest.json, which is returned.

    Raises what `build_fixture` raises; `out_dir` is then as it was.
    """
    bpe_tokenizer = load_bpe(bpe_file)
    uci_tok, san_tok = UciTokenizer(), SanCharTokenizer()
    fixture = build_fixture(pgn_path, uci_tok, san_tok, bpe_tokenizer)
    vocabularies = (uci_tok.vocabulary, san_tok.vocabulary, bpe_vocabulary(bpe_tokenizer))
    with publish_folder(out_dir) as building:
        (building / FIXTURE_FILE).write_bytes(to_bytes(fixture))
        manifest = {
            "format_version": FIXTURE_FORMAT_VERSION,
            "code_version": FIXTURE_VERSION,
            "n_games": len(fixture),
            "pgn": hash_file(pgn_path),
            "vocab_hashes": {vocabulary.scheme: vocabulary.vocab_hash for vocabulary in vocabularies},
            "inputs": _inputs(pgn_path, bpe_tokenizer),
            "files": describe_files(building),
            "libraries": {name: version(name) for name in ("chess", "tokenizers")},
        }
        write_manifest(building, manifest)
    return manifest


def standing_fixture(pgn_path: Path, bpe_file: Path, out_dir: Path) -> dict[str, Any] | None:
    """The manifest of the fixture in `out_dir` if it is whole and `write_fixture` would make it again, else None."""
    return standing_manifest(out_dir, _inputs(pgn_path, load_bpe(bpe_file)))


def verify_fixture(out_dir: Path, bpe_file: Path) -> int:
    """Encode every game of a published fixture again, and return how many there are.

    Raises `ManifestError` for files other than the manifest lists, and `FixtureMismatchError` where the text is not
    that of `to_bytes`, a game's fields are not the contract's, or a value is not what the tokenizers give.
    """
    manifest = read_manifest(out_dir)
    verify_files(out_dir, manifest)
    path = out_dir / FIXTURE_FILE
    fixture = _read(path)
    _agree(f"{path}: number of games", len(fixture), manifest.get("n_games"))
    bpe_tokenizer, uci_tok, san_tok = load_bpe(bpe_file), UciTokenizer(), SanCharTokenizer()
    for number, entry in enumerate(fixture):
        place = f"{path}: game {number}"
        _agree(f"{place}: fields", list(entry), list(_FIELDS))
        game = StrictGame(entry["id"], entry["white_elo"], entry["black_elo"], entry["result"], entry["uci"])
        for field, expected in _entry(game, uci_tok, san_tok, bpe_tokenizer).items():
            _agree(f"{place} (id {entry['id']!a}): {field}", entry[field], expected)
    return len(fixture)


def _entry(game: StrictGame, uci_tok: UciTokenizer, san_tok: SanCharTokenizer, bpe_tokenizer: Any) -> dict[str, Any]:
    san = uci_to_san(game.uci)
    bpe_ids = bpe_tokenizer.encode(bpe_text(game.uci), add_special_tokens=False).ids
    if UNK in bpe_ids:
        raise FixtureMismatchError(
            f"game {game.site!a}: the bpe tokenizer gives <unk> at id {bpe_ids.index(UNK)}; none is allowed"
        )
    return {
        "id": game.site,
        "white_elo": game.white_elo,
        "black_elo": game.black_elo,
        "result": game.result,
        "uci": game.uci,
        "san": san,
        "uci_ids": uci_tok.encode_game(game.uci, game.white_elo, game.black_elo, game.result)[:UCI_IDS],
        "san_ids": san_tok.encode(f"{san} {game.result}"),
        "bpe_ids": bpe_ids,
    }


def _inputs(pgn_path: Path, bpe_tokenizer: Any) -> str:
    return digest(
        {
            "pgn": hash_file(pgn_path),
            "bpe": bpe_vocabulary(bpe_tokenizer).vocab_hash,
            "code_version": FIXTURE_VERSION,
        }
    )


def _read(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes()
    try:
        fixture = json.loads(data)
    except ValueError as error:
        raise FixtureMismatchError(f"{path}: is not JSON: {error}") from error
    if not isinstance(fixture, list) or not all(isinstance(entry, dict) for entry in fixture):
        raise FixtureMismatchError(f"{path}: expected a list of objects, one a game")
    if data != to_bytes(fixture):
        raise FixtureMismatchError(f"{path}: is not spelt with indent=0, in ASCII, with one line feed at the end")
    return fixture


def _agree(what: str, got: Any, expected: Any) -> None:
    if got == expected and type(got) is type(expected):
        return
    if isinstance(got, list) and isinstance(expected, list):
        at, got, expected = next(_differences(got, expected))
        what = f"{what}[{at}]"
    raise FixtureMismatchError(f"{what} is {got!a}, expected {expected!a}")


def _differences(got: Sequence[Any], expected: Sequence[Any]) -> Iterator[tuple[int, Any, Any]]:
    for at in range(max(len(got), len(expected))):
        one, other = (values[at] if at < len(values) else "nothing" for values in (got, expected))
        if one != other:
            yield at, one, other
