/* What one person did, kept in the browser as a log of events and replayed when the page is loaded again. */
(function (study) {
  "use strict";

  const CRC = Array.from({ length: 256 }, (_, n) => {
    for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
    return n >>> 0;
  });

  /* CRC-32 of a text's UTF-8 bytes, eight hexadecimal digits; Python's zlib.crc32 gives the same. */
  study.checksum = function (text) {
    let crc = 0xffffffff;
    for (const byte of new TextEncoder().encode(text)) crc = CRC[(crc ^ byte) & 255] ^ (crc >>> 8);
    return ((crc ^ 0xffffffff) >>> 0).toString(16).padStart(8, "0");
  };

  /* 2026-02-01 02:22:22, in universal time. */
  study.timestamp = (date = new Date()) => date.toISOString().slice(0, 19).replace("T", " ");

  study.randomName = function () {
    const bytes = crypto.getRandomValues(new Uint8Array(8));
    return "p" + Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  };

  const memory = new Map();

  /* The browser's own store; without one, a store that lasts as long as the page. */
  study.openStore = function () {
    try {
      const probe = "motionbook-probe";
      localStorage.setItem(probe, "1");
      localStorage.removeItem(probe);
      return { lasting: true, get: (k) => localStorage.getItem(k), put: (k, v) => localStorage.setItem(k, v), drop: (k) => localStorage.removeItem(k) };
    } catch {
      return { lasting: false, get: (k) => memory.get(k) ?? null, put: (k, v) => memory.set(k, v), drop: (k) => memory.delete(k) };
    }
  };

  /* State after a list of events: everything the page needs to know to go on. */
  study.replay = function (events) {
    const state = { read: [], trained: [], begun: {}, rows: [] };
    for (const event of events) {
      if (event.type === "start") Object.assign(state, { participant: event.participant, slot: event.slot, started: event.time });
      else if (event.type === "language") state.language = event.language;
      else if (event.type === "consent") state.consent = { version: event.version, time: event.time };
      else if (event.type === "about") state.about = event.about;
      else if (event.type === "read") state.read.push(event.page);
      else if (event.type === "begin") state.begun[event.place] = (state.begun[event.place] ?? 0) + 1;
      else if (event.type === "trained") state.trained.push(event.place);
      else if (event.type === "answer") state.rows.push(event.row);
      else if (event.type === "finish") state.finished = event.time;
      else if (event.type === "withdraw") state.withdrawn = event.time;
    }
    return state;
  };

  /* The log of this study; unfinished logs older than `days` are not gone on with. */
  study.openLog = function (store, plan, days) {
    const key = `motionbook-study:${plan.slice(0, 16)}`;
    const read = () => JSON.parse(store.get(key) ?? "[]");
    let events = read();
    const age = events.length ? (Date.now() - Date.parse(events[0].time.replace(" ", "T") + "Z")) / 864e5 : 0;
    const over = events.some((event) => event.type === "finish" || event.type === "withdraw");
    if (age > days && !over) {
      store.drop(key);
      events = [];
    }
    const log = {
      events: () => events,
      state: study.replay(events),
      /* In the store before anything else happens, so that a reload at any moment loses nothing. */
      append(event) {
        if (read().length !== events.length) {
          // another tab of this study has gone on; this one must not write over it
          location.reload();
          throw new Error("the study has gone on in another tab");
        }
        events = [...events, { ...event, time: study.timestamp() }];
        store.put(key, JSON.stringify(events));
        log.state = study.replay(events);
      },
      clear() {
        store.drop(key);
        events = [];
        log.state = study.replay(events);
      },
    };
    return log;
  };
})((window.motionbookStudy = window.motionbookStudy || {}));
