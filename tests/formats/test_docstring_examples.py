"""The packages' docstrings say how to use them; what they show is what happens."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize("name", ["rukh_loaders", "rukh_loaders.formats", "rukh_loaders.tokenizers"])
def test_the_examples_of_the_package_run(name):
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert result.attempted > 10
    assert result.failed == 0


@pytest.mark.parametrize("name", ["rukh_loaders", "rukh_loaders.formats", "rukh_loaders.tokenizers"])
def test_every_public_name_of_the_package_is_there(name):
    module = importlib.import_module(name)
    assert all(hasattr(module, public) for public in module.__all__)
    assert set(module.__all__) <= set(dir(module))
