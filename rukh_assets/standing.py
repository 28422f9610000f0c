"""Whether what stands already is what would be made: so that a month is built again only when something changed."""

from pathlib import Path
from typing import Any

from rukh_loaders.errors import ManifestError
from rukh_loaders.formats import check_files, read_manifest
from rukh_loaders.formats.publish import clear_leftovers


def standing_manifest(folder: Path, inputs: str) -> dict[str, Any] | None:
    """The manifest of `folder` if its files are all there, of the sizes it lists, and its `inputs` is this digest.

    None otherwise: nothing stands there, a file is missing or cut, or it was made from something else. What killed
    runs left beside a folder that stands is removed.
    """
    try:
        manifest = read_manifest(folder)
        check_files(folder, manifest)
    except ManifestError:
        return None
    if manifest.get("inputs") != inputs:
        return None
    clear_leftovers(folder)
    return manifest
