/* Pages of text and questions, as one jsPsych plugin; every page can be answered from the keyboard. */
(function (study) {
  "use strict";

  let strings = {};
  let language = "en";
  study.useStrings = (table) => (strings = table);
  study.useLanguage = function (name) {
    language = name;
    document.documentElement.lang = name;
  };

  /* A text in the chosen language with {names} filled in. */
  study.text = (key, values = {}) => strings[key][language].replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
  study.textIn = (key, name) => strings[key][name];

  /* An element from its name, attributes and children; texts are never taken for HTML. */
  study.element = function (name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else if (value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
    }
    made.append(...children.filter((child) => child != null));
    return made;
  };
  const { element } = study;

  study.paragraphs = (text) => text.split(/\n\s*\n/).map((part) => element("p", {}, part.trim()));

  /* Radio buttons with a legend; `options` are [value, label, key to show]. */
  study.choices = function (name, legend, options, row = false) {
    const labels = options.map(([value, label, shown]) =>
      element("label", { class: "choice" }, element("input", { type: "radio", name, value }), shown ? element("kbd", {}, shown) : null, element("span", {}, label)),
    );
    const group = element("fieldset", { class: row ? "choices row" : "choices" }, element("legend", {}, legend), ...labels);
    group.value = () => group.querySelector("input:checked")?.value ?? null;
    return group;
  };

  /* A button with the key that stands for it. */
  study.button = (label, click, shown) =>
    element("button", { type: "button", class: shown ? "main" : "plain", onclick: click }, label, shown ? element("kbd", {}, shown) : null);

  const { ParameterType } = jsPsychModule;

  class PageOfText {
    static info = {
      name: "motionbook-page",
      version: "1.0.0",
      parameters: {
        /* function (finish) that returns { title, body, first, keys, submit, button } */
        build: { type: ParameterType.FUNCTION, default: undefined },
      },
      data: { page: { type: ParameterType.STRING } },
    };

    constructor(jsPsych) {
      this.jsPsych = jsPsych;
    }

    trial(display, trial) {
      let open = true;
      const finish = (data = {}) => {
        if (!open) return;
        open = false;
        document.removeEventListener("keydown", pressed);
        this.jsPsych.finishTrial(data);
      };
      const page = trial.build(finish);
      const note = element("p", { class: "note", role: "alert" });
      const submit = () => {
        const problem = page.submit?.();
        note.textContent = problem ?? "";
        if (!problem && page.submit) finish();
      };
      function pressed(event) {
        if (event.target.closest("dialog") || event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
        if (event.key === "Enter" && page.submit && !event.target.closest("button, a")) {
          event.preventDefault();
          submit();
        } else page.keys?.[event.key.toLowerCase()]?.();
      }
      document.addEventListener("keydown", pressed);
      const title = element("h1", { tabindex: -1 }, page.title);
      const main = page.submit ? study.button(page.button ?? study.text("next"), submit, study.text("enter_key")) : null;
      display.replaceChildren(element("section", { class: `page ${page.kind ?? ""}` }, title, ...page.body, note, main));
      window.scrollTo(0, 0);
      (page.first ?? title).focus({ preventScroll: true });
    }
  }
  study.PageOfText = PageOfText;
})((window.motionbookStudy = window.motionbookStudy || {}));
