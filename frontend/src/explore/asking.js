/**
 * Who answers questions: the page itself, from the data it holds, or whoever has more of them: a
 * local server or a notebook's kernel.
 */

import { specialOf } from "./effects.js";
import { whyOf } from "./reasons.js";
import { unpacked } from "./wire.js";

/** Answers from what the page holds. */
export function ownAnswers(model) {
  return {
    special: async (rows) => specialOf(model.columns, model.n, rows),
    why: async (row, grouping) => whyOf(model, grouping, row),
    column: async () => null,
    member: async () => null,
  };
}

/**
 * Answers of a host, by a function that asks it.
 * @param {any} model
 * @param {(question: object, rows?: Uint32Array) => Promise<any>} ask
 */
export function hostAnswers(model, ask) {
  const own = ownAnswers(model);
  return {
    special: (rows) => ask({ ask: "special" }, rows),
    // The page knows groups that were changed by hand; only members it does not hold must be asked for.
    why: (row, grouping, k) => (model.allMembers() ? own.why(row, grouping) : ask({ ask: "why", row, k })),
    column: async (j) => unpacked(await ask({ ask: "column", j })).arrays.values,
    member: async (j) => unpacked(await ask({ ask: "member", j })).arrays.values,
  };
}

/**
 * Answers of a host that may be busy or gone, such as a kernel that runs another cell, or that of a
 * notebook which was exported: after a while the page answers from what it holds.
 * @param {any} model
 * @param {(question: object, rows?: Uint32Array) => Promise<any>} ask
 * @param {number} patience milliseconds
 */
export function patientAnswers(model, ask, patience = 3000) {
  const [host, own] = [hostAnswers(model, ask), ownAnswers(model)];
  const holds = { special: () => model.columns.every(({ values }) => values), why: () => model.allMembers() };
  const first = (name) => (...asked) => {
    const answer = host[name](...asked);
    if (!holds[name]()) return answer;
    const later = new Promise((done) => setTimeout(done, patience)).then(() => own[name](...asked));
    return Promise.race([answer, later]);
  };
  return { ...host, special: first("special"), why: first("why") };
}

/** Ask the server that the page came from; its token is in the page's address. */
export function serverAsk(base = "") {
  const token = new URLSearchParams(location.search).get("token") ?? "";
  const headers = { "x-consilience-token": token };
  return async function ask(question, rows) {
    const response = await fetch(base + addressOf(question), {
      method: rows ? "POST" : "GET", headers, body: rows ? Uint32Array.from(rows) : undefined,
      credentials: "omit", cache: "no-store", redirect: "error",
    });
    if (!response.ok) throw new Error((await response.text()) || response.statusText);
    const binary = response.headers.get("content-type")?.startsWith("application/octet-stream");
    return binary ? response.arrayBuffer() : response.json();
  };
}

function addressOf({ ask, j, row, k }) {
  const cut = k === null || k === undefined ? "" : `?k=${k}`;
  if (ask === "why") return `why/${row}${cut}`;
  if (ask === "column" || ask === "member") return `${ask}/${j}`;
  return ask;
}

/** Ask a notebook's kernel by messages of the widget. */
export function kernelAsk(widget) {
  let number = 0;
  const waiting = new Map();
  widget.on("msg:custom", (content, buffers) => {
    const one = waiting.get(content.to);
    if (!one) return;
    waiting.delete(content.to);
    if (content.error) one.reject(new Error(content.error));
    else if (buffers?.length) one.resolve(bufferOf(buffers[0]));
    else one.resolve(content.said);
  });
  return (question, rows) =>
    new Promise((resolve, reject) => {
      waiting.set(++number, { resolve, reject });
      const sent = rows ? [Uint32Array.from(rows).buffer] : [];
      widget.send({ ...question, number }, undefined, sent);
    });
}

/** The bytes of a view into a buffer, from their own start: arrays in them must be aligned. */
export function bufferOf(view) {
  if (view instanceof ArrayBuffer) return view;
  return view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength);
}
