/** The objects as a table: those selected, or all; some at a time. */

import { h } from "../dom.js";
import { number } from "../format.js";
import { valueText } from "./map.js";
import { button, panel } from "./panels.js";

const PAGE = 50;
const MOST_COLUMNS = 8;

export function tablePanel(store, context) {
  const { model, texts } = store;
  const scene = { shown: PAGE, sort: null, down: false };
  const title = h("p", { class: "cs-read", role: "status" });
  const [head, body] = [h("tr"), h("tbody")];
  const more = button(texts.tableMore, () => {
    scene.shown += PAGE;
    show();
  });

  function columns() {
    const grouping = store.grouping.value;
    const found = [
      { name: texts.tableObject, text: (i) => model.id(i), value: (i) => i },
      { name: texts.tableGroup, text: (i) => store.name(grouping.of(i)), value: (i) => grouping.of(i) },
    ];
    if (model.confidence) found.push({ name: texts.confidence, text: (i) => number(model.confidence[i]), value: (i) => model.confidence[i] });
    if (model.runnerUp) found.push({ name: texts.tableRunnerUp, text: (i) => (model.runnerUp[i] < 0 ? "–" : texts.group(model.runnerUp[i])), value: (i) => model.runnerUp[i] });
    if (model.scored) found.push({ name: model.scored.what, text: (i) => number(model.scored.values[i]), value: (i) => model.scored.values[i] });
    if (model.truth) found.push({ name: texts.colourTruth, text: (i) => model.truthLevels[model.truth[i]] ?? texts.unknown, value: (i) => model.truth[i] });
    for (const column of model.columns.filter(({ values }) => values).slice(0, MOST_COLUMNS)) {
      found.push({ name: column.name, text: (i) => valueText(column, i, texts), value: (i) => column.values[i] });
    }
    return found;
  }

  function rows() {
    const chosen = store.selection.value.rows;
    if (chosen.length) return chosen;
    return (scene.all ??= Uint32Array.from({ length: model.n }, (_, i) => i));
  }

  function show() {
    const [list, some] = [columns(), rows()];
    const chosen = store.selection.value.rows.length;
    title.textContent = chosen ? texts.tableOfSelection(chosen) : texts.tableOfAll(model.n);
    let sorted = some;
    if (scene.sort !== null && list[scene.sort]) {
      const { value } = list[scene.sort];
      const sign = scene.down ? -1 : 1;
      const rank = (x) => (Number.isFinite(x) ? x : Infinity);
      sorted = Uint32Array.from(some).sort((a, b) => sign * (rank(value(a)) - rank(value(b))) || a - b);
    }
    head.replaceChildren(...list.map((column, c) => {
      const sort = scene.sort === c ? (scene.down ? "descending" : "ascending") : "none";
      return h("th", { scope: "col", "aria-sort": sort }, button(column.name, () => {
        Object.assign(scene, { down: scene.sort === c && !scene.down, sort: c, shown: PAGE });
        show();
      }, { class: "cs-link" }));
    }));
    body.replaceChildren(...Array.from(sorted.subarray(0, scene.shown), (row) => line(list, row)));
    more.hidden = scene.shown >= some.length;
  }

  function line(list, row) {
    const look = () => {
      store.focus.set(row);
      store.select(Uint32Array.of(row), texts.definition.object(model.id(row)));
    };
    const point = (on) => () => context.pointed.set(on ? row : null);
    return h("tr", { "data-row": row, onpointerenter: point(true), onpointerleave: point(false) },
      ...list.map((column, c) => (c ? h("td", {}, column.text(row)) : h("th", { scope: "row" }, button(column.text(row), look, { class: "cs-link" })))));
  }

  store.selection.watch(() => {
    scene.shown = PAGE;
    show();
  });
  store.grouping.watch(show);
  show();
  return panel(texts.tableTitle, "objects", title,
    h("div", { class: "cs-scroll", tabindex: "0", role: "group", "aria-label": texts.tableTitle },
      h("table", { class: "cs-table" }, h("thead", {}, head), body)), h("div", { class: "cs-tools" }, more));
}
