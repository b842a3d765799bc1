# %% [markdown]
# # Capture: from four cameras to a skeleton
#
# After this chapter you can follow a motion from cameras to a skeleton file and say how large the error of every step
# is. It rebuilds section 3.1.1 of StayStill: four cameras on a semicircle, calibrated with a board, a pose detector on
# every picture, synchronisation, triangulation, and a rig with constant bones.
#
# Nobody has to be filmed for it. The embedded performers stand in front of simulated cameras, so the truth is known and
# every error can be measured against it. A recording of your own goes through the same chain at the end of the chapter
# when you name its folder with `--data`.

# %% tags=["hide-cell"]
import importlib.util
import subprocess
import sys

if "google.colab" in sys.modules and importlib.util.find_spec("motionbook") is None:
    source = "motionbook[book,capture,video,body] @ git+https://github.com/motionbook/motionbook"
    subprocess.check_call([sys.executable, "-m", "pip", "install", "--quiet", source])

# %% tags=["parameters"]
budget: str = "smoke"
data: str = ""
out: str = "../results"
seed: int = 0
device: str = "cpu"

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import display

from motionbook import budgets, report
from motionbook.capture import board_walk, experiments, recordings, semicircle, session, write_cameras
from motionbook.capture.calibration import errors_by_camera
from motionbook.capture.triangulation_report import camera_table
from motionbook.report import capture_figures as figures
from motionbook.report import capture_scene, capture_tables_figures
from motionbook.skeletons import LAFAN1

report.use_theme()
run = report.start_chapter("01_capture", out=out, budget=budget, data=data, seed=seed, device=device)
sizes = budgets.sizes(budget, "01_capture")
run.data_label = "embedded performers (synthetic)"
own = bool(data) and recordings.is_recording(data)
print("Your recording comes last." if own else "No recording of your own: all numbers are the embedded performers'.")

# %% [markdown]
# ## The room
#
# Four cameras stand on an arc in front of the person, at the height of the chest, 1920 x 1080 pixels and 30 pictures a
# second. The paper prints their distances only in a drawing; here the arc has a radius of 3 m and spans 135 degrees. A
# camera is a pinhole with lens distortion: a point $X$ goes to $x = R X + t$, is divided by its depth, bent by the lens
# and scaled by the focal length.

# %%
performer = session.embedded_idle(0, sizes["seconds"], seed)
true_cameras = semicircle(4, distortion=session.LENS)
turns, places = board_walk.walk(sizes["board_pictures"], seed)
shown = [(turns[i], places[i]) for i in (0, len(turns) // 2)]

# %%
words = "The cameras (blue), the board on the floor and in the air (orange), and a performer. Drag to turn"
capture_scene.room(performer, true_cameras, board_walk.BOARD, shown, caption=report.sentences(words, run.data_label))

# %% [markdown]
# ## Calibration
#
# Where the cameras stand and how their lenses bend is found from pictures of a board. Every white square of a ChArUco
# board holds a numbered marker, so that a camera that sees a part of it knows which part. The board lies on the floor
# first, which says where the world's floor and middle are, and is then carried about. The pictures here are rendered
# through the embedded cameras, with the lens and with noise; from there on nothing is known but the pictures and the
# side of a square.

# %%
pictures = board_walk.film_board(true_cameras, sizes["board_pictures"], seed)
calibration = board_walk.calibrate_room(pictures)
cameras = calibration.cameras
path = run.folder / "calibration.toml"
report.record_artefact(run, write_cameras(path, cameras, error=calibration.rmse, metadata={"square": 0.15}))
print(f"{calibration.rmse:.2f} px over all corners", *calibration.notes, sep="\n")

# %% mystnb={"figure": {"name": "fig-board", "caption": "The board on the floor and in the air, seen by the four cameras, with the corners that were found (orange)."}}
figure = capture_tables_figures.board_figure(pictures, calibration)
report.save_figure(run, "capture_board", figure, caption="The calibration board in the four cameras' pictures")
plt.show()

# %% [markdown]
# Lenses, places of the cameras and poses of the board are adjusted together until the corners, put back into the
# pictures, lie where they were seen. How far off they still are says how well the pictures fit, not how well the
# cameras are known; the embedded cameras are known, so both can be read side by side.

# %%
errors = errors_by_camera(calibration).join(board_walk.camera_errors(cameras, true_cameras))
words = "board rendered through the embedded cameras", "from focal length on: distance from the truth"
note = report.sentences(*words, run.data_label)
report.save_table(run, "capture_calibration", errors, note=note)
report.show_table(errors, note=note)

# %%
assert calibration.rmse < 0.4 and errors["place [mm]"].max() < 15 and errors["at the performer [mm]"].max() < 3
del pictures

# %% [markdown]
# ## What the detector sees
#
# The detector is simulated. It reports the 33 landmarks of MediaPipe Pose, 2 pixels off on average per axis (half of that
# drifts, half flickers), with a confidence that falls when it errs more. Where the body hides a limb, it guesses: the
# error triples and the confidence halves. It loses 3 % of the landmarks for a fifth of a second at a time, exchanges left
# and right of arms or legs in about 1 % of the pictures, and puts one landmark in 200 anywhere nearby.

# %%
take = session.film_performer(0, sizes["seconds"], seed, solve_with=cameras)[1]
made = take.simulated
shares = {"hidden": made.hidden, "sides exchanged": made.swapped, "outliers": made.outliers, "lost": made.lost}
print(", ".join(f"{name} {100 * mask.mean():.1f} %" for name, mask in shares.items()), "of all observations")

# %% mystnb={"figure": {"name": "fig-cameras", "caption": "Left: plan of the recording area with four cameras on a semicircle (after StayStill, Figure 1). Right: what the detector reports on each camera's picture of one frame, cut to the person; dark points are sure, light ones are not, and some are lost."}}
figure = figures.camera_figure(true_cameras, take, len(performer) // 2)
report.save_figure(
    run, "staystill_fig1", figure, caption="Plan of the recording area and the four pictures of one frame"
)
plt.show()

# %% [markdown]
# ## One clock
#
# Cameras are not started together. StayStill's authors clapped and shifted the videos by hand. Here the same performer
# is filmed by cameras that are up to 12 frames late or early, by fractions of frames too, and the offsets are searched
# twice: where the motion that two cameras see correlates best, and, as the cameras are calibrated, where the points of
# all cameras fit together best. Who hardly moves tells little about a clock, and loses little by a wrong one.

# %%
late = (0.0, 7.3, -4.6, 12.0)
truth, seen = experiments.film_unsynchronised(performer, true_cameras, late, seed)
offsets, cost, doubts = experiments.synchronise(cameras, seen, late, truth)
note = report.sentences("frames by which a camera is late", run.data_label)
report.save_table(run, "capture_offsets", offsets, note=note)
report.show_table(offsets, note=note)

# %%
note = report.sentences("what is triangulated with each answer", run.data_label)
report.save_table(run, "capture_synchronisation", cost, note=note)
display(report.show_table(cost, note=note))
print("What the two ways doubt:", *doubts, sep="\n")

# %%
missed = (offsets["by reprojection [frames]"] - offsets["true [frames]"]).abs().max()
assert cost.loc["by reprojection", "MPJPE [mm]"] < cost.loc["as started", "MPJPE [mm]"]
print(f"by reprojection: at most {missed:.2f} frames off")

# %% [markdown]
# ## From pictures to points
#
# A camera that sees a point says that it lies on a ray. Two rays and more are combined by confidence-weighted linear
# triangulation: each picture gives two linear equations in the point's place, weighted with the detector's confidence,
# and all points of all frames are solved at once. Before that, left and right are exchanged back where one camera
# contradicts the others for a whole part of the body; after it, a camera that contradicts the others on a point is left
# out of that point. What fewer than two cameras agree on stays unknown and keeps the reason.

# %%
cameras_report = camera_table(take.triangulation, cameras)
note = report.sentences("what became of each camera's observations; subject 00", run.data_label)
report.save_table(run, "capture_observations", cameras_report, note=note)
report.show_table(cameras_report, note=note)

# %% [markdown]
# Then gaps of up to 0.4 s are closed by straight lines, single spikes are replaced, and a Butterworth filter, run
# forwards and backwards so that nothing is delayed, takes out what is faster than 7 Hz. Running twice would lower that
# limit to 6.5 Hz; the filter is designed for it. Longer gaps stay open.

# %% mystnb={"figure": {"name": "fig-steps", "caption": "The right wrist's height and its error: as triangulated and after closing gaps and filtering."}}
figure = figures.steps_figure(take)
report.save_figure(run, "capture_steps", figure, caption="One landmark through the steps of capture")
plt.show()

# %% [markdown]
# ### What each step buys
#
# Every row adds one step to those above it. A landmark that a step leaves out counts with plain triangulation's error,
# so that no step looks good by leaving points out.

# %%
steps = experiments.cleaning_steps(take, cameras)
note = report.sentences("all 33 landmarks of subject 00", run.data_label)
report.save_table(run, "capture_cleaning_steps", steps, note=note)
report.show_table(steps, note=note)

# %%
assert steps["mean error [mm]"].iloc[-1] < 0.7 * steps["mean error [mm]"].iloc[0]
assert steps.loc["bad cameras left out", "bone spread [mm]"] < steps.loc["sides put right", "bone spread [mm]"]

# %% [markdown]
# ## From points to a skeleton
#
# Bones get their median length and keep it. Pelvis, chest and neck see two directions each and take a full rotation from
# them; every other bone sees one and takes the smallest turn from where its parent would carry it.
#
# How far off is the result? Per person, with the calibrated cameras:

# %%
takes = {0: take}
for subject in range(1, sizes["subjects"]):
    takes[subject] = session.film_performer(subject, sizes["seconds"], seed, solve_with=cameras)[1]
measured = pd.DataFrame({f"{subject:02d}": session.errors(t) for subject, t in takes.items()}).T
measured.index.name = "subject"
mpjpe = "MPJPE: mean distance of landmarks, or of the clip's joints, from the performer's own"
note = report.sentences(run.data_label, mpjpe)
report.save_table(run, "capture_errors", measured, note=note)
report.show_table(figures.by_person(measured), note=note, by_row=True)

# %% [markdown]
# Filtering helps, and so does the skeleton: averaging a bone's length over the whole take uses what no single frame
# knows.

# %%
means = measured.mean()
assert (
    means["MPJPE clip [mm]"] < means["MPJPE raw [mm]"] < 15 and means["MPJPE filtered [mm]"] < means["MPJPE raw [mm]"]
)
assert means["reprojection [px]"] < 3.5 and means["bone error [mm]"] < means["bone spread [mm]"]
print(f"{means['MPJPE raw [mm]']:.1f} mm triangulated, {means['MPJPE clip [mm]']:.1f} mm in the clip")

# %% [markdown]
# ## What moves the error
#
# The same performers again, each time with one thing changed: the number of cameras on the arc, the detector's noise,
# its faults, and what is believed of the cameras. The reprojection error says little about the error in space: it is
# lower with two cameras than with eight, as two rays nearly always meet, and does not notice a focal length that is wrong.

# %%
people = {s: session.embedded_idle(s, sizes["seconds"], seed) for s in takes}
cameras_table = experiments.by_cameras(people, sizes["cameras"], seed)
note = report.sentences(run.data_label, f"mean over {len(people)} people; cameras known exactly; budget {budget}")
report.save_table(run, "capture_cameras", cameras_table, note=note)
report.show_table(cameras_table.T.rename_axis("cameras"), note=note, by_row=True)

# %%
conditions = {
    "noise": experiments.by_noise(performer, true_cameras, seed),
    "faults": experiments.by_fault(performer, true_cameras, seed),
    "calibration": experiments.by_calibration(performer, true_cameras, seed, cameras),
}
note = report.sentences("subject 00, four cameras", run.data_label)
for name, table in conditions.items():
    report.save_table(run, f"capture_by_{name}", table, note=note)
    display(report.show_table(table, note=note))

# %% mystnb={"figure": {"name": "fig-conditions", "caption": "Mean error of the landmarks as triangulated and of the finished clip's joints, by number of cameras, by the detector's noise and faults, and by what is believed of the cameras."}}
tables = {
    "Cameras": cameras_table.rename(lambda n: f"{n} cameras"),
    "Noise per axis": conditions["noise"],
    "Detector, faults added one by one": conditions["faults"],
    "What is believed of the cameras": conditions["calibration"],
}
figure = capture_tables_figures.conditions_figure(tables, "MPJPE raw [mm]", "MPJPE clip [mm]")
report.save_figure(run, "capture_conditions", figure, caption="Error by cameras, noise, faults and calibration")
plt.show()

# %%
by_count, believed = cameras_table["MPJPE raw [mm]"], conditions["calibration"]["MPJPE raw [mm]"]
assert by_count.is_monotonic_decreasing
assert cameras_table["reprojection [px]"].iloc[0] < cameras_table["reprojection [px]"].iloc[-1]
assert believed["calibrated from the board"] < 1.1 * believed["known exactly"]

# %% [markdown]
# ## The performer and the capture
#
# The player shows them side by side; its button *Lay the people over each other* puts them on one place. Look at the
# hands, which have the longest way from the root.

# %%
report.player(
    [("performer", performer), ("captured", take.assembly.clip)], caption=report.sentences("Subject 00", run.data_label)
)

# %% [markdown]
# ## What the set-up is
#
# The published rig has 63 bones, 40 of them fingers; ours is what the authors' files hold, 19 body joints without
# fingers, hands and heels. [Chapter 02](02_cleaning.ipynb) shows it beside the LaFAN1 skeleton.

# %%
clips = {subject: t.assembly.clip for subject, t in takes.items()}
setup = {
    "cameras": len(cameras),
    "frame rate": clips[0].fps,
    "image height": cameras[0].size[1],
    "image width": cameras[0].size[0],
    "FreeMoCap joints in a file": len(clips[0].skeleton),
    "LaFAN1 bones": len(LAFAN1),
}
setup = pd.DataFrame({"value": pd.Series(setup)})
report.save_table(run, "staystill_text_capture", setup, note="simulated cameras and performers")
report.show_table(setup, "staystill_text_capture", note="Simulated cameras and performers.")

# %% [markdown]
# ## Handing over
#
# The takes go to [chapter 02](02_cleaning.ipynb) as BVH files. The first one is also written for other programs: TRC for
# OpenSim and Pose2Sim, CSV for programs that read C3D, FreeMoCap's own arrays, and the list of gaps with their reasons.

# %%
for subject, clip in clips.items():
    path = session.write_take(run.folder, subject, clip)
    report.record_artefact(run, path)
    print(path.relative_to(run.out), len(clip), "frames")
for path in session.export(run.folder / "export", "00_idle", take.solved):
    report.record_artefact(run, path)
    print(path.relative_to(run.out))

# %% [markdown]
# ## A recording of your own
#
# A folder with a calibration (TOML of Pose2Sim, anipose, FreeMoCap or this chapter) and points in pictures (NPZ, OpenPose
# or RTMPose JSON, FreeMoCap's npy), named with `--data`, goes through the same chain: synchronised by reprojection,
# triangulated, cleaned, made a clip. What these files do not say, such as the frame rate or the vertical axis, is written
# into `recording.toml` beside them. There is no truth to compare with; what is left are the reprojection error and how
# much the bones' lengths change.

# %%
if own:
    recording = recordings.read_recording(data)
    report.note_data(run, recording.files)
    rebuilt = recordings.reconstruct(recording)
    own_label = f"{recording.seen.source}, your recording (real)"
    print(*rebuilt.notes, sep="\n")
elif data:
    print(f"{data} holds no calibration with 2-D points, so there is nothing in it for this chapter")

# %%
if own:
    summary = pd.DataFrame({"value": pd.Series(recordings.report(recording, rebuilt))})
    summary = pd.concat([summary, recordings.offsets_table(recording, rebuilt)])
    report.save_table(run, "capture_recording", summary, note="no truth to compare with", data=own_label)
    display(report.show_table(summary, note=report.sentences(own_label)))
    used = camera_table(rebuilt.solved.triangulation, recording.cameras)
    display(report.show_table(used, note=report.sentences(own_label)))
    for path in session.export(run.folder / "recording", "recording", rebuilt.solved):
        report.record_artefact(run, path, data=own_label)
    display(report.player([("recording", rebuilt.solved.assembly.clip)], caption=report.sentences(own_label)))

# %% tags=["hide-cell"]
assert all(np.isfinite(clip.root_positions).all() and clip.fps == 30.0 for clip in clips.values())
_ = report.finish_chapter(run)
