/**
 * The explorer: `explore(root, buffer, host)` draws a view into an element.
 *
 * Three hosts show it: a page that holds its data (the report), a local server, a notebook. They
 * differ in who answers questions; all else is one state that every part watches.
 */

import { themeOf } from "../colours.js";
import { h, onWidth } from "../dom.js";
import { watched } from "../state.js";
import { TEXTS } from "../texts.js";
import { makeTooltip } from "../tooltip.js";
import { hostAnswers, ownAnswers, patientAnswers } from "./asking.js";
import { drawMap } from "./map.js";
import { matrixPanel } from "./matrix.js";
import { modelOf } from "./model.js";
import { tablePanel } from "./objects.js";
import { comparePanel, cutsPanel, groupsPanel, panel, scoresPanel, tornPanel } from "./panels.js";
import { findPanel, selectionPanel } from "./selection.js";
import { followAddress, restore, stateText, storeOf, watchables } from "./store.js";

/**
 * @param {HTMLElement} root
 * @param {ArrayBuffer} buffer a view, see `consilience.explore`
 * @param {{ask?: Function, patient?: boolean, address?: boolean, alone?: boolean, texts?: object}} host
 *   `ask` answers questions; `patient` where it may be busy or gone; `alone` where nothing else is on the page
 */
export function explore(root, buffer, { ask = null, patient = false, address = true, alone = false, texts = TEXTS } = {}) {
  const life = new AbortController();
  const model = modelOf(buffer);
  const store = Object.assign(storeOf(model), { texts });
  const answers = !ask ? ownAnswers(model) : patient ? patientAnswers(model, ask) : hostAnswers(model, ask);
  root.classList.add("cs-report", "cs-explore");
  root.replaceChildren();
  const context = {
    root, signal: life.signal, pointed: watched(null), theme: watched(themeOf(root)), tooltip: makeTooltip(root),
  };
  const controls = h("div", { class: "cs-controls" });
  const left = h("div", { class: "cs-left" }, controls);
  const right = h("div", { class: "cs-right" });
  const below = h("div", { class: "cs-below" });
  const said = h("p", { class: "cs-said", role: "status", "aria-live": "polite" });
  root.append(
    h("header", { class: "cs-explore-head" }, alone ? h("h1", { class: "cs-spoken" }, texts.title) : null, h("h2", {}, model.title), h("p", { class: "cs-read" }, texts.intro), said),
    ...notesOf(model, texts),
    h("div", { class: "cs-explore-body" }, left, right),
    below,
  );
  store.said.watch((text) => (said.textContent = text));
  const part = (host, make) => {
    try {
      const made = make();
      if (made) host.append(made);
    } catch (error) {
      console.error(error);
      host.append(h("p", { class: "cs-failed" }, texts.failed(error.message)));
    }
  };
  controls.append(...controlsOf(store, answers));
  const map = drawMap(left, store, context);
  part(right, () => cutsPanel(store, context));
  part(right, () => groupsPanel(store, context));
  part(right, () => scoresPanel(store, context));
  part(left, () => selectionPanel(store, context, answers));
  part(right, () => findPanel(store, context, answers));
  part(below, () => comparePanel(store, context));
  part(below, () => tornPanel(store, context));
  part(below, () => matrixPanel(store, context));
  part(below, () => tablePanel(store, context));
  part(below, () => donePanel(model, texts));
  follow(root, context, store);
  if (address) followAddress(store, life.signal);
  return {
    store, model, map, answers, theme: context.theme,
    state: () => stateText(store),
    restore: (text) => restore(store, text),
    watch: (work) => watchables(store).forEach((one) => one.watch(work)),
    destroy: () => {
      life.abort();
      root.replaceChildren();
    },
  };
}

function notesOf(model, texts) {
  if (!model.missing.length) return [];
  return [h("aside", { class: "cs-notes" }, h("h3", {}, texts.missing), h("ul", {}, ...model.missing.map((words) => h("li", {}, words))))];
}

function donePanel(model, texts) {
  if (!model.facts.length) return null;
  return panel(texts.doneTitle, "done", h("dl", { class: "cs-done" }, ...model.facts.flatMap(([what, words]) => [h("dt", {}, what), h("dd", {}, words)])));
}

/** What the map is of, and what it is coloured by. */
function controlsOf(store, answers) {
  const { model, texts } = store;
  const maps = h("select", { "aria-label": texts.mapBy, onchange: (event) => store.map.set(Number(event.target.value)) },
    ...model.maps.map(({ name }, i) => h("option", { value: i }, texts.maps[name])));
  const option = (value, name) => h("option", { value }, name);
  const several = (label, made) => (made.length ? [h("optgroup", { label }, ...made)] : []);
  const colours = h("select", { "aria-label": texts.colourBy, onchange: (event) => colourBy(event.target.value) },
    option("groups", texts.colourGroups),
    ...(model.confidence ? [option("confidence", texts.colourConfidence)] : []),
    ...(model.scored ? [option("score", texts.colourScore)] : []),
    ...(model.truth ? [option("truth", texts.colourTruth)] : []),
    ...several(texts.colourViews, model.views.map(({ name }, j) => option(`view:${j}`, texts.view(name)))),
    ...several(texts.colourAnswers, model.answers.slice(1).map(({ name }, i) => option(`answer:${i + 1}`, name))),
    ...several(texts.colourColumns, model.columns.filter(({ values }) => values || model.live).map(({ name, j }) => option(`column:${j}`, name))),
    ...several(texts.colourMembers, model.members.map((one, j) => (one || model.live ? option(`member:${j}`, texts.member(j)) : null)).filter(Boolean)),
  );

  /** What the page does not hold is asked for first. */
  async function colourBy(what) {
    const [kind, text] = what.split(":");
    const j = Number(text);
    try {
      if (kind === "column" && !model.columns[j].values) model.columns[j].values = await answers.column(j);
      if (kind === "member" && !model.members[j]) model.members[j] = await answers.member(j);
      store.colour.set(what);
    } catch (error) {
      store.said.set(texts.lost(error.message));
    }
  }

  const show = () => {
    maps.value = String(store.map.value);
    colours.value = store.colour.value;
  };
  store.map.watch(show);
  store.colour.watch((what) => {
    show();
    const [kind, text] = what.split(":");
    const held = kind === "column" ? model.columns[text]?.values : kind === "member" ? model.members[text] : true;
    if (!held && model.live) colourBy(what);
  });
  show();
  return [h("label", {}, texts.mapBy, " ", maps), h("label", {}, texts.colourBy, " ", colours)];
}

/** Themes, paper, and keys that hold everywhere. */
function follow(root, context, store) {
  const { signal } = context;
  const renew = () => {
    const theme = themeOf(root);
    if (JSON.stringify(theme) !== JSON.stringify(context.theme.value)) context.theme.set(theme);
  };
  // A notebook's element has no style before it is put into the page.
  onWidth(root, signal, renew);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", renew, { signal });
  const print = (on) => () => {
    root.classList.toggle("is-printing", on);
    renew();
  };
  window.addEventListener("beforeprint", print(true), { signal });
  window.addEventListener("afterprint", print(false), { signal });
  root.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.target.matches("input[type=text], input[type=search]")) store.select([], null);
  }, { signal });
}
