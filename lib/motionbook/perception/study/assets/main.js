/* The course of a study: language, consent, questions about the person, instructions, trials, thanks. */
(function (study) {
  "use strict";

  const { element, text } = study;
  const { config, plan, films, strings, columns } = study.data;
  const store = study.openStore();
  const log = study.openLog(store, plan.hash, config.days);
  const address = new URLSearchParams(location.search);
  const bar = document.getElementById("progress");
  let showEnd = null;
  const queue = study.openQueue(store, plan.hash, config.endpoint, () => showEnd?.());
  study.log = log;
  study.queue = queue;
  study.useStrings(strings);

  const wantedSlot = Number.parseInt(address.get("slot") ?? "", 10);
  const people = plan.people.length;

  /* The place in the plan: from the address, from the endpoint, or by chance. */
  async function findSlot() {
    if (Number.isInteger(wantedSlot) && wantedSlot >= 0) return wantedSlot % people;
    if (config.reserve && config.endpoint) {
      try {
        const about = log.state.about ?? {};
        const ask = `${config.endpoint}?slot=${log.state.participant}&plan=${plan.hash}&gender=${encodeURIComponent(about.gender ?? "")}`;
        const said = await (await fetch(ask, { credentials: "omit", signal: AbortSignal.timeout(5000) })).json();
        if (Number.isInteger(said.slot) && said.slot >= 0 && said.slot < people) return said.slot;
      } catch {
        // no connection: chance spreads people evenly enough
      }
    }
    return crypto.getRandomValues(new Uint32Array(1))[0] % people;
  }

  const contact = () => config.contact || text("contact_default");
  const page = (build) => ({ type: study.PageOfText, build });
  const rated = (trial) => trial.count !== null && trial.count !== undefined;

  function showProgress(done, all) {
    bar.hidden = false;
    bar.querySelector("progress").max = all;
    bar.querySelector("progress").value = done;
    bar.querySelector("span").textContent = text("progress", { done, all });
  }

  function languagePage() {
    return page((finish) => {
      const pick = (name) => {
        log.append({ type: "language", language: name });
        study.useLanguage(name);
        finish();
      };
      const buttons = config.languages.map((name, i) =>
        element("button", { type: "button", class: "main", lang: name, onclick: () => pick(name) }, study.textIn("language_name", name), element("kbd", {}, String(i + 1))),
      );
      const keys = Object.fromEntries(config.languages.map((name, i) => [String(i + 1), () => pick(name)]));
      const guess = config.languages.findIndex((name) => navigator.language?.toLowerCase().startsWith(name));
      const title = config.languages.map((name) => study.textIn("choose_language", name)).join(" · ");
      return { title, kind: "language", body: [element("p", { class: "study-title" }, config.title), ...buttons], keys, first: buttons[Math.max(0, guess)] };
    });
  }

  function consentPage() {
    return page(() => {
      const box = element("input", { type: "checkbox", id: "agree" });
      const own = config.consent[document.documentElement.lang];
      const said = own ?? text("consent_text", { minutes: config.minutes, contact: contact() });
      return {
        title: text("consent_title"),
        kind: "consent",
        body: [
          ...study.paragraphs(said),
          element("p", { class: "small" }, text("consent_version", { version: config.consentVersion })),
          element("label", { class: "agree" }, box, element("span", {}, text("consent_agree"))),
        ],
        first: box,
        submit() {
          if (!box.checked) return text("consent_needed");
          log.append({ type: "consent", version: config.consentVersion });
        },
      };
    });
  }

  function aboutPage() {
    return page(() => {
      const none = ["", text("prefer_not")];
      const gender = study.choices("gender", text("gender"), [
        ["female", text("gender_female")],
        ["male", text("gender_male")],
        ["non-binary", text("gender_nonbinary")],
        none,
      ]);
      const bands = config.age === "band";
      const years = element("input", { type: "number", min: 18, max: 110, step: 1, inputmode: "numeric", id: "years" });
      const age = bands
        ? study.choices("age", text("age"), [...config.ageBands.map((band) => [band, band]), none], true)
        : element("label", { class: "years" }, element("span", {}, text("age_years")), years);
      return {
        title: text("about_title"),
        body: [gender, age],
        first: gender.querySelector("input"),
        submit() {
          const told = { gender: gender.value(), age: bands ? age.value() : years.checkValidity() ? years.value : null };
          if (told.gender === null || told.age === null) return text("answer_all");
          log.append({ type: "about", about: told });
        },
      };
    });
  }

  const textPage = (name, title, body) =>
    page(() => ({ title, body: study.paragraphs(body), button: text("start"), submit: () => log.append({ type: "read", page: name }) }));

  function trialPage(trial, place, trials, next) {
    const all = trials.filter(rated).length;
    const options = plan.design === "pairs" ? [-2, -1, 0, 1, 2] : [1, 2, 3, 4, 5];
    const labels = options.map((value, i) => [String(value), text(`${plan.design}_${i + 1}`)]);
    const example = trial.kind === "training" && trial.expected !== undefined;
    const option = labels[options.indexOf(trial.expected)]?.[1];
    const question = trial.kind === "attention" ? text("attention", { option }) : text(`question_${plan.design}`);
    const practice = ["training", "practice"].includes(trial.kind) ? text("kind_training") : "";
    return {
      type: study.TwoFilms,
      films: trial.videos.map((name) => films[name]),
      base: "videos/",
      size: config.size,
      captions: plan.design === "pairs" ? [text("video_1"), text("video_2")] : [text("video_reference"), text("video_rated")],
      question,
      special: trial.kind === "attention",
      label: example ? text("training_proposed", { score: `${trial.expected}: ${option}` }) : practice,
      options: labels,
      proposed: example ? trial.expected : null,
      least: config.least,
      replays: config.replays,
      on_start: () => showProgress(log.state.rows.length, all),
      begin() {
        log.append({ type: "begin", place });
        if (next) study.preload(next.videos.map((name) => films[name]), "videos/");
      },
      keep(result) {
        if (rated(trial)) {
          const row = makeRow(trial, place, result);
          log.append({ type: "answer", place, row });
          queue.put([study.answerMessage(row)]);
        } else log.append({ type: "trained", place });
      },
    };
  }

  function makeRow(trial, place, result) {
    const state = log.state;
    const id = `${state.participant}-${trial.count}`;
    const numbers = {
      seconds: result.seconds.toFixed(2),
      watched: result.watched.toFixed(2),
      drift: result.drift.toFixed(3),
      interrupted: (state.begun[place] ?? 1) - 1,
      screen: `${window.innerWidth}x${window.innerHeight}`,
    };
    return study.makeRow(columns, {
      ...result,
      ...numbers,
      userID: state.participant,
      subject: state.participant,
      timestamp: study.timestamp(),
      responseCount: trial.count,
      left: trial.left,
      right: trial.right,
      item: trial.right,
      clip: trial.clip,
      source: trial.clip,
      choice: result.value,
      score: result.value,
      language: state.language,
      gender: state.about?.gender,
      age: state.about?.age,
      kind: trial.kind,
      slot: state.slot,
      group: plan.people[state.slot].group,
      scale: plan.scale,
      consent: `${state.consent?.version} ${state.consent?.time}`,
      plan: plan.hash,
      answerID: id,
    });
  }

  function endPage() {
    document.getElementById("withdraw").hidden = true;
    const { rows, participant } = log.state;
    showProgress(rows.length, rows.length);
    const name = `${plan.design}_${plan.hash.slice(0, 8)}_${participant}`;
    const fate = element("p", { class: "fate", role: "status" });
    showEnd = () => {
      const { waiting, refused } = queue.counts();
      const state = !config.endpoint ? "end_download" : waiting ? "end_waiting" : refused ? "end_refused" : "end_sent";
      fate.textContent = text(state, { waiting, contact: contact() });
      fate.dataset.state = state;
    };
    showEnd();
    const csv = () => study.download(`${name}.csv`, study.toCSV(columns, rows), "text/csv");
    const json = () => study.download(`${name}.json`, study.toJSON(plan.hash, log.state), "application/json");
    const buttons = [["download_csv", csv, "C"], ["download_json", json, "J"]].map(([key, click, shown]) =>
      element("button", { type: "button", class: "main", onclick: click }, text(key), element("kbd", {}, shown)),
    );
    return page(() => ({
      title: text("end_title"),
      kind: "end",
      body: [element("p", {}, text("end_text", { all: rows.length })), fate, element("div", { class: "buttons" }, ...buttons)],
      keys: { c: csv, j: json },
      first: buttons[0],
    }));
  }

  const lastPage = (title, body) => page(() => ({ title: text(title), body: study.paragraphs(text(body)) }));

  function withdraw() {
    const { participant } = log.state;
    log.append({ type: "withdraw" });
    // what was not sent yet never leaves; what was sent is marked at the other end
    queue.drop((message) => message.type === "withdraw");
    if (participant) queue.put([study.withdrawMessage(participant)]);
    log.clear();
  }

  function setUpWithdrawal() {
    const button = document.getElementById("withdraw");
    const dialog = document.getElementById("leave");
    button.textContent = text("withdraw");
    button.hidden = false;
    const no = study.button(text("withdraw_no"), () => dialog.close());
    const yes = study.button(text("withdraw_yes"), () => {
      withdraw();
      log.append({ type: "start", participant: "", slot: 0 });
      log.append({ type: "language", language: document.documentElement.lang });
      log.append({ type: "withdraw" });
      location.reload();
    });
    dialog.replaceChildren(element("p", {}, text("withdraw_ask")), element("div", { class: "buttons" }, no, yes));
    button.onclick = () => dialog.showModal();
  }

  function resumePage(done, all) {
    return page((finish) => {
      const again = study.button(text("resume_restart"), () => {
        withdraw();
        location.reload();
      });
      const body = [...study.paragraphs(text("resume_text", { done, all }))];
      return { title: text("resume_title"), body: config.resume === "ask" ? [...body, again] : body, submit: () => {} };
    });
  }

  const run = (jsPsych, pages) => (pages.length ? jsPsych.run(pages) : Promise.resolve());

  async function main() {
    document.title = config.title;
    const jsPsych = jsPsychModule.initJsPsych({ display_element: "stage", override_safe_mode: true });
    const before = log.state;
    if (before.language) study.useLanguage(before.language);
    if (before.withdrawn) return run(jsPsych, [lastPage("withdrawn_title", "withdrawn_text")]);
    queue.put(before.rows.map(study.answerMessage));
    queue.send();
    if (before.finished) return run(jsPsych, [endPage()]);
    if (!before.participant) log.append({ type: "start", participant: study.randomName(), slot: null });
    const asked = address.get("lang");
    if (!before.language && (config.languages.includes(asked) || config.languages.length === 1)) {
      log.append({ type: "language", language: config.languages.includes(asked) ? asked : config.languages[0] });
      study.useLanguage(log.state.language);
    }
    if (!log.state.language) await run(jsPsych, [languagePage()]);
    setUpWithdrawal();
    if (!log.state.consent) await run(jsPsych, [consentPage()]);
    if (!log.state.about) await run(jsPsych, [aboutPage()]);
    if (log.state.slot === null) {
      const { participant } = log.state;
      log.append({ type: "start", participant, slot: await findSlot() });
    }
    const { trials } = plan.people[log.state.slot];
    const over = (place) => log.state.trained.includes(place) || log.state.rows.some((row) => Number(row.responseCount) === trials[place].count);
    const all = trials.filter(rated).length;
    if (before.rows.length && config.resume === "block") return run(jsPsych, [lastPage("resume_title", "resume_blocked")]);
    if (before.rows.length) {
      showProgress(before.rows.length, all);
      await run(jsPsych, [resumePage(before.rows.length, all)]);
    }
    const name = `instructions_${plan.design}`;
    if (!log.state.read.includes(name)) {
      const note = store.lasting ? "" : `\n\n${text("no_storage")}`;
      await run(jsPsych, [textPage(name, text("instructions_title"), text(name) + note)]);
    }
    const rest = trials.map((trial, place) => ({ trial, place })).filter(({ place }) => !over(place));
    await run(jsPsych, rest.map(({ trial, place }, i) => trialPage(trial, place, trials, rest[i + 1]?.trial)));
    log.append({ type: "finish" });
    await run(jsPsych, [endPage()]);
  }

  study.running = main().catch((error) => {
    console.error(error);
    document.getElementById("stage").replaceChildren(element("p", { class: "note", role: "alert" }, String(error)));
  });
})((window.motionbookStudy = window.motionbookStudy || {}));
