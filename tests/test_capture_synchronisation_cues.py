"""Claps and flashes: offsets and rates against the clocks they were made with, and what has no cue is refused."""

import wave

import numpy as np
import pytest
from synchronisation_scene import light, sound

from motionbook.capture.cues import by_clap, by_flash, find_flashes
from motionbook.capture.footage import extract_sound, list_frames, read_wav, scan_video

OFFSETS = np.array([0.0, 1.2345, -0.8071, 0.0166])


def test_a_clap_places_cameras_to_a_fiftieth_of_a_frame():
    """1 ms is 0.03 frames; a sign error or a lag of one hop fails."""
    sounds = [sound([4.2], offset, 12 + k, k, gain=1 / (k + 1)) for k, offset in enumerate(OFFSETS)]
    found = by_clap(sounds, 30.0)
    assert np.abs(found.offsets - OFFSETS).max() < 0.0002
    assert (found.margin[1:] > 0.5).all() and not found.doubts and found.offsets[0] == 0
    np.testing.assert_allclose(found.frames_late, found.offsets * 30)
    assert len(found.evidence) == 6


def test_sample_rates_may_differ_and_the_reference_may_be_another_camera():
    sounds = [
        sound([3.0], o, 10, k, rate=r)
        for k, (o, r) in enumerate(zip(OFFSETS, (48000, 44100, 32000, 48000), strict=True))
    ]
    found = by_clap(sounds, (30.0, 25.0, 60.0, 30.0), reference="cam03")
    assert np.abs(found.offsets - (OFFSETS - OFFSETS[2])).max() < 0.001
    assert found.fps == 60.0 and found.rates.tolist() == [30.0, 25.0, 60.0, 30.0]


def test_sound_takes_time_to_travel():
    distances = np.array([2.0, 5.0, 3.0, 12.0])
    sounds = [sound([4.0], o + d / 343.0, 10, k) for k, (o, d) in enumerate(zip(OFFSETS, distances, strict=True))]
    raw, corrected = by_clap(sounds, 30.0), by_clap(sounds, 30.0, distances=distances)
    assert np.abs(raw.offsets - OFFSETS).max() > 0.025
    assert np.abs(corrected.offsets - OFFSETS).max() < 0.0002


def test_two_claps_a_second_apart_in_one_camera_only_are_a_doubt_not_a_guess():
    sounds = [sound([4.0], 0, 10, 0), sound([4.0, 5.0], 0.3, 10, 1)]
    with pytest.warns(UserWarning, match="cam02: .*by hand"):
        found = by_clap(sounds, 30.0)
    assert found.margin[1] < 0.2 and found.doubts


def test_noise_without_a_shared_sound_is_a_doubt():
    rng = np.random.default_rng(5)
    with pytest.warns(UserWarning, match="by_clap: cam02"):
        by_clap([(rng.standard_normal(96000), 48000.0), (rng.standard_normal(96000), 48000.0)], 30.0)


def test_claps_over_ten_minutes_show_that_a_clock_runs_slow():
    """29.83 fps beside 30: 3.4 s in ten minutes (video-stitcher report), found to a hundredth of a frame per minute."""
    claps = np.arange(2.0, 118.0, 9.5)
    stretch = np.array([1.0, 29.83 / 30.0, 1 + 40e-6])
    sounds = [
        sound(claps, o, 120, k, rate=8000, stretch=s)
        for k, (o, s) in enumerate(zip((0.0, 0.31, -0.12), stretch, strict=True))
    ]
    found = by_clap(sounds, 30.0, max_seconds=3.0, windows=12)
    assert np.abs(found.rates / (30 * stretch) - 1).max() < 10e-6
    assert np.abs(found.offsets - (0.0, 0.31, -0.12)).max() < 0.001


def test_silence_and_wrong_sounds_are_refused():
    loud = sound([2.0], 0, 6, 0)
    with pytest.raises(ValueError, match="cam02: the recording is silent"):
        by_clap([loud, (np.zeros(48000), 48000.0)], 30.0)
    with pytest.raises(ValueError, match="samples in one channel"):
        by_clap([loud, (np.zeros((48000, 2)), 48000.0)], 30.0)
    with pytest.raises(ValueError, match="not finite"):
        by_clap([loud, (np.full(48000, np.nan), 48000.0)], 30.0)
    with pytest.raises(ValueError, match="at least 2000 samples per second"):
        by_clap([loud, (np.ones(4800), 480.0)], 30.0)
    with pytest.raises(ValueError, match="fps: expected one number, or one for each of 2"):
        by_clap([loud, loud], (30.0, 30.0, 30.0))
    with pytest.raises(KeyError, match="no camera 'left'"):
        by_clap([loud, loud], 30.0, reference="left")
    with pytest.raises(ValueError, match="distances"):
        by_clap([loud, loud], 30.0, distances=[1.0])


@pytest.mark.parametrize("width", [1, 2, 4])
def test_wav_files_of_any_width_and_channels(tmp_path, width):
    samples, rate = sound([1.0], 0, 2, 3, rate=8000)
    samples = samples / np.abs(samples).max()
    full = 2 ** (8 * width - 1) - 1
    whole = np.round(samples * full)
    stored = (whole + 128).astype(np.uint8) if width == 1 else whole.astype({2: "<i2", 4: "<i4"}[width])
    with wave.open(str(tmp_path / "a.wav"), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(width)
        file.setframerate(8000)
        file.writeframes(np.repeat(stored, 2).tobytes())
    read, read_rate = read_wav(tmp_path / "a.wav")
    assert read_rate == rate and read.shape == samples.shape
    assert np.abs(read - samples).max() < 1.1 / full


def test_broken_wav_files_are_named(tmp_path):
    (tmp_path / "text.wav").write_text("not sound")
    (tmp_path / "short.wav").write_bytes(b"RIFF\x00\x00")
    (tmp_path / "empty.wav").write_bytes(b"")
    for name in ("text.wav", "short.wav", "empty.wav"):
        with pytest.raises(ValueError, match=name):
            read_wav(tmp_path / name)
    with pytest.raises(FileNotFoundError, match="extract_sound"):
        read_wav(tmp_path / "none.wav")


def test_a_flash_places_cameras_within_a_frame():
    """The partly lit first frame gives the fraction; rounding to frames would leave up to 0.5."""
    series = [light([(5.013, 5.4)], o, 30.0, 12, k) for k, o in enumerate(OFFSETS)]
    found = by_flash(series, 30.0)
    assert np.abs((found.offsets - OFFSETS) * 30).max() < 0.03
    assert (found.spread[1:] * 30 < 0.05).all() and (found.margin[1:] == 1).all() and not found.doubts


def test_flash_with_unequal_rates_and_lengths():
    rates = np.array([30.0, 25.0, 60.0, 30000 / 1001])
    series = [light([(5.013, 5.5)], o, r, 9 + k, k) for k, (o, r) in enumerate(zip(OFFSETS, rates, strict=True))]
    assert np.abs(by_flash(series, rates).offsets - OFFSETS).max() < 0.002


def test_flashes_minutes_apart_give_the_rate():
    """29.97 read as 30: 0.6 s in ten minutes."""
    lamps = [(t, t + 0.3) for t in (3.011, 64.4, 190.2, 590.7)]
    truth = np.array([30.0, 30000 / 1001, 30.0])
    offsets = np.array([0.0, 0.5, -0.25])
    series = [light(lamps, o, r, 600, k) for k, (o, r) in enumerate(zip(offsets, truth, strict=True))]
    found = by_flash(series, 30.0)
    assert np.abs(found.rates / truth - 1).max() < 5e-6
    assert np.abs((found.offsets - offsets) * 30).max() < 0.05
    assert found.rates[2] == 30.0


def test_a_short_flash_admits_that_it_is_uncertain():
    found = find_flashes(light([(2.013, 2.018)], 0, 30.0, 5, 0))
    assert len(found.frames) == 1 and found.spread[0] >= 0.3 and abs(found.frames[0] - 2.013 * 30) < 1
    assert find_flashes(light([(2.013, 2.5)], 0, 30.0, 5, 0)).spread[0] < 0.05


def test_light_that_comes_on_while_the_shutter_is_shut():
    found = find_flashes(light([(2.0 + 0.8 / 30, 2.5)], 0, 30.0, 5, 0, exposure=0.5), exposure=0.5)
    assert abs(found.frames[0] - 60.75) < 0.02 and found.spread[0] > 0.1
    open_shutter = find_flashes(light([(2.0 + 0.2 / 30, 2.5)], 0, 30.0, 5, 0, exposure=0.5), exposure=0.5)
    assert abs(open_shutter.frames[0] - 60.2) < 0.03


def test_one_flash_of_two_is_a_doubt():
    series = [light([(5.0, 5.3)], 0, 30.0, 10, 0), light([(5.0, 5.3), (8.0, 8.3)], 0.2, 30.0, 10, 1)]
    with pytest.warns(UserWarning, match="cam02: another flash fits"):
        assert by_flash(series, 30.0).margin[1] < 0.2


def test_no_flash_and_malformed_brightness_are_refused():
    good = light([(2.0, 2.4)], 0, 30.0, 5, 0)
    with pytest.raises(ValueError, match="cam02: no flash"):
        by_flash([good, light([], 0, 30.0, 5, 1)], 30.0)
    with pytest.raises(ValueError, match="cam02: no flash"):
        by_flash([good, np.full(100, 80.0)], 30.0)
    with pytest.raises(ValueError, match="cam02: brightness: expected"):
        by_flash([good, np.ones((5, 2))], 30.0)
    with pytest.raises(ValueError, match="cam02: brightness: 1 values are not finite"):
        by_flash([good, np.array([1, 2, np.nan, 4, 5.0])], 30.0)
    with pytest.raises(ValueError, match="exposure"):
        find_flashes(good, exposure=0)


@pytest.fixture(scope="module")
def videos(tmp_path_factory):
    """Two short videos, 60 and 57 frames, the second 3 frames late... with a flash and a clap 1 s into the first."""
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    pytest.importorskip("cv2")
    folder = tmp_path_factory.mktemp("videos")
    for name, count, late in (("a", 60, 0.0), ("b", 57, 3.0)):
        levels = light([(1.0 + 0.4 / 30, 1.3)], late / 30, 30.0, count / 30, 0, noise=0.0)
        samples, _ = sound([1.0], late / 30, count / 30, int(late), rate=48000)
        whole = np.round(20000 * np.clip(samples / np.abs(samples).max(), -1, 1)).astype("<i2")
        with wave.open(str(folder / f"{name}.wav"), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(48000)
            file.writeframes(whole.tobytes())
        writer = ffmpeg.write_frames(
            folder / f"{name}.mp4", (64, 48), fps=30, audio_path=str(folder / f"{name}.wav"), audio_codec="aac"
        )
        writer.send(None)
        for level in levels:
            writer.send(np.full((48, 64, 3), round(level), dtype=np.uint8).tobytes())
        writer.close()
    return folder


def test_frames_are_counted_by_decoding_and_unequal_counts_are_listed(videos):
    scans = [scan_video(videos / f"{name}.mp4") for name in "ab"]
    assert [scan.frames for scan in scans] == [60, 57]
    assert scans[0].size == (64, 48) and scans[0].stated_fps == pytest.approx(30)
    rows = list_frames(scans)
    assert [row["decoded frames"] for row in rows] == [60, 57]
    assert rows[0]["note"] == "" and "3 frames fewer" in rows[1]["note"]
    lying = scans[0]._replace(stated_frames=61, stated_fps=24.0)
    note = list_frames([lying, scans[0]])[0]["note"]
    assert "header says 61 frames" in note and "header says 24 fps, its timestamps 30.000" in note


def test_videos_synchronise_by_flash_and_by_clap(videos, tmp_path):
    scans = [scan_video(videos / f"{name}.mp4") for name in "ab"]
    late = by_flash([scan.brightness for scan in scans], 30.0).frames_late
    assert abs(late[1] - 3.0) < 0.1
    sounds = [read_wav(extract_sound(videos / f"{name}.mp4", tmp_path / f"{name}.wav")) for name in "ab"]
    assert abs(by_clap(sounds, 30.0).frames_late[1] - 3.0) < 0.1


def test_videos_that_are_none_are_refused(tmp_path):
    pytest.importorskip("cv2")
    (tmp_path / "text.mp4").write_text("no video")
    with pytest.raises(FileNotFoundError, match="no video"):
        scan_video(tmp_path / "none.mp4")
    with pytest.raises(ValueError, match="not one frame could be decoded"):
        scan_video(tmp_path / "text.mp4")
    pytest.importorskip("imageio_ffmpeg")
    with pytest.raises(ValueError, match="no sound could be read"):
        extract_sound(tmp_path / "text.mp4", tmp_path / "out.wav")
