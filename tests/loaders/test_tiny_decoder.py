"""The example's model: small, causal, the same for a seed, and able to learn."""

import importlib.util
import math

import pytest
import torch

from rukh_loaders import PackedDataset, make_loader

VOCAB = 100


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Threads of torch wait for each other where the cores are busy, and these models need none."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def tiny(project):
    spec = importlib.util.spec_from_file_location("tiny_decoder", project / "examples" / "tiny_decoder.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def loader(twenty_games):
    return make_loader(PackedDataset(twenty_games, block=6), batch_size=10)


def small_model(tiny, seed=0):
    return tiny.TinyDecoder(VOCAB, context=8, width=32, heads=2, seed=seed)


def test_a_fresh_model_knows_nothing(tiny, loader):
    assert tiny.evaluate(small_model(tiny), loader, batches=2) == pytest.approx(math.log(VOCAB), abs=0.05)


def test_training_lowers_the_loss_and_reports_each_step(tiny, loader):
    model, reported = small_model(tiny), []
    before = tiny.evaluate(model, loader, batches=2)
    losses = tiny.train(model, loader, steps=30, on_step=lambda step, loss: reported.append((step, loss)))
    assert reported == list(enumerate(losses, start=1))
    assert losses[-1] < before - 1
    assert tiny.evaluate(model, loader, batches=2) < before - 1


def test_the_same_seeds_train_the_same_model(tiny, twenty_games):
    def losses(seed):
        torch.seed()  # whatever the global state is
        fresh = make_loader(PackedDataset(twenty_games, block=6), batch_size=10, seed=seed)
        return tiny.train(small_model(tiny, seed), fresh, steps=5)

    assert losses(1) == losses(1)
    assert losses(1) != losses(2)


def test_making_a_model_leaves_the_global_random_numbers_alone(tiny):
    before = torch.get_rng_state()
    small_model(tiny)
    assert torch.equal(torch.get_rng_state(), before)


def test_no_position_sees_a_later_one(tiny):
    model = small_model(tiny)
    ids = torch.tensor([[1, 11, 50, 51, 2, 1]])
    changed = ids.clone()
    changed[0, 4:] = 77
    assert torch.allclose(model(ids)[0, :4], model(changed)[0, :4], atol=1e-6)
    assert not torch.allclose(model(ids)[0, 4:], model(changed)[0, 4:], atol=1e-6)


def test_a_padded_target_does_not_count(tiny):
    model = small_model(tiny)
    x = torch.tensor([[1, 11, 50, 51]])
    short = tiny.evaluate(model, [(x[:, :2], torch.tensor([[11, 50]]))], batches=1)
    assert tiny.evaluate(model, [(x, torch.tensor([[11, 50, 0, 0]]))], batches=1) == pytest.approx(short, abs=1e-5)


def test_evaluating_changes_neither_the_weights_nor_the_mode(tiny, loader):
    model = small_model(tiny)
    before = [weights.clone() for weights in model.parameters()]
    tiny.evaluate(model, loader, batches=2)
    assert model.training
    assert all(torch.equal(was, now) for was, now in zip(before, model.parameters(), strict=True))
