"""The packages' docstrings show how to use them: what they show is what happens."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize("name", [f"rukh_assets.{name}" for name in ("ingest", "encode", "packing", "records")])
def test_the_examples_of_the_package_run(name: str) -> None:
    package = importlib.import_module(name)
    assert ">>>" in (package.__doc__ or "")
    assert doctest.testmod(package).failed == 0
