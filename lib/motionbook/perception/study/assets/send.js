/* Answers on their way to an endpoint: kept until they are acknowledged, sent again until they are.

   POST, body {"plan": ..., "messages": [{"id": ..., "type": "answer", "row": {...}}, ...]}. The body is JSON but is sent
   as text/plain, which a browser sends elsewhere without asking leave first. An id never names two different
   messages, so that sending one twice does no harm. A 2xx reply takes all messages; a JSON reply with "stored" and
   "refused" ([{"id", "reason"}]) says so one by one; anything else counts as no reply. */
(function (study) {
  "use strict";

  const LONGEST_WAIT = 30000;
  const BATCH = 50;

  study.openQueue = function (store, plan, endpoint, changed) {
    const key = `motionbook-queue:${plan.slice(0, 16)}`;
    const read = () => JSON.parse(store.get(key) ?? '{"waiting": [], "stored": [], "refused": []}');
    let busy = false;
    let failures = 0;
    let timer = null;

    function update(change) {
      const box = read();
      change(box);
      store.put(key, JSON.stringify(box));
      changed?.(queue.counts());
    }

    async function send() {
      clearTimeout(timer);
      const { waiting } = read();
      if (!endpoint || busy || !waiting.length) return;
      busy = true;
      const batch = waiting.slice(0, BATCH);
      const reply = await post(batch);
      busy = false;
      if (!reply) {
        failures += 1;
        timer = setTimeout(send, Math.min(LONGEST_WAIT, 500 * 2 ** Math.min(failures - 1, 10)));
        return;
      }
      failures = 0;
      const refused = new Map(reply.refused.map((entry) => [entry.id, entry.reason]));
      const stored = new Set(reply.stored);
      update((box) => {
        box.waiting = box.waiting.filter((message) => !stored.has(message.id) && !refused.has(message.id));
        box.stored = [...new Set([...box.stored, ...stored])];
        box.refused = [...box.refused, ...Array.from(refused, ([id, reason]) => ({ id, reason }))];
      });
      // a reply that names none of what was sent is no progress: wait before the next try
      const progress = batch.some((message) => stored.has(message.id) || refused.has(message.id));
      timer = setTimeout(send, progress ? 0 : LONGEST_WAIT);
    }

    async function post(messages) {
      const stop = new AbortController();
      const limit = setTimeout(() => stop.abort(), 15000);
      try {
        const reply = await fetch(endpoint, {
          method: "POST",
          headers: { "Content-Type": "text/plain;charset=utf-8" },
          body: JSON.stringify({ plan, messages }),
          signal: stop.signal,
          credentials: "omit",
          referrerPolicy: "no-referrer",
        });
        const said = await reply.json().catch(() => null);
        if (Array.isArray(said?.stored)) return { stored: said.stored, refused: said.refused ?? [] };
        return reply.ok ? { stored: messages.map((message) => message.id), refused: [] } : null;
      } catch {
        return null;
      } finally {
        clearTimeout(limit);
      }
    }

    const queue = {
      counts: () => {
        const box = read();
        return { waiting: box.waiting.length, stored: box.stored.length, refused: box.refused.length };
      },
      /* Messages not seen before are kept for sending. */
      put(messages) {
        if (!endpoint) return;
        update((box) => {
          const known = new Set([...box.waiting, ...box.refused].map((entry) => entry.id).concat(box.stored));
          box.waiting.push(...messages.filter((message) => !known.has(message.id)));
        });
        send();
      },
      drop: (keep) => update((box) => (box.waiting = box.waiting.filter(keep))),
      send,
    };
    window.addEventListener("online", () => {
      failures = 0;
      send();
    });
    return queue;
  };

  study.answerMessage = (row) => ({ id: row.answerID, type: "answer", row });
  study.withdrawMessage = (participant) => ({ id: `${participant}-withdraw`, type: "withdraw", participant });
})((window.motionbookStudy = window.motionbookStudy || {}));
