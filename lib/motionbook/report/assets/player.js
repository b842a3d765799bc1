// Mounts a motion player on every <div class="skel-player"> of a page; one classic script, so that it runs from file://.
import css from "./player.css";
import { decode, durationOf } from "./clips.js";
import { Stage } from "./stage.js";

const ICONS = {
  play: '<path d="M7 4.6v14.8L19.4 12z"/>',
  pause: '<path d="M6.5 5h4v14h-4zM13.5 5h4v14h-4z"/>',
  loop: '<path d="M7 7h9.5v3.2L21 6l-4.5-4.2V5H5v6.5h2zM17 17H7.5v-3.2L3 18l4.5 4.2V19H19v-6.5h-2z"/>',
  overlay: '<path d="M9 4a6 6 0 1 0 0 12A6 6 0 0 0 9 4zm0 2a4 4 0 0 1 3.3 1.8A6 6 0 0 0 9.4 13.9 4 4 0 0 1 9 6zm6 2a6 6 0 1 1 0 12 6 6 0 0 1 0-12z"/>',
  view: '<path d="M12 5V1.5L6.8 6 12 10.5V7a5.5 5.5 0 1 1-5.5 5.5h-2A7.5 7.5 0 1 0 12 5z"/>',
};
const SPEEDS = [0.25, 0.5, 1, 2];

const still = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

function button(icon, label) {
  const node = element("button", { type: "button", "aria-label": label, title: label });
  setIcon(node, icon);
  return node;
}

function setIcon(node, icon) {
  node.innerHTML = `<svg viewBox="0 0 24 24" aria-hidden="true" focusable="false">${ICONS[icon]}</svg>`;
}

function isDark() {
  const theme = document.documentElement.dataset.theme;
  if (theme === "dark" || theme === "light") return theme === "dark";
  return window.matchMedia("(prefers-color-scheme: dark)").matches;
}

class Player {
  constructor(root) {
    this.root = root;
    this.data = JSON.parse(root.querySelector('script[type="application/json"]').textContent);
    this.clips = decode(this.data);
    this.duration = durationOf(this.clips);
    this.fps = this.clips[0].fps;
    this.frames = Math.round(this.duration * this.fps) + 1;
    this.marks = this.data.marks ? this.data.marks.seconds.filter((time) => time <= this.duration + 1e-6) : [];
    this.time = 0;
    this.speed = 1;
    this.looping = true;
    this.playing = false;
    this.visible = false;
    this.pending = 0;
    this.build();
    this.stage = new Stage(this.canvas, this.data, this.clips);
    this.listen();
    this.theme();
    this.fit();
    root.classList.add("skel-mounted");
    root.skelPlayer = this; // for scripts of the page, and for tests
  }

  build() {
    const names = this.clips.map((clip) => clip.label).join(", ");
    this.root.setAttribute("role", "group");
    this.root.setAttribute("aria-label", `Motion player: ${names}`);
    this.canvas = element("canvas", {
      class: "skel-canvas",
      tabindex: "0",
      role: "img",
      "aria-label": `Three-dimensional view of ${names}. Space plays or pauses, the arrow keys step through the frames, drag to turn.`,
    });
    this.legend = element("div", { class: "skel-legend", role: "group", "aria-label": "Clips, from left to right" });
    this.clips.forEach((clip, index) => {
      const chip = element("button", { type: "button", "aria-pressed": "true", title: `Show or hide ${clip.label}` });
      const dot = element("i", { "aria-hidden": "true" });
      dot.style.background = clip.colour;
      chip.append(dot, clip.label);
      chip.addEventListener("click", () => this.toggleClip(index, chip));
      this.legend.append(chip);
    });
    this.play = button("play", "Play");
    this.slider = element("input", { type: "range", min: "0", max: String(this.frames - 1), step: "1", value: "0", "aria-label": "Frame" });
    this.clock = element("span", { class: "skel-clock" });
    this.speeds = element("select", { "aria-label": "Speed", title: "Speed" });
    for (const speed of SPEEDS) this.speeds.append(element("option", { value: String(speed) }, `${speed}×`));
    this.speeds.value = "1";
    this.loop = button("loop", "Loop");
    this.loop.setAttribute("aria-pressed", "true");
    this.overlay = button("overlay", "Lay the people over each other");
    this.overlay.setAttribute("aria-pressed", "false");
    this.overlay.hidden = this.clips.length < 2;
    this.reset = button("view", "Reset the view");
    const scrub = element("span", { class: "skel-scrub" }, this.slider);
    for (const time of this.marks) {
      const share = this.duration > 0 ? time / this.duration : 0;
      const tick = element("i", { class: "skel-mark", "aria-hidden": "true" });
      tick.style.setProperty("--at", String(share));
      scrub.append(tick);
    }
    if (this.marks.length) this.slider.title = `Marked: ${this.data.marks.label}. Page Up and Page Down go from mark to mark.`;
    const bar = element("div", { class: "skel-bar" }, this.play, scrub, this.clock, this.speeds, this.loop, this.overlay, this.reset);
    this.frame = element("div", { class: "skel-frame" }, this.canvas, this.legend, bar);
    this.root.insertBefore(this.frame, this.root.firstChild);
  }

  listen() {
    const { canvas, stage } = this;
    this.play.addEventListener("click", () => this.setPlaying(!this.playing));
    this.slider.addEventListener("input", () => this.goTo(Number(this.slider.value)));
    this.speeds.addEventListener("change", () => (this.speed = Number(this.speeds.value)));
    this.loop.addEventListener("click", () => {
      this.looping = !this.looping;
      this.loop.setAttribute("aria-pressed", String(this.looping));
    });
    this.overlay.addEventListener("click", () => {
      stage.setOverlaid(!stage.overlaid);
      this.overlay.setAttribute("aria-pressed", String(stage.overlaid));
      this.resetView();
    });
    this.reset.addEventListener("click", () => this.resetView());
    this.root.addEventListener("keydown", (event) => this.key(event));
    stage.controls.addEventListener("change", () => this.draw());
    stage.controls.addEventListener("start", () => {
      this.turned = true;
      stage.controls.enableZoom = true;
    });
    canvas.addEventListener("blur", () => (stage.controls.enableZoom = false));
    canvas.addEventListener("pointerdown", () => canvas.focus({ preventScroll: true }));
    canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      this.setPlaying(false);
      this.root.classList.remove("skel-mounted");
    });
    canvas.addEventListener("webglcontextrestored", () => {
      this.root.classList.add("skel-mounted");
      this.draw();
    });
    new ResizeObserver(() => this.fit()).observe(this.frame);
    // a busy page hands over several changes at once; the last is the one that holds
    new IntersectionObserver((entries) => this.setVisible(entries.at(-1).isIntersecting)).observe(this.frame);
    new MutationObserver(() => this.theme()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.theme());
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const step = event.shiftKey ? 10 : 1;
    const now = Math.round(this.time * this.fps);
    const act = {
      " ": () => this.setPlaying(!this.playing),
      ArrowRight: () => this.goTo(now + step),
      ArrowLeft: () => this.goTo(now - step),
      Home: () => this.goTo(0),
      End: () => this.goTo(this.frames - 1),
      ...(this.marks.length ? { PageDown: () => this.goToMark(1), PageUp: () => this.goToMark(-1) } : {}),
    }[event.key];
    const inside = event.target;
    // space on a focused button or list means that button; arrows in the list choose a speed
    if (!act || inside === this.speeds || (event.key === " " && inside.tagName === "BUTTON")) return;
    event.preventDefault();
    act();
  }

  setPlaying(playing) {
    this.playing = playing;
    if (playing && this.time >= this.duration - 1e-6) this.time = 0;
    setIcon(this.play, playing ? "pause" : "play");
    this.play.setAttribute("aria-label", playing ? "Pause" : "Play");
    this.play.title = playing ? "Pause" : "Play";
    this.root.dataset.playing = playing ? "1" : "0";
    this.last = null;
    this.draw();
  }

  goTo(frame) {
    if (this.playing) this.setPlaying(false);
    this.time = Math.min(Math.max(frame, 0), this.frames - 1) / this.fps;
    this.draw();
  }

  goToMark(direction) {
    const frames = this.marks.map((time) => Math.round(time * this.fps));
    const now = Math.round(this.time * this.fps);
    const next = direction > 0 ? frames.find((frame) => frame > now) : frames.filter((frame) => frame < now).at(-1);
    if (next !== undefined) this.goTo(next);
  }

  toggleClip(index, chip) {
    const { lane } = this.stage.lanes[index];
    lane.visible = !lane.visible;
    chip.setAttribute("aria-pressed", String(lane.visible));
    this.draw();
  }

  resetView() {
    this.turned = false;
    this.stage.resetView();
    this.draw();
  }

  setVisible(visible) {
    this.visible = visible;
    this.last = null;
    if (!visible) return;
    if (this.data.autoplay && this.autoplayed !== true) {
      this.autoplayed = true;
      if (!still()) this.setPlaying(true);
    }
    this.draw();
  }

  theme() {
    const dark = isDark();
    this.root.classList.toggle("skel-dark", dark);
    this.stage.setTheme(dark);
    this.draw();
  }

  fit() {
    const { width, height } = this.canvas.getBoundingClientRect();
    if (!width || !height) return;
    this.stage.resize(width, height);
    // a view that the reader has turned stays as it is
    if (!this.turned) this.stage.resetView();
    // at once: the new size has emptied the canvas, and the next picture would come a flash too late
    if (this.visible) this.stage.render(this.time);
    this.draw();
  }

  /** Ask for one picture; while playing each picture asks for the next, while out of sight none is drawn. */
  draw() {
    if (!this.pending && this.visible) this.pending = requestAnimationFrame((now) => this.tick(now));
  }

  tick(now) {
    this.pending = 0;
    if (this.playing) {
      if (this.last != null) this.advance((Math.min(now - this.last, 100) / 1000) * this.speed);
      this.last = now;
    }
    this.stage.render(this.time);
    this.report();
    if (this.playing) this.draw();
  }

  advance(seconds) {
    this.time += seconds;
    if (this.time < this.duration) return;
    if (this.looping && this.duration > 0) this.time %= this.duration;
    else {
      this.time = this.duration;
      this.setPlaying(false);
    }
  }

  report() {
    const frame = Math.round(this.time * this.fps);
    this.slider.value = String(frame);
    const share = this.frames > 1 ? (100 * frame) / (this.frames - 1) : 0;
    this.slider.style.setProperty("--done", `${share}%`);
    const marked = this.marks.some((time) => Math.round(time * this.fps) === frame);
    this.root.dataset.marked = marked ? "1" : "0";
    const also = marked ? `, ${this.data.marks.label}` : "";
    this.slider.setAttribute("aria-valuetext", `frame ${frame}, ${this.time.toFixed(2)} of ${this.duration.toFixed(2)} seconds${also}`);
    this.clock.textContent = `${this.time.toFixed(2)} / ${this.duration.toFixed(2)} s`;
    this.root.dataset.frame = String(frame);
    this.root.dataset.ready = "1";
  }
}

function mount(root) {
  try {
    new Player(root);
  } catch (error) {
    // without WebGL the poster stays and says so; anything else is a fault and goes to the console
    root.querySelectorAll(".skel-frame").forEach((node) => node.remove());
    root.dataset.ready = "poster";
    root.append(element("p", { class: "skel-note" }, "This browser could not start the 3-D view; the picture shows moments of the motion."));
    if (!/WebGL/i.test(String(error))) console.error(error);
  }
}

function mountAll() {
  document.head.append(element("style", {}, css));
  const watch = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        watch.unobserve(target);
        mount(target);
      }
    },
    { rootMargin: "400px" },
  );
  document.querySelectorAll(".skel-player").forEach((root) => watch.observe(root));
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", mountAll);
else mountAll();
