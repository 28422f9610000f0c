"""Packs of random legal games, made as the chain makes them, in the folders of a lake."""

from pathlib import Path

from corpora import Game, random_games, write_games

from rukh_assets.encode import make_encoder
from rukh_assets.packing import pack_month
from rukh_loaders.tokenizers.bpe import save_bpe, train_bpe

GAMES = random_games(60)


def write_pack(home: Path, scheme: str, month: str, games: list[Game]) -> Path:
    """The pack of these games; the tokenizer of `bpe` lies where a lake keeps it."""
    bpe = home / "artifacts" / "tokenizer" / "bpe" / "bpe.json"
    if scheme == "bpe" and not bpe.exists():
        bpe.parent.mkdir(parents=True, exist_ok=True)
        save_bpe(train_bpe([game["uci"] for game in GAMES], vocab_size=300), bpe)
    parquet = write_games(home / "games" / month / "games.parquet", games)
    folder = home / "data" / "packs" / scheme / month
    pack_month(parquet, make_encoder(scheme, bpe if scheme == "bpe" else None), folder)
    return folder
