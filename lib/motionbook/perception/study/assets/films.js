/* What a trial shows: two films where the browser can play them, else their single pictures (pictures.js).

   A show has `screens` (two elements for the page), `shown`, load(), play() from the start, state(), moving(),
   dropped() and stop(), and calls `onended` for each film that ends and `onbroken`, both of which the trial sets. */
(function (study) {
  "use strict";

  const { element } = study;
  // milliseconds in which films must have come
  study.patience ??= 20000;

  const sources = (film, base) =>
    Object.entries(film.files).map(([form, name]) => element("source", { src: name.startsWith("data:") ? name : base + name, type: `video/${form}` }));

  function makeVideo(film, base, size) {
    const made = element("video", { muted: true, playsinline: true, preload: "auto", disablepictureinpicture: true, disableremoteplayback: true, tabindex: -1 }, ...sources(film, base));
    made.muted = true; // the attribute alone does not mute a film made by script
    if (size) [made.width, made.height] = size;
    made.addEventListener("contextmenu", (event) => event.preventDefault());
    return made;
  }

  const ready = (video) =>
    new Promise((done, failed) => {
      const limit = setTimeout(() => failed(new Error("too slow")), study.patience);
      const settle = (result) => () => (clearTimeout(limit), result());
      if (video.readyState >= 4) return settle(done)();
      video.addEventListener("canplaythrough", settle(done), { once: true });
      video.addEventListener("error", settle(() => failed(new Error("not playable"))), { once: true });
      video.lastElementChild?.addEventListener("error", settle(() => failed(new Error("not found"))), { once: true });
      video.load();
    });

  function filmShow(films, base, size) {
    const screens = films.map((film) => makeVideo(film, base, size));
    let loaded = false;
    const show = {
      screens,
      shown: "film",
      load: () => Promise.all(screens.map(ready)).then(() => void (loaded = true)),
      play() {
        for (const video of screens) video.currentTime = 0;
        return Promise.all(screens.map((video) => video.play()));
      },
      state() {
        const [a, b] = screens;
        return {
          drift: a.ended || b.ended ? 0 : Math.abs(a.currentTime - b.currentTime),
          share: Math.min(...screens.map((video) => (video.ended ? 1 : video.currentTime / (video.duration || Infinity)))),
          over: screens.every((video) => video.ended),
        };
      },
      moving: () => screens.some((video) => !video.ended && !video.paused),
      dropped: () => screens.reduce((sum, video) => sum + (video.getVideoPlaybackQuality?.().droppedVideoFrames ?? 0), 0),
      stop() {
        loaded = false;
        for (const video of screens) {
          video.pause();
          video.replaceChildren();
          video.load();
        }
      },
    };
    for (const video of screens) {
      video.addEventListener("ended", () => show.onended?.());
      // a film may fail after its first frames, too
      video.addEventListener("error", () => loaded && show.onbroken?.());
    }
    return show;
  }

  // set once films have failed where their pictures came: the connection is not what is wrong
  let unplayable = false;
  study.giveUpFilms = () => (unplayable = true);
  const probe = document.createElement("video");
  const playable = (film) => Object.keys(film.files).some((form) => probe.canPlayType?.(`video/${form}`));
  const hasPictures = (films) => films.every((film) => film.pictures);
  const wantsPictures = (films) => hasPictures(films) && (unplayable || !films.every(playable));

  study.openShow = (films, base, size) => (wantsPictures(films) ? study.pictureShow : filmShow)(films, base, size);

  /* The show to go on with after one has failed: the pictures after the films, and null after those. */
  study.nextShow = (show, films, base, size) => (show.shown === "film" && hasPictures(films) ? study.pictureShow(films, base, size) : null);

  /* What the next trial shows, loaded while this one is watched. */
  study.ahead = [];
  study.preload = function (films, base) {
    if (wantsPictures(films)) study.preloadPictures(films, base);
    else study.ahead = films.map((film) => makeVideo(film, base));
  };
})((window.motionbookStudy = window.motionbookStudy || {}));
