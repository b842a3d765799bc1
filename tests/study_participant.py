"""A person at the study page: a headless browser that uses nothing but its keyboard. And tiny clips for them."""

import json
import time
from dataclasses import replace

import numpy as np

from motionbook import rotations as rot
from motionbook.bvh import write_bvh
from motionbook.perception.study import Look
from motionbook.synthesis.performers import idle, make_performer

LOOK = Look(size=(64, 48), fps=10, seconds=0.3, smooth=1, formats=("webm",))
KEYS = {"Enter": 13, "Tab": 9, "ArrowRight": 39, "ArrowLeft": 37, " ": 32}


def write_clips(folder, systems=("GT", "NOISE", "SLERP"), clips=2):
    """Short clips of a few systems; each system's differs."""
    for number in range(clips):
        clip = idle(make_performer(number, 0), 1.0)
        for strength, system in enumerate(systems):
            turn = rot.from_axis_angle(np.array([0.0, 1.0, 0.0]), 0.1 * strength)
            turned = replace(clip, rotations=rot.multiply(turn, clip.rotations))
            (folder / system).mkdir(parents=True, exist_ok=True)
            write_bvh(turned, folder / system / f"{number:02d}.bvh")
    return folder


class Participant:
    """Answers pages one after the other; ``told`` holds what was chosen by number of the answer."""

    def __init__(self, browser, plan, slot):
        self.browser, self.trials = browser, plan["people"][slot]["trials"]
        self.design, self.told = plan["design"], {}

    def press(self, key):
        self.browser.press(key, KEYS.get(key, ord(key.upper()[0])))

    def sees(self, condition, limit=30):
        """Wait for a condition, also across pages: between two there is none to ask."""
        end = time.monotonic() + limit
        while True:
            try:
                if self.browser.evaluate(f"!!(window.motionbookStudy?.log && ({condition}))"):
                    return
            except RuntimeError:
                pass
            assert time.monotonic() < end, f"waited {limit} s in vain for {condition}"
            time.sleep(0.03)

    def has(self, selector):
        return self.browser.evaluate(f"!!document.querySelector({json.dumps(selector)})")

    def state(self):
        return json.loads(self.browser.evaluate("JSON.stringify(motionbookStudy.log.state)"))

    def choose_language(self, number):
        self.sees("document.querySelector('.page.language')")
        self.press(str(number))

    def consent(self):
        self.sees("document.querySelector('.page.consent')")
        self.press("Enter")
        assert self.browser.evaluate("document.querySelector('.note').textContent.length > 0"), "consent is asked for"
        self.press(" ")
        self.press("Enter")

    def tell_about(self):
        self.sees("document.querySelector('[name=gender]')")
        self.press(" ")
        self.press("ArrowRight")
        self.press("ArrowRight")
        self.press("Tab")
        self.press(" ")
        self.press("Enter")

    def read_on(self, *, after="[name=gender]"):
        self.sees(f"document.querySelector('.page') && !document.querySelector('{after}')")
        self.press("Enter")
        self.sees("document.querySelector('.trial')")

    def begin(self, language=None):
        """Language unless the address gives it, consent, about the person, instructions, up to the first trial."""
        if language is not None:
            self.choose_language(language)
        self.consent()
        self.tell_about()
        self.read_on()

    def place(self):
        """Index of the trial on the screen, from what is done."""
        state = self.state()
        done = set(state["trained"]) | {
            i for i, t in enumerate(self.trials) for row in state["rows"] if str(t["count"]) == row["responseCount"]
        }
        return min(set(range(len(self.trials))) - done)

    def watch(self):
        self.sees("document.querySelector('.choices:not(.off)')")

    def answer(self):
        """Watch and answer the trial on the screen."""
        place = self.place()
        trial = self.trials[place]
        self.watch()
        begun = "motionbookStudy.log.events().filter((e) => e.type === 'begin').at(-1).place"
        assert self.browser.evaluate(begun) == place, "the trial on the screen is the first that is not done"
        low = -2 if self.design == "pairs" else 1
        if trial["kind"] == "training" and "expected" in trial:
            key = None
        elif trial["kind"] == "attention":
            key = str(trial["expected"] - low + 1)
        else:
            key = str(1 + (7 * place) % 5)
        if key and place % 4 == 3 and trial["kind"] != "attention":
            # with the arrows: from the middle, then one on
            self.press("ArrowRight")
            self.press("ArrowRight")
            key = "4"
        elif key:
            self.press(key)
        if trial["count"] is not None:
            self.told[trial["count"]] = str(int(key) - 1 + low)
        self.press("Enter")
        self.sees(f"motionbookStudy.log.state.rows.length + motionbookStudy.log.state.trained.length > {place}")
        last = place + 1 == len(self.trials)
        self.sees("document.querySelector('.page.end')" if last else "document.querySelector('.choices.off')")

    def answer_all(self, until=None):
        while not self.has(".page.end") and (until is None or self.place() < until):
            self.answer()

    def reload(self):
        self.browser.evaluate("window.before = true")
        self.browser.call("Page.reload")
        self.sees("!window.before && document.readyState === 'complete' && window.motionbookStudy?.log")

    def files(self):
        """The two files that the end page offers, as texts."""
        self.browser.evaluate(
            "window.saved = {}; motionbookStudy.download = (name, text) => { saved[name.split('.').pop()] = text; }"
        )
        self.press("c")
        self.press("j")
        saved = self.browser.evaluate("saved")
        return saved["csv"], saved["json"]
