"""manifest.json: which files a folder holds, and how a changed one is named."""

import hashlib

import pytest

from rukh_loaders.errors import ManifestError
from rukh_loaders.formats.manifest import (
    check_files,
    describe_files,
    digest,
    hash_file,
    read_manifest,
    to_json,
    verify_files,
    write_manifest,
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "columns").mkdir()
    (tmp_path / "columns" / "eco.npy").write_bytes(b"eco")
    (tmp_path / "tokens.npy").write_bytes(b"tokens")
    write_manifest(tmp_path, {"months": ["2025-01"], "files": describe_files(tmp_path)})
    return tmp_path


def test_every_file_but_the_manifest_is_listed_by_its_path_with_slashes(folder):
    assert describe_files(folder) == {
        "columns/eco.npy": {"bytes": 3, "sha256": hashlib.sha256(b"eco").hexdigest()},
        "tokens.npy": {"bytes": 6, "sha256": hashlib.sha256(b"tokens").hexdigest()},
    }
    assert hash_file(folder / "tokens.npy") == describe_files(folder)["tokens.npy"]


def test_what_was_written_is_read_and_found_whole(folder):
    manifest = read_manifest(folder)
    assert manifest["months"] == ["2025-01"]
    check_files(folder, manifest)
    verify_files(folder, manifest)


def test_json_is_sorted_ascii_and_ends_with_one_line_feed():
    assert to_json({"b": "\u00e9", "a": [1]}) == b'{\n  "a": [\n    1\n  ],\n  "b": "\\u00e9"\n}\n'
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json(float("nan"))


def test_the_digest_does_not_depend_on_the_order_of_keys():
    assert digest({"b": 1, "a": "x"}) == hashlib.sha256(b'{"a":"x","b":1}').hexdigest() == digest({"a": "x", "b": 1})
    assert digest({"a": 1}) != digest({"a": "1"})


def test_a_missing_file_is_named_with_its_size(folder):
    (folder / "columns" / "eco.npy").unlink()
    with pytest.raises(ManifestError, match=r"columns/eco\.npy: is missing, its manifest says 3 bytes"):
        check_files(folder, read_manifest(folder))


@pytest.mark.parametrize(("data", "size"), [(b"token", 5), (b"tokens!", 7)])
def test_a_cut_or_longer_file_is_named_with_both_sizes(folder, data, size):
    (folder / "tokens.npy").write_bytes(data)
    with pytest.raises(ManifestError, match=rf"tokens\.npy: has {size} bytes, its manifest says 6"):
        check_files(folder, read_manifest(folder))


def test_a_file_changed_within_its_size_is_named_with_both_hashes(folder):
    (folder / "tokens.npy").write_bytes(b"tokenz")
    manifest = read_manifest(folder)
    check_files(folder, manifest)
    got, said = hashlib.sha256(b"tokenz").hexdigest(), hashlib.sha256(b"tokens").hexdigest()
    with pytest.raises(ManifestError, match=rf"tokens\.npy: has sha256 {got}, its manifest says {said}"):
        verify_files(folder, manifest)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (None, "files is None, expected an object"),
        ({"a": 3}, "says 3 of 'a', expected bytes and sha256"),
        ({"a": {"bytes": True, "sha256": ""}}, "expected bytes and sha256"),
        ({"../a": {"bytes": 1, "sha256": ""}}, "expected a path inside its folder"),
        ({"/etc/hosts": {"bytes": 1, "sha256": ""}}, "expected a path inside its folder"),
    ],
)
def test_a_list_of_files_that_is_none_is_refused(tmp_path, files, message):
    with pytest.raises(ManifestError, match=message):
        check_files(tmp_path, {"files": files})


@pytest.mark.parametrize("data", [b"", b"{", b"[1]", b"\xff"])
def test_a_manifest_that_is_no_json_object_is_refused_and_named(tmp_path, data):
    (tmp_path / "manifest.json").write_bytes(data)
    with pytest.raises(ManifestError, match=r"manifest\.json: "):
        read_manifest(tmp_path)


def test_a_missing_manifest_is_refused(tmp_path):
    with pytest.raises(ManifestError, match=r"manifest\.json: cannot be read"):
        read_manifest(tmp_path)
