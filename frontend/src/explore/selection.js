/** What is selected and what is special about it; finding an object, and why it is where it is. */

import { csvOf, download } from "../csv.js";
import { h, svg } from "../dom.js";
import { number } from "../format.js";
import { swatch } from "../legend.js";
import { button, panel, smallTable } from "./panels.js";
import { insideOf, LEFT_OUT, NOT_SEEN, UNDECIDED } from "./reasons.js";

export function selectionPanel(store, context, answers) {
  const { model, texts } = store;
  const place = h("div");
  const head = h("div", { role: "status", "aria-live": "polite" });
  let asked = 0;

  async function show() {
    const { rows } = store.selection.value;
    const turn = ++asked;
    if (!rows.length) {
      head.replaceChildren(h("p", { class: "cs-read" }, texts.selectionNone));
      place.replaceChildren();
      return;
    }
    showInside();
    place.replaceChildren(h("p", { class: "cs-read" }, texts.loading));
    try {
      const lines = await answers.special(rows);
      if (turn === asked) place.replaceChildren(...specialLines(lines, texts));
    } catch (error) {
      if (turn === asked) place.replaceChildren(h("p", { class: "cs-failed" }, texts.lost(error.message)));
    }
  }

  function showInside() {
    const { rows, how } = store.selection.value;
    if (!rows.length) return;
    const inside = insideOf(model, store.grouping.value, rows);
    const groups = inside.groups.slice(0, 12).map((one) =>
      h("li", {}, swatch(context, one.group, false), h("span", {}, texts.selectionInside(store.name(one.group), one.inside, one.size))));
    head.replaceChildren(
      h("p", {}, h("strong", { class: "cs-count" }, texts.objects(rows.length)), how ? `: ${how}.` : "."),
      h("ul", { class: "cs-inside", "aria-label": texts.selectionGroups }, ...groups),
      ...(inside.confidence === null ? [] : [h("p", { class: "cs-read" }, texts.selectionSure(inside.confidence))]),
      h("div", { class: "cs-tools" },
        button(texts.selectionSave, () => download("selection.csv", selectionFile(store))),
        button(texts.clear, () => store.select([], null))),
    );
  }

  store.selection.watch(show);
  store.grouping.watch(showInside);
  context.theme.watch(showInside);
  show();
  return panel(texts.selectionTitle, "selection", head, place);
}

/** The selection as a file: its objects, and above them how they were selected. */
export function selectionFile(store) {
  const { model, texts } = store;
  const { rows, how } = store.selection.value;
  const grouping = store.grouping.value;
  const byRow = (work) => Object.fromEntries(Array.from(rows, (row) => [row, work(row)]));
  const columns = [
    { name: "id", values: byRow(model.id) },
    { name: "cluster", values: byRow(grouping.of) },
  ];
  if (model.confidence) columns.push({ name: "confidence", values: model.confidence });
  for (const column of model.columns) {
    if (!column.values) continue;
    const category = column.kind === "category" || column.kind === "flag";
    columns.push({ name: column.name, values: category ? byRow((row) => column.levels[column.values[row]] ?? null) : column.values });
  }
  const steps = store.steps.value.map((step) => texts.steps[step.op](step)).join("; ");
  return `# ${model.title}: ${texts.objects(rows.length)}, ${how}\r\n# ${steps}\r\n`.replace(/[^\S\r\n]+/g, " ") + csvOf(columns, rows);
}

function specialLines(lines, texts) {
  if (!lines.length) return [h("p", { class: "cs-read" }, texts.specialNone)];
  const shown = lines.map((line) => [
    line.category && line.kind !== "flag" ? `${line.column} = ${line.category}` : line.column,
    line.kind === "number" ? number(line.here) : texts.percent(line.here),
    line.kind === "number" ? number(line.rest) : texts.percent(line.rest),
    h("span", { class: "cs-effect" }, effectBar(line), h("span", {}, line.effect.toFixed(2))),
    texts.interval(line.low.toFixed(2), line.high.toFixed(2)),
  ]);
  return [h("p", { class: "cs-read" }, texts.specialRead), smallTable(texts.specialColumns, shown, texts.selectionTitle)];
}

/** From -1 to 1, with the interval behind. */
function effectBar({ effect, low, high }) {
  const x = (value) => 50 + 50 * value;
  return svg(
    "svg", { class: "cs-effect-bar", viewBox: "0 0 100 12", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: "cs-span", x: x(low), width: Math.max(0.5, x(high) - x(low)), y: 1, height: 10 }),
    svg("rect", { class: effect < 0 ? "is-less" : "is-more", x: Math.min(50, x(effect)), width: Math.abs(50 * effect), y: 4, height: 4 }),
    svg("line", { x1: 50, x2: 50, y1: 0, y2: 12 }),
  );
}

// ---- one object --------------------------------------------------------------------------

export function findPanel(store, context, answers) {
  const { model, texts } = store;
  const field = h("input", { type: "search", class: "cs-find", "aria-label": texts.findLabel, placeholder: texts.findLabel });
  const found = h("div", { class: "cs-found", role: "status" });
  const place = h("div", { class: "cs-why" });
  const look = (row) => {
    store.focus.set(row);
    store.select(Uint32Array.of(row), texts.definition.object(model.id(row)));
  };
  const link = (row) => button(model.id(row), () => look(row), { class: "cs-link" });
  const form = h("form", {
    class: "cs-slide",
    onsubmit: (event) => {
      event.preventDefault();
      const rows = model.find(field.value);
      if (rows.length) look(rows[0]);
      found.replaceChildren(...(rows.length > 1 ? rows.map(link) : rows.length ? [] : [field.value.trim() ? texts.findNone(field.value.trim()) : ""]));
    },
  }, field, h("button", { type: "submit", class: "cs-button" }, texts.find));
  let asked = 0;

  async function show() {
    const row = store.focus.value;
    const turn = ++asked;
    if (row < 0) return place.replaceChildren();
    const { answer, k } = store.base();
    try {
      const said = await answers.why(row, store.grouping.value, answer ? null : k);
      if (turn === asked) place.replaceChildren(...whyLines(said, store, context, link));
    } catch (error) {
      if (turn === asked) place.replaceChildren(h("p", { class: "cs-failed" }, texts.lost(error.message)));
    }
    return undefined;
  }

  store.focus.watch(show);
  store.grouping.watch(show);
  context.theme.watch(show);
  show();
  return panel(texts.findTitle, "find", form, found, place);
}

function whyLines(said, store, context, link) {
  const { model, texts } = store;
  const own = store.grouping.value.of(said.row);
  const sure = model.confidence ? texts.whySure(model.confidence[said.row]) : "";
  const next = model.runnerUp && model.runnerUp[said.row] >= 0 ? texts.whyNext(texts.group(model.runnerUp[said.row])) : "";
  const lines = [h("h4", {}, texts.whyTitle(said.id)), h("p", {}, `${texts.whyGroup(store.name(own))}${sure}${next}.`)];
  if (!said.votes.length) return [...lines, h("p", { class: "cs-read" }, texts.whyNoMembers)];
  const counts = new Map();
  for (const vote of said.votes) counts.set(vote, (counts.get(vote) ?? 0) + 1);
  const named = (vote) => ({ [UNDECIDED]: texts.undecided, [LEFT_OUT]: texts.leftOut, [NOT_SEEN]: texts.notSeen })[vote] ?? store.name(vote);
  const sorted = [...counts].sort((a, b) => (b[0] === own) - (a[0] === own) || b[1] - a[1]);
  const all = said.votes.length;
  lines.push(
    h("ul", { class: "cs-votes" }, ...sorted.map(([vote, count]) =>
      h("li", { "data-vote": vote },
        h("span", { class: "cs-side" }, vote === own ? texts.whyFor : texts.whyAgainst),
        swatch(context, vote, false),
        h("span", {}, `${named(vote)}: ${texts.whyVotes(count, all)}`),
        svg("svg", { class: "cs-vote-bar", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("rect", { width: (100 * count) / all, height: 6 }))))),
    h("h4", {}, texts.whyNearest),
    smallTable(texts.whyColumns, said.nearest.map((one) => [link(one.row), store.name(store.grouping.value.of(one.row)), one.together.toFixed(3)]), texts.whyNearest),
  );
  return lines;
}
