"""Small networks take one thread and give the others back."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from motionbook.inbetweening.threads import SMALL, one_thread, small_on_one_thread, threads_for  # noqa: E402


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_one_thread_inside_and_the_callers_number_afterwards(two_threads):
    with one_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 2
    with pytest.raises(RuntimeError, match="planted"), one_thread():
        raise RuntimeError("planted")
    assert torch.get_num_threads() == 2


def test_large_networks_keep_their_threads(two_threads):
    small, large = torch.nn.Linear(10, 10), torch.nn.Linear(1, SMALL)
    for networks, expected in (((small, None), 1), ((small, large), 2), ((), 1)):
        with threads_for(*networks):
            assert torch.get_num_threads() == expected
    seen = small_on_one_thread(lambda network: torch.get_num_threads())
    assert (seen(small), seen(large)) == (1, 2)


@pytest.mark.parametrize("name", ["NN", "Perceptron", "DELTA", "FLOW"])
def test_systems_of_the_chapter_fit_and_fill_on_one_thread(two_threads, name, tmp_path, monkeypatch):
    """Every product of matrices that torch is asked for, seen through the layers that all of them have."""
    from test_inbetweening_chapter import people

    from motionbook import budgets
    from motionbook.inbetweening import chapter_systems, windows

    sizes = budgets.sizes("smoke", "03_inbetweening") | {"perceptron_steps": 2, "delta_steps": 2, "flow_steps": 2}
    sizes["network"] = sizes["network"] | {"steps": 2}
    recordings = people()
    seen, forward = [], torch.nn.Linear.forward

    def noting(layer, x):
        seen.append(torch.get_num_threads())
        return forward(layer, x)

    monkeypatch.setattr(torch.nn.Linear, "forward", noting)
    learner = chapter_systems.choose_systems(sizes, recordings, tmp_path).learners[name]
    predictor = learner(recordings[:3], recordings[3:], seed=0)
    predictor(windows.make_windows([recordings[0].clip], *windows.BENCHMARK), 5)
    assert np.unique(seen).tolist() == [1] and torch.get_num_threads() == 2
