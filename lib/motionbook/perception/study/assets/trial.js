/* Two films (films.js) side by side, one above the other on a phone, and five answers, as a jsPsych plugin. */
(function (study) {
  "use strict";

  const { element, text } = study;
  const { ParameterType } = jsPsychModule;

  class TwoFilms {
    static info = {
      name: "motionbook-two-films",
      version: "1.0.0",
      parameters: {
        films: { type: ParameterType.COMPLEX, default: undefined, array: true },
        captions: { type: ParameterType.STRING, default: undefined, array: true },
        size: { type: ParameterType.COMPLEX, default: null },
        base: { type: ParameterType.STRING, default: "" },
        question: { type: ParameterType.STRING, default: undefined },
        label: { type: ParameterType.STRING, default: "" },
        special: { type: ParameterType.BOOL, default: false },
        /* [value, label] of the five answers */
        options: { type: ParameterType.COMPLEX, default: undefined, array: true },
        /* the answer shown as an example instead of being asked for */
        proposed: { type: ParameterType.INT, default: null },
        /* share of the longer film that must be seen before an answer counts */
        least: { type: ParameterType.FLOAT, default: 1 },
        replays: { type: ParameterType.INT, default: null },
        begin: { type: ParameterType.FUNCTION, default: () => {} },
        /* keeps the answer before the page goes on */
        keep: { type: ParameterType.FUNCTION, default: () => {} },
      },
      data: { value: { type: ParameterType.STRING } },
    };

    constructor(jsPsych) {
      this.jsPsych = jsPsych;
    }

    trial(display, trial) {
      const seen = { replays: 0, hidden: 0, dropped: 0, drift: 0, watched: 0 };
      const asked = trial.proposed === null;
      let [open, watched, begun, started] = [true, false, false, performance.now()];
      const parts = [trial.films, trial.base, trial.size];
      let show = null;
      let round = 0;
      const group = study.choices("answer", trial.question, trial.options.map(([value, label], i) => [value, label, String(i + 1)]), true);
      group.querySelector("legend").className = "hidden";
      const inputs = [...group.querySelectorAll("input")];
      const status = element("p", { class: "status", role: "status" }, text("loading"));
      const confirm = study.button(asked ? text("confirm") : text("next"), () => submit(), text("enter_key"));
      const again = element("button", { type: "button", class: "plain", onclick: () => replay() }, text("replay"), element("kbd", {}, "R"));
      const figures = trial.captions.map((caption) => element("figure", {}, element("figcaption", {}, caption)));
      display.replaceChildren(
        element(
          "section",
          { class: "trial" },
          trial.label ? element("p", { class: "label" }, trial.label) : null,
          element("h1", { tabindex: -1, class: trial.special ? "special" : "" }, trial.question),
          element("div", { class: "pair" }, ...figures),
          element("div", { class: "under" }, status, again),
          group,
          element("div", { class: "confirm" }, confirm),
        ),
      );
      display.firstChild.querySelector("h1").focus({ preventScroll: true });
      window.scrollTo(0, 0);
      const allow = (on) => {
        for (const input of inputs) input.disabled = !on || !asked;
        group.classList.toggle("off", !on);
        confirm.disabled = !on || (asked && group.value() === null);
        again.disabled = !on || (trial.replays !== null && seen.replays >= trial.replays);
      };
      if (!asked) inputs[trial.proposed - 1].checked = true;
      allow(false);

      const put = (made) => {
        if (show) {
          seen.dropped += show.dropped();
          show.onended = show.onbroken = null;
          show.stop();
        }
        round += 1;
        show = made;
        [show.onended, show.onbroken] = [() => progress(), () => broken()];
        for (const [i, screen] of show.screens.entries()) {
          if (screen.matches("canvas")) screen.setAttribute("aria-label", trial.captions[i]);
          figures[i].replaceChildren(figures[i].firstChild, screen);
        }
      };

      function progress(mine = round) {
        if (!open || mine !== round) return;
        const { drift, share, over } = show.state();
        seen.drift = Math.max(seen.drift, drift);
        seen.watched = Math.max(seen.watched, share);
        if (!watched && share >= Math.min(trial.least, 0.999)) {
          watched = true;
          status.textContent = asked ? text("choose_now") : "";
          allow(true);
        } else if (watched) allow(true);
        if (!over) requestAnimationFrame(() => progress(mine));
      }

      const play = async () => {
        const playing = show;
        try {
          await show.play();
        } catch (error) {
          if (show !== playing) return;
          if (show.shown === "pictures" || error.name === "NotSupportedError") return broken();
          // some browsers want a touch before a film may play
          status.replaceChildren(study.button(text("play"), play));
          return;
        }
        if (show !== playing) return;
        status.textContent = watched ? text("choose_now") : text("watch_first");
        requestAnimationFrame(() => progress());
      };

      async function load() {
        const loading = show;
        try {
          await show.load();
        } catch {
          return show === loading && broken();
        }
        if (!open || show !== loading) return;
        if (show.shown === "pictures") study.giveUpFilms();
        if (!begun) {
          trial.begin();
          [begun, started] = [true, performance.now()];
        }
        return play();
      }

      /* The pictures where the films fail; where those fail as well, it is the connection. */
      function broken() {
        if (!open) return;
        const next = study.nextShow(show, ...parts);
        if (next) {
          put(next);
          return void load();
        }
        const retry = study.button(text("try_again"), () => {
          status.textContent = text("loading");
          put(study.openShow(...parts));
          load();
        });
        status.replaceChildren(text("video_failed"), " ", retry);
      }

      const replay = () => {
        if (!open || again.disabled || show.moving()) return;
        seen.replays += 1;
        play();
      };
      const choose = (index) => {
        if (!open || !watched || !asked) return;
        inputs[index].checked = true;
        inputs[index].focus({ preventScroll: true });
        confirm.disabled = false;
      };
      const submit = () => {
        const value = group.value();
        if (!open || !watched || value === null) return;
        open = false;
        seen.dropped += show.dropped();
        document.removeEventListener("keydown", pressed);
        document.removeEventListener("visibilitychange", looked);
        const result = { ...seen, value, shown: show.shown, seconds: (performance.now() - started) / 1000 };
        trial.keep(result);
        show.stop();
        this.jsPsych.finishTrial({ value });
      };
      const pressed = (event) => {
        if (event.ctrlKey || event.altKey || event.metaKey || event.repeat || document.querySelector("dialog[open]")) return;
        const key = event.key.toLowerCase();
        if (key >= "1" && key <= String(inputs.length) && key.length === 1) choose(Number(key) - 1);
        else if (key === "r") replay();
        else if (key === "enter" && !event.target.closest("button")) submit();
        else if (["arrowleft", "arrowright", "arrowup", "arrowdown"].includes(key) && event.target.name !== "answer") {
          // from anywhere else on the page the arrows start in the middle
          event.preventDefault();
          choose(Math.floor(inputs.length / 2));
        } else return;
      };
      const looked = () => (seen.hidden += document.hidden ? 1 : 0);
      document.addEventListener("keydown", pressed);
      document.addEventListener("visibilitychange", looked);
      group.addEventListener("change", () => (confirm.disabled = !watched));
      put(study.openShow(...parts));
      load();
    }
  }
  study.TwoFilms = TwoFilms;
})((window.motionbookStudy = window.motionbookStudy || {}));
