/* Rows of answers, and the two files they leave in. */
(function (study) {
  "use strict";

  /* One answer as the table has it: every value a text, in the columns of the plan's design, with a checksum. */
  study.makeRow = function (columns, values) {
    const row = {};
    for (const name of columns) if (name !== "checksum") row[name] = String(values[name] ?? "").replace(/[\r\n]+/g, " ");
    row.checksum = study.checksum(Object.values(row).join("\n"));
    return row;
  };

  const cell = (text) => (/[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);

  study.toCSV = (columns, rows) =>
    [columns, ...rows.map((row) => columns.map((name) => row[name]))].map((line) => line.map(cell).join(",")).join("\n") + "\n";

  study.toJSON = function (plan, state) {
    const { participant, slot, started, finished, language, consent, about, rows } = state;
    const sums = study.checksum(rows.map((row) => row.checksum).join("\n"));
    return JSON.stringify({ format: "motionbook-answers", version: 1, plan, participant, slot, started, finished, language, consent, about, rows, checksum: sums }, null, 1);
  };

  study.download = function (name, text, type) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };
})((window.motionbookStudy = window.motionbookStudy || {}));
