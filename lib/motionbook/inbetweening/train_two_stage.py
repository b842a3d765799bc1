"""Train the two-stage transformer on one fold of a data set from the shell, on as many devices as there are.

    python -m motionbook.inbetweening.train_two_stage DATASET FOLDER --fold 1
    accelerate launch --num_processes 8 -m motionbook.inbetweening.train_two_stage DATASET FOLDER --fold 1

Both ``accelerate launch`` and ``torchrun --nproc-per-node 2 -m ...`` also take the number of machines and this
machine's rank among them; several processes on CPUs alone are started with ``torchrun``. A run that was stopped goes on
when it is started again. ``two_stage_training.load("FOLDER/predictor.safetensors")`` predicts.
"""

import argparse
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse, read the fold's people, train; everything that results is in the folder."""
    parser = argparse.ArgumentParser(
        prog="motionbook.inbetweening.train_two_stage", description=__doc__.splitlines()[0]
    )
    parser.add_argument("dataset", help="folder with dataset.json and lafan/, as chapter 2 leaves it")
    parser.add_argument("folder", help="for checkpoints, tables, TensorBoard's log and the predictor")
    parser.add_argument("--subset", default="idle", help="idle, phone or actions (default %(default)s)")
    parser.add_argument("--fold", type=int, default=1, help="counted from 1 (default %(default)s)")
    parser.add_argument("--steps", type=int, nargs="+", help="of both stages, or of each; default: the 200 epochs")
    parser.add_argument("--width", type=int, default=512, help="another width trains a small network")
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--batch", type=int, help="windows per step over all devices")
    parser.add_argument("--precision", default="auto", help="auto, none, bf16 or fp16")
    parser.add_argument("--clip-norm", type=float, help="longest gradient (default: as published, none)")
    parser.add_argument("--checkpoint-every", type=int, help="steps")
    parser.add_argument("--device", help="default: cuda where there is one")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-tensorboard", action="store_true")
    options = parser.parse_args(arguments)
    _train(options)


def _train(options) -> None:
    from dataclasses import replace

    import torch

    from motionbook.inbetweening.recordings import read_recordings, select
    from motionbook.inbetweening.two_stage_training import TwoStageConfig, train

    data = read_recordings(options.dataset, groups=[options.subset])
    if not 1 <= options.fold <= len(data.folds):
        raise ValueError(f"fold: {options.dataset} has folds 1 to {len(data.folds)}, got {options.fold}")
    fold = data.folds[options.fold - 1]
    people = [select(data.recordings, options.subset, fold.get(part, ())) for part in ("train", "validation")]
    steps = options.steps and (options.steps[0], options.steps[-1])
    small = (options.width, options.layers) != (512, 6)
    if small and not steps:
        raise ValueError("steps: a network of another size than the published one needs --steps")
    config = TwoStageConfig.small(options.width, options.layers, max(steps)) if small else TwoStageConfig()
    given = {"batch": options.batch, "clip_norm": options.clip_norm, "checkpoint_every": options.checkpoint_every}
    changes = {"precision": options.precision, **{k: v for k, v in given.items() if v is not None}}
    stages = {name: replace(getattr(config, name), **changes) for name in ("context", "detail")}
    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    train(
        replace(config, **stages),
        *people,
        options.folder,
        steps=steps,
        device=device,
        seed=options.seed,
        progress=True,
        tensorboard=not options.no_tensorboard,
    )


if __name__ == "__main__":
    main()
