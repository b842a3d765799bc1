"""Milliseconds per frame of the stick-figure renderer and of its diagnostics, beside a plain NumPy renderer.

    OMP_NUM_THREADS=1 python benchmarks/bench_stickfigures.py

The plain version draws each capsule over its bounding box with NumPy and reduces the whole canvas at the end, as the
published renderer does; both must give the same colours and parts. The published renderer itself took 63 ms of CPU
time for a whole frame at 128 px and its evaluator 13.5 ms (5.3 ms at 64 px) on a two-core server (stored figures; it
is not run here).
"""

import time

import numpy as np

from motionbook.kinematics import forward_kinematics
from motionbook.stickfigures import Body, View, figure_motion, render, score
from motionbook.stickfigures.figure import PARTS
from motionbook.stickfigures.renderer import _capsules
from motionbook.synthesis.prompt_motions import perform

REPEATS = 5
PLAIN_FRAMES = 12


def plain_render(joints, body, view):
    """Colour (frames, 128, 128, 4) and parts (frames, 128, 128), the straightforward way."""
    capsules, colours, ids = _capsules(joints, body, view, PARTS)
    color, seg = [], []
    for frame in capsules:
        depth = np.full((512, 512), -np.inf, np.float32)
        rgb, part = np.zeros((512, 512, 3), np.float32), np.zeros((512, 512), np.uint8)
        for (ax, ay, bx, by, za, zb, ra, rb), colour, name in zip(frame, colours, ids, strict=True):
            reach = max(ra, rb) + 1
            x0, x1 = max(0, int(min(ax, bx) - reach)), min(512, int(max(ax, bx) + reach) + 2)
            y0, y1 = max(0, int(min(ay, by) - reach)), min(512, int(max(ay, by) + reach) + 2)
            y, x = np.mgrid[y0:y1, x0:x1] + 0.5
            dx, dy = bx - ax, by - ay
            square = dx * dx + dy * dy
            t = np.clip(((x - ax) * dx + (y - ay) * dy) / square, 0, 1) if square >= 1e-6 else np.zeros_like(x)
            ex, ey, radius = x - (ax + t * dx), y - (ay + t * dy), ra + (rb - ra) * t
            distance = ex * ex + ey * ey
            height = np.sqrt(np.maximum(radius * radius - distance, 0))
            z = za + (zb - za) * t + height / (body.px_per_m * 4)
            wins = (distance <= radius * radius) & (z > depth[y0:y1, x0:x1])
            depth[y0:y1, x0:x1][wins] = z[wins]
            rgb[y0:y1, x0:x1][wins] = colour
            part[y0:y1, x0:x1][wins] = name
        covered = _boxes(np.isfinite(depth)[..., None]).sum(axis=2)
        mean = _boxes(rgb).sum(axis=2) / np.maximum(covered, 1)
        color.append(np.concatenate([mean, covered / 16 * 255], axis=-1).astype(np.uint8))
        votes = np.stack([_boxes((part == name)[..., None]).sum(axis=2)[..., 0] for name in range(28)])
        votes[0] = 0
        seg.append(votes.argmax(axis=0).astype(np.uint8))
    return np.stack(color), np.stack(seg)


def _boxes(samples):
    """(128, 128, 16, channels)"""
    return samples.reshape(128, 4, 128, 4, -1).swapaxes(1, 2).reshape(128, 128, 16, -1)


def milliseconds(function, frames: int) -> float:
    """Best CPU milliseconds per frame of several runs, after one that is not counted."""
    function()
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return 1e3 * min(times) / frames


def main():
    """Check that the two renderers agree, then time them and the diagnostics."""
    clip = perform("A person does jumping jacks.", 0)
    joints = figure_motion(forward_kinematics(clip).positions, clip.fps).joints
    body, view, n = Body(), View(yaw=0.6, pitch=0.05), len(joints)

    color, seg = plain_render(joints[:PLAIN_FRAMES], body, view)
    ours = render(joints[:PLAIN_FRAMES], body, view)
    assert np.array_equal(color, ours.color) and np.array_equal(seg, ours.seg), "the two renderers must agree"

    frames, small = render(joints, body, view).color, render(joints, body, view, 64).color
    rows = [
        ("render 128 px, colour and parts", lambda: render(joints, body, view), n),
        ("render 128 px, with depth and normals", lambda: render(joints, body, view, geometry=True), n),
        ("render 64 px (128 px halved)", lambda: render(joints, body, view, 64), n),
        ("plain NumPy 128 px, colour and parts", lambda: plain_render(joints[:PLAIN_FRAMES], body, view), PLAIN_FRAMES),
        ("score 128 px", lambda: score(frames), n),
        ("score 64 px", lambda: score(small), n),
    ]
    for name, function, count in rows:
        print(f"{name:40s} {milliseconds(function, count):7.2f} ms per frame")


if __name__ == "__main__":
    main()
