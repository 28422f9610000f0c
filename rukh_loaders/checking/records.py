"""Corpora of records: which lie at a path, and whether one is what its manifest says."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from rukh_loaders.checking.packs import Finding
from rukh_loaders.errors import FormatError, ManifestError
from rukh_loaders.formats.corpus import CONTENT, open_corpus
from rukh_loaders.formats.manifest import MANIFEST, read_manifest


def corpora_below(path: Path) -> list[Path]:
    """The folders of corpora at `path`: that of one, or those up to two folders below it, such as months; sorted."""
    manifests = chain.from_iterable(path.glob(f"{below}{MANIFEST}") for below in ("", "*/", "*/*/"))
    return sorted(manifest.parent for manifest in manifests if _is_corpus(manifest.parent))


def check_corpora(folders: list[Path]) -> Iterator[Finding]:
    """A finding for each corpus: `open_corpus` and `Corpus.verify` pass, or what of them does not."""
    for folder in folders:
        try:
            corpus = open_corpus(folder)
            corpus.verify()
            n_tokens = sum(shard.n_tokens for shard in corpus.shards)
            yield Finding(folder.name, f"{len(corpus):,} records, {n_tokens:,} tokens: ok")
        except FormatError as error:
            yield Finding(folder.name, str(error), is_fault=True)


def _is_corpus(folder: Path) -> bool:
    try:
        return read_manifest(folder).get("content") == CONTENT
    except ManifestError:
        return False
