"""Plans: what is balanced, what is fixed, what the hash says; and the table of texts."""

import itertools
import json
import re
import shutil
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from study_participant import LOOK, write_clips

from motionbook.bvh import read_bvh, write_bvh
from motionbook.perception.responses import ATTENTION
from motionbook.perception.study import balance, balance_text, make_plan, pair_plan, plan_hash, rating_plan, read_plan
from motionbook.perception.study.building import _natural
from motionbook.perception.study.site import LANGUAGES, PageSettings, strings
from motionbook.perception.study.stimuli import find_pairs
from motionbook.perception.study.videos import make_videos

SYSTEMS = ("GT", "NN", "NOISE", "SLERP", "SLERP-Q")
CLIPS = tuple(f"{i:02d}" for i in range(50))


def scored(plan, slot=None):
    people = plan["people"] if slot is None else [plan["people"][slot]]
    return [t for person in people for t in person["trials"] if t["kind"] == "scored"]


@pytest.mark.parametrize("people", [1, 7, 118])
def test_pairs_sides_clips_and_cells_are_even(people):
    plan = pair_plan(SYSTEMS, CLIPS, people, seed=people)
    tables = balance(plan)
    pairs, systems = tables["pairs"], tables["systems"]
    assert len(pairs) == 10 and pairs.shown.max() - pairs.shown.min() <= 1
    assert (pairs["first left"] - pairs["second left"]).abs().max() <= 1
    assert systems.shown.max() - systems.shown.min() <= 4 and (systems.left - systems.right).abs().max() <= 4
    assert tables["clips"].shown.max() - tables["clips"].shown.min() <= 2
    assert (pairs["most per clip"] - pairs["least per clip"]).max() <= 2
    assert all(t["videos"] == [f"{t['left']}/{t['clip']}", f"{t['right']}/{t['clip']}"] for t in scored(plan))


def test_the_published_layout_of_twenty_trials():
    plan = pair_plan(SYSTEMS, CLIPS, 200)
    firsts, lasts = set(), set()
    for person in plan["people"]:
        trials = [t for t in person["trials"] if t["count"] is not None]
        assert [t["count"] for t in trials] == list(range(20))
        assert [(t["kind"], t["left"], t["right"]) for t in trials[:2]] == [
            ("calibration", "NOISE", "GT"),
            ("calibration", "GT", "SLERP"),
        ], "the same two for all"
        kinds = Counter(t["kind"] for t in trials)
        assert kinds == {"calibration": 2, "attention": 2, "scored": 16}
        first, last = (t["count"] for t in trials if t["kind"] == "attention")
        firsts.add(first)
        lasts.add(last)
        assert all(t["left"] == t["right"] == ATTENTION and t["expected"] == 2 for t in trials if "expected" in t)
        assert max(Counter(t["clip"] for t in trials if t["kind"] == "scored").values()) == 1
        assert len({frozenset((t["left"], t["right"])) for t in trials if t["kind"] == "scored"}) >= 8
    assert len(firsts) >= 4 and len(lasts) >= 4 and max(firsts) < 10 < min(lasts), "random places, early and late"


def test_the_seed_makes_the_plan_and_the_hash_tells_it(tmp_path):
    plan = pair_plan(SYSTEMS, CLIPS, 5, seed=3)
    assert plan == pair_plan(SYSTEMS, CLIPS, 5, seed=3) and plan["hash"] == plan_hash(plan)
    assert plan["hash"] != pair_plan(SYSTEMS, CLIPS, 5, seed=4)["hash"]
    (tmp_path / "plan.json").write_text(json.dumps(plan, indent=2))
    assert read_plan(tmp_path) == plan, "spacing is no part of it"
    changed = json.loads(json.dumps(plan))
    changed["people"][0]["trials"][4]["left"] = "GT"
    (tmp_path / "plan.json").write_text(json.dumps(changed))
    with pytest.raises(ValueError, match="changed after it was made"):
        read_plan(tmp_path)


def test_small_studies_and_wrong_ones():
    plan = pair_plan(["A", "B"], ["x"], 3, scored=5)
    assert balance(plan)["pairs"].shown.tolist() == [15] and "A - B" in balance_text(plan)
    for arguments, words in (
        ((["A"], ["x"], 1), "at least two"),
        ((["A", "B"], [], 1), "clips"),
        ((["A", "B"], ["x"], 0), "people"),
    ):
        with pytest.raises(ValueError, match=words):
            pair_plan(*arguments)
    with pytest.raises(ValueError, match="no system C"):
        pair_plan(["A", "B"], ["x"], 1, calibration=[("A", "C")])


STIMULI = {f"{s}_{d}_{k}": s for s in ("deb", "pat", "hop1", "hop2") for d in ("glide", "twist") for k in range(5)}


def test_no_source_comes_twice_in_a_row():
    for seed, people in itertools.product(range(20), [4]):
        plan = rating_plan(STIMULI, people, seed=seed)
        for slot in range(people):
            order = [t["clip"] for t in scored(plan, slot)]
            assert len(order) == 40 and all(a != b for a, b in itertools.pairwise(order))
            assert sorted(t["right"] for t in scored(plan, slot)) == sorted(STIMULI)
    orders = {tuple(t["right"] for t in scored(plan, slot)) for slot in range(4)}
    assert len(orders) == 4, "everyone has another order"
    tight = {"a1": "a", "a2": "a", "a3": "a", "b1": "b", "b2": "b"}
    assert [t["clip"] for t in scored(rating_plan(tight, 1))] == list("ababa")
    with pytest.raises(ValueError, match="no order keeps them apart"):
        rating_plan({"a1": "a", "a2": "a", "b1": "b", "a3": "a"}, 1)


def test_parts_are_rated_equally_often_and_groups_stay_apart():
    plan = rating_plan(STIMULI, 30, scored=12)
    rated = Counter(t["right"] for t in scored(plan))
    assert len(rated) == 40 and max(rated.values()) - min(rated.values()) <= 1
    groups = {"deb": "walk", "pat": "walk", "hop1": "hop", "hop2": "hop"}
    plan = rating_plan(STIMULI, 6, groups=groups, training=[("deb_glide_0", 1)], practice=["pat_twist_2"])
    for slot, person in enumerate(plan["people"]):
        assert {groups[t["clip"]] for t in scored(plan, slot)} == {person["group"]}
        assert [t["kind"] for t in person["trials"][:2]] == ["training", "practice"]
        assert all(t["videos"][0] == f"reference/{t['clip']}" for t in scored(plan, slot)), "reference left"
    assert Counter(p["group"] for p in plan["people"]) == {"walk": 3, "hop": 3}


def test_a_plan_from_a_folder_names_what_is_missing(tmp_path):
    write_clips(tmp_path / "pairs")
    plan, files = make_plan(tmp_path / "pairs", "pairs", people=2)
    assert plan["systems"] == ["GT", "NOISE", "SLERP"] and len(files) == 6
    (tmp_path / "pairs" / "NOISE" / "01.bvh").unlink()
    with pytest.raises(ValueError, match="NOISE lacks 01"):
        make_plan(tmp_path / "pairs", "pairs")
    with pytest.raises(ValueError, match="no folder"):
        make_plan(tmp_path / "nowhere", "pairs")
    with pytest.raises(ValueError, match="0 references"):
        make_plan(tmp_path / "pairs", "dsis")
    names = [
        f"{part}/{s}"
        for part in ("reference", "glide/1", "glide/2", "glide/10")
        for s in ("walk_a", "walk_b", "hop_b", "hop_c")
    ]
    for name in names:
        path = tmp_path / "dsis" / f"{name}.bvh"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("not read for a plan")
    plan, files = make_plan(
        tmp_path / "dsis", "dsis", people=2, between="^(walk|hop)", training=3, practice=1, checks=0
    )
    assert len(files) == 16 and {p["group"] for p in plan["people"]} == {"walk", "hop"}
    proposed = [t["expected"] for t in plan["people"][0]["trials"] if t["kind"] == "training"]
    assert proposed == [1, 3, 5], "strengths 1, 2, 10 from imperceptible to very annoying"
    with pytest.raises(ValueError, match="finds no group in hop_"):
        make_plan(tmp_path / "dsis", "dsis", between="^(walk)")


def test_strengths_are_ordered_as_numbers():
    assert sorted(["10", "2", "1.5", "a"], key=_natural) == ["1.5", "2", "10", "a"]


def test_every_text_is_there_in_every_language_with_the_same_blanks():
    for key, texts in strings().items():
        assert set(texts) == set(LANGUAGES), key
        blanks = {language: sorted(re.findall(r"\{(\w+)\}", text)) for language, text in texts.items()}
        assert blanks["es"] == blanks["en"] == blanks["eu"], key
        assert all(text.strip() == text and text for text in texts.values()), key
        assert all(len(text) <= 1.7 * len(texts["en"]) + 14 for text in texts.values()), f"{key} needs room"
        assert all(text.count("\n\n") == texts["en"].count("\n\n") for text in texts.values()), key


def test_the_scripts_ask_for_no_text_that_is_missing():
    from motionbook.perception.study.vendor import ASSETS

    known = set(strings())
    for path in ASSETS.glob("*.js"):
        for key in re.findall(r'\btext\("(\w+)"', path.read_text(encoding="utf-8")):
            assert key in known, f"{path.name}: {key}"
    assert "Which video is the most natural and realistic one?" == strings()["question_pairs"]["en"]


def test_settings_are_checked():
    for wrong in (
        {"languages": ("fr",)},
        {"resume": "never"},
        {"age": "no"},
        {"least_watched": 2.0},
        {"endpoint": "x"},
    ):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            PageSettings(**wrong)


def test_films_given_ready_are_taken_and_must_be_of_one_size(tmp_path):
    pytest.importorskip("imageio_ffmpeg")
    clips = write_clips(tmp_path / "clips", clips=1)
    files = find_pairs(clips).files
    films = make_videos(files, tmp_path / "films", LOOK)
    ready = tmp_path / "ready"
    for name, film in films.items():
        (ready / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(tmp_path / "films" / film["files"]["webm"], ready / f"{name}.webm")
    taken = make_videos(find_pairs(ready).files, tmp_path / "taken", LOOK)
    assert {tuple(film["size"]) for film in taken.values()} == {(64, 48)}
    large = make_videos(files[:1], tmp_path / "large", LOOK._replace(size=(80, 48)))
    shutil.copy(tmp_path / "large" / large[files[0].name]["files"]["webm"], ready / f"{files[0].name}.webm")
    with pytest.raises(ValueError, match="must be of one size"):
        make_videos(find_pairs(ready).files, tmp_path / "taken", LOOK)
    (ready / f"{files[0].name}.webm").unlink()
    shutil.copy(files[0].path, ready / f"{files[0].name}.bvh")
    with pytest.raises(ValueError, match="partly motion, partly videos"):
        make_videos(find_pairs(ready).files, tmp_path / "taken", LOOK)


def test_all_clips_of_a_scene_share_the_camera(tmp_path):
    """One system walks off: the other's film must show it as small."""
    pytest.importorskip("imageio_ffmpeg")
    files = find_pairs(write_clips(tmp_path / "clips", clips=1)).files
    alone = make_videos(files[:1], tmp_path / "alone", LOOK)[files[0].name]["files"]["webm"]
    clip = read_bvh(files[1].path)
    write_bvh(replace(clip, root_positions=clip.root_positions + np.array([3.0, 0.0, 0.0])), files[1].path)
    beside = make_videos(files, tmp_path / "beside", LOOK)[files[0].name]["files"]["webm"]
    assert alone != beside and (tmp_path / "alone" / alone).read_bytes() != (tmp_path / "beside" / beside).read_bytes()
