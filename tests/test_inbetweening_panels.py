"""Foot skate, jitter, spectrum and failures against motion whose values are known, and the figures of them."""

import numpy as np
import pytest
from test_inbetweening_windows import random_clip

from motionbook import rotations as rot
from motionbook.clip import Clip
from motionbook.inbetweening.autoregression import junctions, key_frames
from motionbook.inbetweening.baselines import BASELINES, LocalPose
from motionbook.inbetweening.failures import error_maps, failures, joint_errors
from motionbook.inbetweening.motion_panels import (
    MEASURES,
    mean_spectra,
    motion_panel,
    motion_summary,
    motion_table,
)
from motionbook.inbetweening.scoring import error_over_time
from motionbook.inbetweening.seams import displaced
from motionbook.inbetweening.windows import make_windows
from motionbook.report import generator_figures as figures
from motionbook.skeletons import LAFAN1, t_pose


def moved(path, frames: int = 300) -> Clip:
    """A stiff body in T-pose whose root follows (frames, 3) metres."""
    return Clip(LAFAN1, path, np.broadcast_to(t_pose(LAFAN1), (frames, 22, 4)), 30.0)


def along(x) -> Clip:
    return moved(np.stack([x, np.full_like(x, 0.9), np.zeros_like(x)], axis=1), len(x))


T = np.arange(300) / 30.0


def test_feet_that_slide_while_the_reference_stands():
    still, sliding = along(0 * T), along(0.04 * T)
    panel = motion_panel({"GT": [still], "S": [sliding]})
    assert panel.foot_skate_cm_s.tolist() == pytest.approx([0.0, 4.0])
    # by its own feet a body that glides faster than a standing foot has none that stands
    own = motion_panel({"S": [along(0.2 * T)]}, contacts=None)
    assert np.isnan(own.foot_skate_cm_s[0])
    with pytest.raises(KeyError, match="no system 'GT', there are S"):
        motion_panel({"S": [still]})
    with pytest.raises(ValueError, match="as many clips of the same lengths"):
        motion_panel({"GT": [still], "S": [still[:200]]})
    with pytest.raises(ValueError, match="at least one system"):
        motion_panel({})


def test_jerk_and_power_of_a_sine():
    """Sway of 2 cm at 2 Hz: velocity power (2 pi f a)^2 / 2, mean jerk (2 pi f)^3 a 2 / pi."""
    amplitude, rate = 0.02, 2.0
    row = motion_panel({"GT": [along(amplitude * np.sin(2 * np.pi * rate * T))]}).iloc[0]
    w = 2 * np.pi * rate
    assert row.jerk_m_s3 == pytest.approx(w**3 * amplitude * 2 / np.pi, rel=0.03)
    assert row.power_1_3_hz == pytest.approx(1e4 * (w * amplitude) ** 2 / 2, rel=0.03)
    assert row.power_0_1_hz + row.power_3_6_hz + row.power_6_15_hz < 0.01 * row.power_1_3_hz
    # duration^3 times the integral of jerk^2 over the square of the peak speed, of a sine (w duration)^4 / 2
    assert row.ldlj == pytest.approx(-np.log((w * 299 / 30) ** 4 / 2), abs=0.05)
    # dimensionless: neither size nor tempo over the same number of periods counts, more periods do
    halved = motion_panel({"GT": [along(0.5 * amplitude * np.sin(w * T))]}).iloc[0]
    assert halved.ldlj == pytest.approx(row.ldlj)
    faster = motion_panel({"GT": [along(amplitude * np.sin(2 * w * T))]}).iloc[0]
    assert faster.ldlj == pytest.approx(row.ldlj - np.log(16), abs=0.1)


def test_noise_is_rougher_than_what_it_was_added_to_and_intervals_hold_the_mean():
    clips = [random_clip(300, seed) for seed in range(4)]
    rough = [displaced(c, range(10, 300), 2.0, 0.0, seed=i) for i, c in enumerate(clips)]
    panel = motion_panel({"GT": clips, "NOISE": rough})
    assert list(panel.columns) == ["system", "clip", *MEASURES] and len(panel) == 8
    summary = motion_summary(panel, seed=1)
    known = summary[summary.measure != "foot_skate_cm_s"]  # nobody in such motion ever stands
    assert known["mean"].between(known.low, known.high).all()
    assert summary.n_clips.tolist() == [0, *[4] * 6] * 2
    table = motion_table(summary)
    assert list(table.index) == ["GT", "NOISE"] and (table.n_clips == 4).all()
    assert table.jerk_m_s3["NOISE"] > table.jerk_m_s3["GT"] and table.ldlj["NOISE"] < table.ldlj["GT"]
    assert motion_summary(panel, seed=1).equals(summary)
    assert motion_summary(panel[panel["clip"] == 0]).low.isna().all()
    spectra = mean_spectra({"GT": clips, "NOISE": rough})
    total = panel[panel.system == "GT"].filter(like="power_").sum(axis=1).mean()
    part = spectra[spectra.system == "GT"]
    assert (part.power * part.frequency.iloc[1]).sum() == pytest.approx(total)
    with pytest.raises(ValueError, match="clips of one length"):
        mean_spectra({"GT": [clips[0], clips[1][:200]]})


def one_arm_wrong(windows, transition):
    """The truth with the left forearm turned by 30 degrees in predicted frame 7 of the second window."""
    gap = slice(10, 10 + transition)
    root, q = windows.root_positions[:, gap].copy(), windows.rotations[:, gap].copy()
    joint = LAFAN1.index("LeftForeArm")
    q[1, 6, joint] = rot.multiply(q[1, 6, joint], rot.from_axis_angle([0.0, 0.0, 1.0], np.pi / 6))
    return LocalPose(root, q)


def test_failures_name_window_frame_and_joint():
    windows = make_windows([random_clip(200, 0)], 65, 40)
    std = np.ones((22, 3))
    table = failures(windows, std, 30, {"ARM": one_arm_wrong, **BASELINES}, names=["clip_a"], worst=2)
    first = table.iloc[0]
    assert (first.system, first["rank"], first["clip"], first.start, first.frame) == ("ARM", 1, "clip_a", 40, 7)
    assert first.joints.startswith("LeftHand ") and first.turned == "LeftForeArm 30 degrees"
    assert first.share == pytest.approx(1.0) and len(table) == 8
    scores = error_over_time(windows, std, 30, BASELINES["SLERP"]).mean(axis=1)
    assert table[table.system == "SLERP"].l2p.tolist() == pytest.approx(np.sort(scores)[::-1][:2])
    degrees = joint_errors(windows, 30, one_arm_wrong, "degrees")
    assert np.argwhere(degrees > 1e-6).tolist() == [[1, 6, LAFAN1.index("LeftForeArm")]]
    maps = error_maps(windows, 30, BASELINES)
    assert maps["SLERP"].shape == (30, 22) and (maps["0-velocity"][-1] > maps["0-velocity"][0]).all()
    with pytest.raises(ValueError, match="cm, degrees"):
        joint_errors(windows, 30, one_arm_wrong, "radians")


def test_figures_draw_what_they_are_given():
    plt = pytest.importorskip("matplotlib.pyplot")
    seams, keys = junctions(300), key_frames(300)
    clips = [random_clip(326, seed) for seed in range(2)]
    broken = displaced(clips[0][:300], seams, 10.0, 1.0)
    figure = figures.two_step_figure(broken, seams, joint="Neck")
    before, *curves = (line.get_ydata() for line in figure.axes[0].lines[:4])
    assert "Neck" in figure.axes[0].get_title(loc="left") + figure.axes[0].get_title()
    made, shifted, corrected = curves
    np.testing.assert_allclose(shifted[0], corrected[0], atol=1e-9)  # both start where the motion before leads to
    assert abs(corrected[0] - before[-1]) < abs(made[0] - before[-1])
    assert abs(corrected[-1] - made[-1]) < 0.2 * abs(shifted[-1] - made[-1])
    figures.smoothing_figure(broken, clips[0], seams, keys)
    by_system = {"GT": [c[:300] for c in clips], "SLERP": [c[:300] for c in clips[::-1]]}
    figures.motion_panel_figure(motion_summary(motion_panel(by_system)), mean_spectra(by_system))
    windows = make_windows([clips[0]], 65, 40)
    maps = error_maps(windows, 30, {**BASELINES, "NN": one_arm_wrong, "DELTA": one_arm_wrong})
    pictures = [a for a in figures.failures_figure(maps, LAFAN1.names).axes if a.images]
    assert np.array_equal(pictures[1].images[0].get_array(), maps["SLERP"].T)
    plt.close("all")
