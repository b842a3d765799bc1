/* Two films side by side (one above the other on a phone) and five answers, as a jsPsych plugin. */
(function (study) {
  "use strict";

  const { element, text } = study;
  const { ParameterType } = jsPsychModule;
  const PATIENCE = 20000;

  const sources = (film, base) =>
    Object.entries(film.files).map(([form, name]) => element("source", { src: name.startsWith("data:") ? name : base + name, type: `video/${form}` }));

  function makeVideo(film, base, size) {
    const made = element("video", { muted: true, playsinline: true, preload: "auto", disablepictureinpicture: true, disableremoteplayback: true, tabindex: -1 }, ...sources(film, base));
    made.muted = true; // the attribute alone does not mute a film made by script
    if (size) [made.width, made.height] = size;
    made.addEventListener("contextmenu", (event) => event.preventDefault());
    return made;
  }

  /* Films of the next trial, loaded while this one is watched. */
  const ahead = new Map();
  study.preload = function (names, films, base) {
    ahead.clear();
    for (const name of names) ahead.set(name, makeVideo(films[name], base));
  };

  const ready = (video) =>
    new Promise((done, failed) => {
      const limit = setTimeout(() => failed(new Error("too slow")), PATIENCE);
      const settle = (result) => () => (clearTimeout(limit), result());
      if (video.readyState >= 4) return settle(done)();
      video.addEventListener("canplaythrough", settle(done), { once: true });
      video.addEventListener("error", settle(() => failed(new Error("not playable"))), { once: true });
      video.lastElementChild?.addEventListener("error", settle(() => failed(new Error("not found"))), { once: true });
      video.load();
    });

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
      let [open, watched, started] = [true, false, performance.now()];
      const videos = trial.films.map((film) => makeVideo(film, trial.base, trial.size));
      const group = study.choices("answer", trial.question, trial.options.map(([value, label], i) => [value, label, String(i + 1)]), true);
      group.querySelector("legend").className = "hidden";
      const inputs = [...group.querySelectorAll("input")];
      const status = element("p", { class: "status", role: "status" }, text("loading"));
      const confirm = study.button(asked ? text("confirm") : text("next"), () => submit(), text("enter_key"));
      const again = element("button", { type: "button", class: "plain", onclick: () => replay() }, text("replay"), element("kbd", {}, "R"));
      const figures = videos.map((video, i) => element("figure", {}, element("figcaption", {}, trial.captions[i]), video));
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

      function progress() {
        if (!open) return;
        const [a, b] = videos;
        seen.drift = Math.max(seen.drift, a.ended || b.ended ? 0 : Math.abs(a.currentTime - b.currentTime));
        const share = Math.min(...videos.map((v) => (v.ended ? 1 : v.currentTime / (v.duration || Infinity))));
        seen.watched = Math.max(seen.watched, share);
        if (!watched && share >= Math.min(trial.least, 0.999)) {
          watched = true;
          status.textContent = asked ? text("choose_now") : "";
          allow(true);
        } else if (watched) allow(true);
        if (!videos.every((v) => v.ended)) requestAnimationFrame(progress);
      }

      const play = async () => {
        for (const video of videos) video.currentTime = 0;
        try {
          await Promise.all(videos.map((video) => video.play()));
        } catch {
          // some browsers want a touch before a film may play
          status.replaceChildren(study.button(text("play"), play));
          return;
        }
        status.textContent = watched ? text("choose_now") : text("watch_first");
        requestAnimationFrame(progress);
      };
      for (const video of videos) video.addEventListener("ended", progress);

      const load = () =>
        Promise.all(videos.map(ready)).then(
          () => {
            trial.begin();
            started = performance.now();
            return play();
          },
          () => status.replaceChildren(text("video_failed"), " ", study.button(text("try_again"), () => {
            status.textContent = text("loading");
            load();
          })),
        );

      const replay = () => {
        if (!open || again.disabled || videos.some((v) => !v.ended && !v.paused)) return;
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
        for (const video of videos) seen.dropped += video.getVideoPlaybackQuality?.().droppedVideoFrames ?? 0;
        document.removeEventListener("keydown", pressed);
        document.removeEventListener("visibilitychange", looked);
        const result = { ...seen, value, seconds: (performance.now() - started) / 1000 };
        trial.keep(result);
        for (const video of videos) {
          video.pause();
          video.replaceChildren();
          video.load();
        }
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
      load();
    }
  }
  study.TwoFilms = TwoFilms;
})((window.motionbookStudy = window.motionbookStudy || {}));
