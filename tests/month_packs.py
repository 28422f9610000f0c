"""Months of small packs with columns, and an archive of the size of all of Lichess that takes no room."""

import numpy as np

from rukh_loaders.formats import COLUMNS, PackInfo, PackWriter, write_manifest


def info_of(n_games, n_tokens, **changes):
    values = {"scheme": "tiny", "vocab_size": 100, "vocab_hash": "0" * 64, "source": "small integers"}
    return PackInfo(n_games=n_games, n_tokens=n_tokens, **(values | changes))


def write_month(folder, games, columns=None, **changes):
    """A pack of whole games, lists of ids from 1 to 2, with the given columns; those not given are all 0."""
    ids = np.array([token for game in games for token in game], np.uint16)
    with PackWriter(folder, info_of(len(games), len(ids), **changes)) as writer:
        writer.append(ids, np.array([len(game) for game in games], np.int64))
        if columns is not None:
            given = {name: np.zeros(len(games), dtype) for name, dtype in COLUMNS.items()}
            given |= {name: np.asarray(values).astype(COLUMNS[name]) for name, values in columns.items()}
            writer.append_columns(given)
        writer.finish({})
    return folder


def write_short_games(folder, columns):
    """A pack of games of three ids each, as many as the columns have values, for what looks at columns alone."""
    count = len(next(iter(columns.values())))
    return write_month(folder, [[1, 9, 2]] * count, columns)


def write_sparse_archive(root, months, n_games, n_tokens):
    """Packs that are all holes but for the last start: sizes as of real months, hardly a byte on the disk."""
    for number in range(months):
        folder = root / f"{2013 + number // 12}-{number % 12 + 1:02}"
        (folder / "columns").mkdir(parents=True)
        files = {
            "tokens.npy": _sparse(folder / "tokens.npy", np.dtype(np.uint16), n_tokens, 2),
            "starts.npy": _sparse(folder / "starts.npy", np.dtype(np.int64), n_games, n_tokens - 80),
        }
        for name, dtype in COLUMNS.items():
            files[f"columns/{name}.npy"] = _sparse(folder / "columns" / f"{name}.npy", dtype, n_games, 1)
        (folder / "meta.json").write_bytes(info_of(n_games, n_tokens).to_bytes())
        write_manifest(folder, {"format_version": 1, "files": files})


def _sparse(path, dtype, count, last):
    size = 128 + count * dtype.itemsize
    with path.open("wb") as file:
        descr = {"descr": dtype.str, "fortran_order": False, "shape": (count,)}
        np.lib.format.write_array_header_1_0(file, descr)
        assert file.tell() == 128
        file.seek(size - dtype.itemsize)
        file.write(np.array(last, dtype).tobytes())
    return {"bytes": size, "sha256": "0" * 64}
