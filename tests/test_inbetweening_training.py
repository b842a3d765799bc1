"""Schedule, exact resume after a kill, two processes against one, logs, and the learner's door."""

import csv
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from test_inbetweening_losses import moving

from motionbook.inbetweening.recordings import Recording
from motionbook.inbetweening.windows import make_windows

# Trains both stages of a tiny network on made clips: folder, steps, and the call of rate_at that kills the process
SCRIPT = """
import os, signal, sys
sys.path.insert(0, {tests!r})
from test_inbetweening_training import killing, tiny_run

folder, steps, fatal, dropout = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
with killing(fatal, lambda: os.kill(os.getpid(), signal.SIGKILL)):
    tiny_run(folder, steps, dropout)
"""


@contextmanager
def killing(fatal: int, how):
    """Within the block, ``how`` is called at the learning rate's call of that number: 1 per fit and 2 per step."""
    from motionbook.inbetweening.training import TrainingConfig

    rate_at, calls = TrainingConfig.rate_at, itertools.count()

    def counting(self, step):
        if next(calls) == fatal:
            how()
        return rate_at(self, step)

    TrainingConfig.rate_at = counting
    try:
        yield
    finally:
        TrainingConfig.rate_at = rate_at


def people(frames=(120, 90, 140, 100)) -> list[Recording]:
    return [Recording(moving(n, seed), f"{seed:02d}", "idle", f"{seed:02d}_idle") for seed, n in enumerate(frames)]


def tiny(dropout: float = 0.0, **training):
    from motionbook.inbetweening.networks import NetworkConfig
    from motionbook.inbetweening.training import TrainingConfig
    from motionbook.inbetweening.two_stage_training import TwoStageConfig

    settings = {"rate": 0.02, "warmup": 10, "batch": 4, "checkpoint_every": 4, "validate_every": 3, **training}
    part = TrainingConfig(**settings)
    return TwoStageConfig(NetworkConfig(2, 2, 16, 8, 16, 16, 16, dropout), part, part)


def tiny_run(folder, steps: int, dropout: float = 0.0):
    """One thread, as in the other process: sums in another order would differ in the last bits."""
    import torch

    from motionbook.inbetweening.two_stage_training import train

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return train(tiny(dropout), people()[:2], people()[2:3], folder, steps=steps, seed=3)
    finally:
        torch.set_num_threads(threads)


def start_script(folder: Path, steps: int, fatal: int = -1, dropout: float = 0.0, **variables) -> subprocess.Popen:
    script = folder.parent / "script.py"
    script.write_text(SCRIPT.format(tests=str(Path(__file__).parent)))
    command = [sys.executable, str(script), str(folder), str(steps), str(fatal), str(dropout)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), **variables}
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)


def test_schedule(shared_data):
    from motionbook.inbetweening.training import noam_rate
    from motionbook.inbetweening.two_stage_training import TwoStageConfig

    published = json.loads((shared_data / "inbetweening/units.json").read_text())["lr_schedule_by_optimizer_step_index"]
    config = TwoStageConfig()
    for stage, part in (("context", config.context), ("detail", config.detail)):
        for step, rate in published[stage].items():
            assert part.rate_at(int(step)) == pytest.approx(rate, rel=1e-12, abs=1e-30)
    assert noam_rate(50, 1.0, 100) == pytest.approx(0.05)


def test_a_killed_run_goes_on_exactly(tmp_path):
    """Stopped in the context stage, killed in the detail stage, both past a checkpoint: all files end up the same.

    Dropout is on, so that torch's random state must come back too. Planted faults: leaving that state or the moments of
    Adam out of the checkpoint changes the losses from step 4 on.
    """
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    tiny_run(whole, 9, dropout=0.1)

    def interrupt():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), killing(1 + 2 * 7, interrupt):
        tiny_run(killed, 9, dropout=0.1)
    assert (killed / "context/step_000000004.safetensors").is_file() and not (killed / "detail").exists()
    # from step 4 of the context stage to step 7 of the detail stage
    process = start_script(killed, 9, fatal=1 + 2 * 5 + 1 + 2 * 7, dropout=0.1)
    _, errors = process.communicate(timeout=240)
    assert process.returncode == -signal.SIGKILL, errors[-2000:]
    assert checkpoint_steps(killed / "detail") == [4]
    again = tiny_run(killed, 9, dropout=0.1)
    assert again.detail.notes == ("resumed at step 4",)
    for stage in ("context", "detail"):
        for name in ("losses.csv", "validation.csv", "best.safetensors", "step_000000009.safetensors"):
            assert (whole / stage / name).read_bytes() == (killed / stage / name).read_bytes(), (stage, name)
    assert (whole / "predictor.safetensors").read_bytes() == (killed / "predictor.safetensors").read_bytes()
    rows = list(csv.DictReader((killed / "context/losses.csv").read_text().splitlines()))
    assert [int(r["step"]) for r in rows] == list(range(9)) and len({r["loss"] for r in rows}) == 9
    assert list(rows[0]) == ["step", "rate", "loss", "rotation", "position", "smooth"]
    assert checkpoint_steps(killed / "context") == [8, 9]


def checkpoint_steps(folder: Path) -> list[int]:
    return sorted(int(p.stem.removeprefix("step_")) for p in folder.glob("step_*.safetensors"))


def test_two_processes_are_one(tmp_path):
    """The same whole batch shared by two processes through accelerate gives the same losses and weights.

    Planted fault: giving both processes the first half of the batch moves the first loss by several per cent.
    """
    pytest.importorskip("accelerate")
    from motionbook.inbetweening.checkpoints import read

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    common = {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    folder = tmp_path / "two"
    two = [start_script(folder, 5, RANK=r, LOCAL_RANK=r, OMP_NUM_THREADS="1", **common) for r in "01"]
    try:
        one = tiny_run(tmp_path / "one", 5)
        for process in two:
            _, errors = process.communicate(timeout=240)
            assert process.returncode == 0, errors[-3000:]
    finally:
        for process in two:
            process.kill()  # one that waits for another that failed
    for stage, wanted in (("context", one.context), ("detail", one.detail)):
        rows = csv.DictReader((folder / stage / "losses.csv").read_text().splitlines())
        losses = np.array([[float(r[name]) for name in wanted.losses[0]] for r in rows])
        assert np.allclose(losses, [list(r.values()) for r in wanted.losses], rtol=1e-4, atol=1e-7)
        found = read(folder / stage / "step_000000005.safetensors").tensors
        for name, weight in wanted.last.items():
            # adds the same to all scores of a query, so its gradient is rounding, which Adam blows up to full steps
            if name != "rel_pos_layer.3.bias":
                assert np.allclose(found[f"network.{name}"], weight, atol=2e-5), name


def test_a_folder_of_another_run_is_refused(tmp_path):
    from motionbook.inbetweening.two_stage_training import train

    train(tiny(), people()[:2], folder=tmp_path, steps=4)
    with pytest.raises(ValueError, match=r"another run, it differs in (motion|frames|people)"):
        train(tiny(), people()[1:3], folder=tmp_path, steps=4)
    with pytest.raises(ValueError, match="differs in config"):
        train(tiny(rate=0.01), people()[:2], folder=tmp_path, steps=4)
    with pytest.raises(ValueError, match="differs in validated on"):
        train(tiny(), people()[:2], people()[3:4], tmp_path, steps=4)
    with pytest.raises(ValueError, match="differs in seed"):
        train(tiny(), people()[:2], folder=tmp_path, steps=4, seed=1)
    with pytest.raises(ValueError, match="differs in context_steps"):
        train(tiny(), people()[:2], folder=tmp_path, steps=6)


def test_a_finished_run_can_go_further_and_is_not_repeated(tmp_path):
    from motionbook.inbetweening.two_stage_training import train

    first = train(tiny(), people()[:2], folder=tmp_path, steps=4)
    further = train(tiny(), people()[:2], folder=tmp_path, steps=(4, 6))
    assert further.context.losses == first.context.losses and further.context.notes[0] == "resumed at step 4"
    assert further.detail.losses[:4] == first.detail.losses and len(further.detail.losses) == 6
    assert first.context.notes == ("no validation: the last state counts",) and first.context.best_step == 4


def test_the_best_state_by_validation_is_kept(tmp_path):
    """The predictor holds the weights of the lowest sum of L2P, L2Q and NPSS, the last state is kept beside it."""
    import torch

    run = tiny_run(tmp_path, 9).context
    assert [row["step"] for row in run.validation] == [3, 6, 9]
    scores = [row["L2P"] + row["L2Q"] + row["NPSS"] for row in run.validation]
    assert [row["score"] for row in run.validation] == pytest.approx(scores)
    assert run.best_step == run.validation[int(np.argmin(scores))]["step"]
    same = all(torch.equal(weight, run.last[name]) for name, weight in run.network.state_dict().items())
    assert same == (run.best_step == 9)


def test_gradients_are_shortened_on_request():
    import torch

    from motionbook.inbetweening.training import TrainingConfig, fit

    def losses_of(network, step, share):
        loss = 100.0 * network.weight.sum()
        return loss, {"sum": loss}

    for clip, length in ((None, 100 * 3**0.5), (0.5, 0.5)):
        network = torch.nn.Linear(3, 1, bias=False)
        fit(network, losses_of, TrainingConfig(rate=1e-3, warmup=1, clip_norm=clip), steps=1)
        assert float(network.weight.grad.norm()) == pytest.approx(length, rel=1e-4)


def test_mixed_precision_trains():
    """bf16 on a CPU stands for what a CUDA device does; "auto" is full precision here."""
    from motionbook.inbetweening.training_devices import choose_precision
    from motionbook.inbetweening.two_stage_training import train

    full = train(tiny(), people()[:2], steps=3).context.losses
    half = train(tiny(precision="bf16"), people()[:2], steps=3).context.losses
    assert half != full
    assert [r["loss"] for r in half] == pytest.approx([r["loss"] for r in full], rel=0.05)
    assert choose_precision("auto", "cpu") == "none"
    with pytest.raises(ValueError, match="bf16"):
        choose_precision("half", "cpu")


def test_tensorboard_holds_the_table(tmp_path):
    pytest.importorskip("tensorboard")
    from motionbook.inbetweening.two_stage_training import train

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the packages below TensorBoard
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

        run = train(tiny(), people()[:2], people()[2:3], tmp_path, steps=4, tensorboard=True)
        events = EventAccumulator(str(tmp_path / "context/tensorboard")).Reload()
    points = events.Scalars("training/loss")
    assert [p.step for p in points] == list(range(4))
    assert [p.value for p in points] == pytest.approx([r["loss"] for r in run.context.losses])
    assert len(events.Scalars("validation/L2P")) == 2


def test_without_tensorboard_that_is_said(tmp_path, monkeypatch):
    from motionbook.inbetweening.two_stage_training import train

    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.warns(UserWarning, match="no TensorBoard log"):
        run = train(tiny(), people()[:2], folder=tmp_path, steps=2, tensorboard=True)
    assert "no TensorBoard log" in run.context.notes[0] and (tmp_path / "context/losses.csv").is_file()


def test_progress_shows_the_time_left(capfd):
    from motionbook.inbetweening.two_stage_training import train

    train(tiny(), people()[:2], steps=2, progress=True)
    shown = capfd.readouterr().err
    assert "context: 100%" in shown and "detail: 100%" in shown and "<00:00" in shown


def test_loss_that_is_no_number_stops_the_run():
    import torch

    from motionbook.inbetweening.training import TrainingConfig, fit

    def losses_of(network, step, share):
        loss = network.weight.sum() * (float("nan") if step == 2 else 1.0)
        return loss, {"sum": loss}

    with pytest.raises(RuntimeError, match="nan at step 2"):
        fit(torch.nn.Linear(2, 1), losses_of, TrainingConfig(), steps=4)


def test_learner_is_scored_like_any_system(tmp_path):
    """Through ``evaluate``'s door, per fold anew; and what was saved predicts the same."""
    from motionbook.inbetweening.evaluation import evaluate_folds
    from motionbook.inbetweening.two_stage_training import load, two_stage_learner

    folds = [
        {"train": ["00", "01"], "validation": ["02"], "test": ["03"]},
        {"train": ["02", "03"], "validation": ["01"], "test": ["00"]},
    ]
    learner = two_stage_learner(tiny(), steps=3, folder=tmp_path)
    assert learner.label == "Neural Network (width 16, 2 layers, 3 + 3 steps)"
    table = evaluate_folds(people(), "idle", folds, learners={learner.label: learner}, seed=5)
    mine = table[table.system == learner.label]
    assert len(mine) == 2 * 4 * 3 and np.isfinite(mine.value).all()
    saved = sorted(tmp_path.glob("fold_*/predictor.safetensors"))
    assert len(saved) == 2
    windows = make_windows([people()[3].clip])
    predictor = learner(people()[:2], people()[2:3], seed=5)
    assert sorted(tmp_path.glob("fold_*/predictor.safetensors")) == saved
    again = [load(path)(windows, 15).root_positions for path in saved]
    assert any(np.array_equal(root, predictor(windows, 15).root_positions) for root in again)
    assert not np.allclose(*again)
