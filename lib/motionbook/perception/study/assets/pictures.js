/* Two films as single pictures on canvases, for browsers that play neither of their formats; one clock moves both. */
(function (study) {
  "use strict";

  const { element } = study;
  // pictures decoded before their time, of each film; a picture of 692 x 540 takes 1.5 MB
  const AHEAD = 12;
  const HASTE = 1e-4; // seconds, against the rounding of a frame's time

  /* The scripts of pictures put what they bring here, by their own name. */
  study.reels = {};
  let kept = new Map();

  function fetchReel(name, base) {
    return new Promise((done, failed) => {
      const script = element("script", { src: base + name });
      const limit = setTimeout(() => end(failed, new Error("too slow")), study.patience);
      function end(settle, value) {
        clearTimeout(limit);
        script.remove();
        delete study.reels[name];
        settle(value);
      }
      script.onload = () => (study.reels[name] ? end(done, study.reels[name]) : end(failed, new Error("not readable")));
      script.onerror = () => end(failed, new Error("not found"));
      document.head.append(script);
    });
  }

  function loadReel(film, base) {
    const name = film.pictures;
    if (typeof name !== "string") return Promise.resolve(name);
    if (!kept.has(name)) {
      const coming = fetchReel(name, base);
      kept.set(name, coming);
      coming.catch(() => kept.get(name) === coming && kept.delete(name));
    }
    return kept.get(name);
  }

  study.preloadPictures = function (films, base) {
    const wanted = new Set(films.map((film) => film.pictures));
    kept = new Map([...kept].filter(([name]) => wanted.has(name)));
    for (const film of films) loadReel(film, base).catch(() => {});
  };

  function toBlob(coded) {
    const text = atob(coded);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return new Blob([bytes], { type: "image/jpeg" });
  }

  /* A picture ready to be drawn, made beside the page's other work. */
  async function decode(coded) {
    const blob = toBlob(coded);
    if (window.createImageBitmap) return createImageBitmap(blob);
    const image = new Image();
    image.src = URL.createObjectURL(blob);
    await image.decode();
    URL.revokeObjectURL(image.src);
    return image;
  }

  /* One canvas and the pictures in hand for it. */
  class Screen {
    constructor(size) {
      this.canvas = element("canvas", { role: "img" });
      if (size) [this.canvas.width, this.canvas.height] = size;
      this.canvas.addEventListener("contextmenu", (event) => event.preventDefault());
      this.context = this.canvas.getContext("2d");
      this.hand = new Map();
      this.dropped = 0;
    }

    get seconds() {
      return this.reel.frames.length / this.reel.fps;
    }

    /* Back to before the first picture; comes when the first few can be drawn. */
    rewind() {
      this.release(Infinity);
      this.drawn = -1;
      return Promise.all(this.prepare(0));
    }

    prepare(from) {
      const made = [];
      const until = Math.min(from + AHEAD, this.reel.frames.length);
      for (let i = from; i < until && this.hand.size < AHEAD; i++) {
        if (this.hand.has(i)) continue;
        const entry = { picture: null };
        this.hand.set(i, entry);
        const coming = decode(this.reel.frames[i]).then((picture) => {
          if (this.hand.get(i) === entry) entry.picture = picture;
          else picture.close?.();
        });
        coming.catch(() => this.hand.get(i) === entry && this.onbroken?.());
        made.push(coming);
      }
      return made;
    }

    release(before) {
      for (const [i, entry] of this.hand) {
        if (i >= before) continue;
        entry.picture?.close?.();
        this.hand.delete(i);
      }
    }

    /* Draw the picture of a time, or the last before it that is in hand; those passed over are dropped frames. */
    show(time) {
      const due = Math.min(Math.floor((time + HASTE) * this.reel.fps), this.reel.frames.length - 1);
      let i = due;
      while (i > this.drawn && !this.hand.get(i)?.picture) i -= 1;
      if (i > this.drawn) {
        this.context.drawImage(this.hand.get(i).picture, 0, 0, this.canvas.width, this.canvas.height);
        this.dropped += i - this.drawn - 1;
        this.drawn = i;
        this.release(i + 1);
      }
      this.prepare(Math.max(this.drawn + 1, due));
    }

    /* Seconds shown so far, never ahead of what is on the canvas. */
    reached(time) {
      return Math.min(time, (this.drawn + 1) / this.reel.fps);
    }

    ended(time) {
      return time >= this.seconds && this.drawn === this.reel.frames.length - 1;
    }
  }

  study.pictureShow = function (films, base, size) {
    const screens = films.map(() => new Screen(size));
    let asked = false; // to play, which the clock does once the first pictures are in hand
    let playing = false;
    let began = 0; // on the clock of the page
    let heldAt = null;
    let request = 0;
    const clock = () => ((heldAt ?? performance.now()) - began) / 1000;
    const over = () => screens.every((screen) => screen.ended(clock()));

    function draw(now) {
      for (const screen of screens) screen.show(((heldAt ?? now) - began) / 1000);
      if (!over()) request = requestAnimationFrame(draw);
      else {
        asked = playing = false;
        show.onended?.();
      }
    }

    /* Pictures that nobody can see do not count as watched: the clock waits for the page. */
    function looked() {
      if (!playing) return;
      if (document.hidden) heldAt ??= performance.now();
      else if (heldAt !== null) {
        began += performance.now() - heldAt;
        heldAt = null;
      }
    }
    document.addEventListener("visibilitychange", looked);

    const show = {
      screens: screens.map((screen) => screen.canvas),
      shown: "pictures",
      async load() {
        const reels = await Promise.all(films.map((film) => loadReel(film, base)));
        for (const [i, screen] of screens.entries()) screen.reel = reels[i];
        await Promise.all(screens.map((screen) => screen.rewind()));
      },
      async play() {
        cancelAnimationFrame(request);
        [asked, playing] = [true, false];
        if (screens.some((screen) => screen.drawn >= 0)) await Promise.all(screens.map((screen) => screen.rewind()));
        await new Promise((done) => {
          request = requestAnimationFrame((now) => {
            [playing, heldAt, began] = [true, null, now];
            draw(now);
            done();
          });
        });
      },
      state() {
        const time = clock();
        const [a, b] = screens;
        return {
          drift: a.ended(time) || b.ended(time) ? 0 : Math.abs(a.drawn / a.reel.fps - b.drawn / b.reel.fps),
          share: Math.min(...screens.map((screen) => (screen.ended(time) ? 1 : screen.reached(time) / screen.seconds))),
          over: over(),
        };
      },
      moving: () => asked,
      dropped: () => screens.reduce((sum, screen) => sum + screen.dropped, 0),
      stop() {
        asked = playing = false;
        cancelAnimationFrame(request);
        document.removeEventListener("visibilitychange", looked);
        for (const screen of screens) screen.release(Infinity);
      },
    };
    for (const screen of screens) screen.onbroken = () => show.onbroken?.();
    return show;
  };
})((window.motionbookStudy = window.motionbookStudy || {}));
