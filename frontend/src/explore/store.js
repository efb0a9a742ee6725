/** The one state of the explorer: what is chosen, selected and done. Components watch it. */

import { watched } from "../state.js";
import { groupingOf, leafFacts } from "./grouping.js";

const NOTHING = new Uint32Array(0);

/**
 * @param {any} model
 * @returns the state: watched values, and the few things that can be done to them
 */
export function storeOf(model) {
  const facts = leafFacts(model);
  const start = { op: "base", answer: 0, k: model.cuts.default };
  const steps = watched([start]);
  const redo = watched([]);
  const grouping = watched(groupingOf(model, facts, steps.value));
  const selection = watched({ rows: NOTHING, how: null });
  const store = {
    model,
    steps,
    redo,
    grouping,
    selection,
    map: watched(model.maps.length > 1 ? 1 : 0),
    colour: watched("groups"),
    compare: watched(0),
    focus: watched(-1),
    threshold: watched(model.scored?.threshold ?? null),
    said: watched(""),
    /** The base that the groups come from: a number of groups, or an answer. */
    base: () => steps.value.findLast((step) => step.op === "base"),
    select: (rows, how) => selection.set({ rows: rows.length ? rows : NOTHING, how: rows.length ? how : null }),
    name: (group) => nameOf(store, group),
    cut(k) {
      const kept = Math.min(Math.max(k, model.cuts.least), model.cuts.most);
      const last = steps.value.at(-1);
      if (last.op === "base" && !last.answer && last.k === kept) return;
      changeBase({ op: "base", answer: 0, k: kept });
    },
    answer(i) {
      changeBase(i ? { op: "base", answer: i, name: model.answers[i].name } : { ...start });
    },
    done(step) {
      steps.set([...steps.value, step]);
      redo.set([]);
    },
    undo() {
      if (steps.value.length < 2) return null;
      const last = steps.value.at(-1);
      redo.set([...redo.value, last]);
      steps.set(steps.value.slice(0, -1));
      return last;
    },
    again() {
      const last = redo.value.at(-1);
      if (!last) return null;
      redo.set(redo.value.slice(0, -1));
      steps.set([...steps.value, last]);
      return last;
    },
  };

  /** Dragging a slider is one step, not one for each place it passes. */
  function changeBase(step) {
    const last = steps.value.at(-1);
    const moved = last.op === "base" && steps.value.length > 1;
    steps.set([...(moved ? steps.value.slice(0, -1) : steps.value), step]);
    redo.set([]);
  }

  steps.watch((value) => grouping.set(groupingOf(model, facts, value)));
  return store;
}

function nameOf(store, group) {
  if (group < 0) return store.model.nobody;
  return store.grouping.value.names.get(group) ?? store.texts.group(group);
}

// ---- the state in the address ------------------------------------------------------------

export const PREFIX = "#explore:";
const LONGEST = 1800;

/** Rows as runs in base 36: "a-f.k" is 10 to 15 and 20. Null where that is too long. */
export function rowsText(rows) {
  const parts = [];
  let length = 0;
  for (let i = 0; i < rows.length; ) {
    let end = i;
    while (end + 1 < rows.length && rows[end + 1] === rows[end] + 1) end++;
    const text = end > i ? `${rows[i].toString(36)}-${rows[end].toString(36)}` : rows[i].toString(36);
    length += text.length + 1;
    if (length > LONGEST) return null;
    parts.push(text);
    i = end + 1;
  }
  return parts.join(".");
}

/** The rows of such a text, inside 0..n-1. */
export function rowsOfText(text, n) {
  const rows = [];
  for (const part of text.split(".")) {
    const [first, last = first] = part.split("-").map((one) => Number.parseInt(one, 36));
    if (!(first >= 0) || !(last >= first) || last >= n) continue;
    for (let row = first; row <= last; row++) rows.push(row);
  }
  return Uint32Array.from(new Set(rows)).sort();
}

/** The state as text, as short as it can be. */
export function stateText(store) {
  const { model } = store;
  const found = new URLSearchParams();
  const steps = store.steps.value.map((step) =>
    step.op === "carve" ? { ...step, rows: rowsText(step.rows) } : step,
  );
  const written = JSON.stringify(steps.slice(1));
  if (steps.length > 1 && written.length < LONGEST && !steps.some((step) => step.rows === null)) found.set("steps", written);
  if (store.map.value !== (model.maps.length > 1 ? 1 : 0)) found.set("map", String(store.map.value));
  if (store.colour.value !== "groups") found.set("colour", store.colour.value);
  if (store.compare.value) found.set("beside", String(store.compare.value));
  if (store.focus.value >= 0) found.set("object", String(store.focus.value));
  if (model.scored && store.threshold.value !== model.scored.threshold) found.set("threshold", String(store.threshold.value));
  const rows = rowsText(store.selection.value.rows);
  if (rows) found.set("rows", rows);
  return found.toString();
}

/** Put a state of text in place; what does not fit this view is left out. */
export function restore(store, text) {
  const { model, texts } = store;
  const found = new URLSearchParams(text);
  const whole = (name, most) => {
    const value = Number(found.get(name) ?? NaN);
    return Number.isInteger(value) && value >= 0 && value < most ? value : null;
  };
  const steps = stepsOf(found.get("steps"), model);
  if (steps) store.steps.set([store.steps.value[0], ...steps]);
  const map = whole("map", model.maps.length);
  if (map !== null) store.map.set(map);
  const colour = found.get("colour");
  if (colour && /^[a-z]+(:\d+)?$/.test(colour)) store.colour.set(colour);
  store.compare.set(whole("beside", model.answers.length) ?? 0);
  store.focus.set(whole("object", model.n) ?? -1);
  const threshold = Number(found.get("threshold") ?? NaN);
  if (model.scored && Number.isFinite(threshold)) store.threshold.set(threshold);
  if (found.get("rows")) store.select(rowsOfText(found.get("rows"), model.n), texts.definition.url);
}

/** Steps of text, each checked: an address is anybody's. Null where one cannot be. */
function stepsOf(text, model) {
  if (!text) return null;
  const whole = (value) => Number.isInteger(value) && value >= -1 && value < 1e6;
  try {
    const steps = JSON.parse(text);
    return steps.map((step) => {
      const { op } = step;
      if (op === "base" && step.answer) {
        if (!model.answers[step.answer]) throw new Error("answer");
        return { op, answer: step.answer, name: model.answers[step.answer].name };
      }
      if (op === "base" && step.k >= model.cuts.least && step.k <= model.cuts.most) return { op, answer: 0, k: step.k };
      if (op === "rename" && whole(step.group)) return { op, group: step.group, name: String(step.name).slice(0, 200) };
      if (op === "merge" && step.groups.every(whole) && step.groups.length > 1) return { op, groups: [...step.groups] };
      if (op === "split" && whole(step.group) && whole(step.made)) return { op, group: step.group, made: step.made };
      if (op === "carve" && whole(step.made)) {
        const rows = rowsOfText(String(step.rows), model.n);
        return { op, made: step.made, rows, count: rows.length };
      }
      throw new Error(op);
    });
  } catch {
    return null;
  }
}

/** Keep the page's address in step with the state. */
export function followAddress(store, signal) {
  const read = () => {
    if (location.hash.startsWith(PREFIX)) restore(store, location.hash.slice(PREFIX.length));
  };
  read();
  window.addEventListener("hashchange", read, { signal });
  let waiting = 0;
  const write = () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (signal.aborted) return;
      const text = stateText(store);
      if (!text && !location.hash.startsWith(PREFIX)) return;
      try {
        history.replaceState(history.state, "", text ? PREFIX + text : location.pathname + location.search);
      } catch {
        // A page without an address of its own, such as one inside a notebook, has no place for it.
      }
    }, 250);
  };
  for (const one of watchables(store)) one.watch(write);
}

/** What is part of the state in the address. */
export function watchables(store) {
  return [store.steps, store.map, store.colour, store.compare, store.focus, store.threshold, store.selection];
}
