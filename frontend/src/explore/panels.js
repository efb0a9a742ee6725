/** The panels beside the map: number of groups, groups, two answers, threshold, objects in doubt. */

import { clusterColour } from "../colours.js";
import { csvOf, download } from "../csv.js";
import { h, svg } from "../dom.js";
import { number } from "../format.js";
import { swatch } from "../legend.js";
import { rowsWhere } from "./grouping.js";
import { atThreshold, randIndex, tableOf } from "./reasons.js";

/** A section with a heading. */
export function panel(title, name, ...children) {
  const id = `cs-${name}-${Math.random().toString(36).slice(2, 8)}`;
  return h("section", { class: "cs-panel", "data-panel": name, "aria-labelledby": id }, h("h3", { id }, title), ...children);
}

export const button = (text, onclick, more = {}) => h("button", { type: "button", class: "cs-button", onclick, ...more }, text);

/** A table of texts and elements. */
export function smallTable(head, lines, label) {
  return h(
    "div", { class: "cs-scroll", tabindex: "0", role: "group", "aria-label": label },
    h("table", { class: "cs-table" },
      h("thead", {}, h("tr", {}, ...head.map((text) => (text ? h("th", { scope: "col" }, text) : h("td"))))),
      h("tbody", {}, ...lines.map((cells) => h("tr", {}, ...cells.map((cell, i) => (i ? h("td", {}, cell) : h("th", { scope: "row" }, cell)))))),
    ),
  );
}

// ---- number of groups --------------------------------------------------------------------

const TREE = { width: 360, height: 230, top: 12, bottom: 24, left: 26 };

export function cutsPanel(store, context) {
  const { model, texts } = store;
  const { cuts } = model;
  if (cuts.most === cuts.least) return panel(texts.cutsTitle, "cuts", h("p", { class: "cs-read" }, texts.cutsNone));
  const shown = h("output", { class: "cs-k" });
  const slider = h("input", {
    type: "range", min: cuts.least, max: cuts.most, step: 1, value: cuts.default, class: "cs-slider",
    "aria-label": texts.cutsLabel, oninput: (event) => store.cut(Number(event.target.value)),
  });
  const back = button(texts.cutsBack, () => store.cut(cuts.default));
  const tree = h("div", { class: "cs-cut-tree" });
  const show = () => {
    const { answer, k } = store.base();
    slider.disabled = Boolean(answer);
    const now = answer ? store.grouping.value.list.filter(({ group }) => group >= 0).length : k;
    if (!answer) slider.value = String(k);
    shown.textContent = number(now);
    back.hidden = !answer && k === cuts.default;
    tree.replaceChildren(treeOf(store, context, answer ? null : k));
  };
  store.steps.watch(show);
  context.theme.watch(show);
  show();
  const lines = cuts.splits.map((one) => [
    number(one.k), store.texts.group(one.group), `${texts.group(one.group)}, ${texts.group(one.made)}`,
    one.sizes.map(number).join(", "), number(one.together),
  ]);
  return panel(
    texts.cutsTitle, "cuts", h("p", { class: "cs-read" }, texts.cutsRead),
    h("div", { class: "cs-slide" }, slider, shown, back),
    h("p", { class: "cs-read" }, texts.cutsDefault(cuts.default)),
    tree,
    h("details", {}, h("summary", {}, texts.asTable), smallTable(texts.splitColumns, lines, texts.cutsTitle)),
  );
}

/** Branches of the tree: where each begins, ends, and lies. */
function branchesOf(cuts) {
  const place = new Float64Array(cuts.leaves);
  cuts.order.forEach((leaf, i) => (place[leaf] = i));
  const begin = (group, k) => {
    const row = cuts.row(k);
    const leaves = [];
    row.forEach((one, leaf) => one === group && leaves.push(leaf));
    return { group, from: k, to: cuts.most, leaves, at: leaves.reduce((all, leaf) => all + place[leaf], 0) / leaves.length };
  };
  const open = new Map(new Set(cuts.row(cuts.least)).size ? [...new Set(cuts.row(cuts.least))].map((g) => [g, begin(g, cuts.least)]) : []);
  const [done, joints] = [[], []];
  for (const split of cuts.splits) {
    const whole = open.get(split.group);
    whole.to = split.k;
    done.push(whole);
    const parts = [split.group, split.made].map((group) => begin(group, split.k));
    parts.forEach((part) => open.set(part.group, part));
    joints.push({ k: split.k, from: parts[0].at, to: parts[1].at });
  }
  return { branches: [...done, ...open.values()], joints };
}

function treeOf(store, context, k) {
  const { model, texts } = store;
  const { cuts } = model;
  const { width, height, top, bottom, left } = TREE;
  store.branches ??= branchesOf(cuts);
  const x = (at) => left + 6 + ((width - left - 16) * at) / Math.max(1, cuts.leaves - 1);
  const y = (level) => top + ((height - top - bottom) * (level - cuts.least)) / (cuts.most - cuts.least + 1);
  const colour = (group) => clusterColour(context.theme.value, group);
  const sizes = leafSizes(store);
  const choose = (branch) => {
    const own = new Set(branch.leaves);
    store.select(rowsWhere(model.n, (i) => own.has(model.leaf[i])), texts.definition.branch(branch.group, branch.from));
  };
  const lines = store.branches.branches.map((branch) => {
    const size = branch.leaves.reduce((all, leaf) => all + sizes[leaf], 0);
    const faded = k !== null && branch.from > k;
    const [x1, y1, y2] = [x(branch.at), y(branch.from), y(branch.to) + (branch.to === cuts.most ? (height - top - bottom) / (cuts.most - cuts.least + 1) : 0)];
    return svg(
      "g",
      {
        class: `cs-branch${faded ? " is-faded" : ""}`, tabindex: "0", role: "button",
        "aria-label": texts.branch(branch.group, size, branch.from), "data-group": branch.group, "data-from": branch.from,
        onclick: () => choose(branch),
        onkeydown: (event) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          choose(branch);
        },
      },
      svg("line", { x1, x2: x1, y1, y2, class: "cs-grip" }),
      svg("line", { x1, x2: x1, y1, y2, stroke: colour(branch.group), "stroke-width": 1.5 + 5 * Math.sqrt(size / model.n) }),
    );
  });
  const joints = store.branches.joints.map((one) =>
    svg("line", { class: "cs-joint", x1: x(one.from), x2: x(one.to), y1: y(one.k), y2: y(one.k) }),
  );
  const cut = k === null ? [] : [
    svg("line", { class: "cs-cut", x1: left, x2: width - 4, y1: y(k + 0.5), y2: y(k + 0.5) }),
    svg("text", { class: "cs-cut-text", x: left - 4, y: y(k + 0.5) + 4, "text-anchor": "end" }, String(k)),
  ];
  return svg("svg", { class: "cs-tree-k", viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": texts.cutsTitle }, ...joints, ...lines, ...cut);
}

function leafSizes(store) {
  if (store.sizesOfLeaves) return store.sizesOfLeaves;
  const sizes = new Float64Array(store.model.cuts.leaves);
  for (const leaf of store.model.leaf) if (leaf >= 0) sizes[leaf]++;
  return (store.sizesOfLeaves = sizes);
}

// ---- groups ------------------------------------------------------------------------------

export function groupsPanel(store, context) {
  const { model, texts } = store;
  const ticked = new Set();
  const body = h("tbody");
  const act = (step, words) => {
    store.done(step);
    store.said.set(texts.did(words ?? texts.steps[step.op](step)));
  };
  const join = button(texts.join, () => {
    const groups = [...ticked].sort((a, b) => a - b);
    ticked.clear();
    act({ op: "merge", groups });
  });
  const carve = button(texts.carve, () => {
    const { rows } = store.selection.value;
    act({ op: "carve", rows: Array.from(rows), count: rows.length, made: store.grouping.value.next() });
  });
  const undo = button(texts.undo, () => sayUndone(store.undo()), { title: texts.undoKeys });
  const redo = button(texts.redo, () => sayDone(store.again()), { title: texts.redoKeys });
  const sayUndone = (step) => step && store.said.set(texts.undone(texts.steps[step.op](step)));
  const sayDone = (step) => step && store.said.set(texts.did(texts.steps[step.op](step)));
  const history = h("ol", { class: "cs-history" });

  function divide(group) {
    if (!store.grouping.value.canSplit(group)) store.said.set(texts.cannotDivide(store.name(group)));
    else act({ op: "split", group, made: store.grouping.value.next() });
  }

  function line({ group, size, sure }) {
    const name = store.name(group);
    const field = h("input", {
      type: "text", class: "cs-name", value: store.grouping.value.names.get(group) ?? "", placeholder: name,
      "aria-label": texts.nameOf(group), maxlength: 200, disabled: group < 0,
      onchange: (event) => act({ op: "rename", group, name: event.target.value.trim() }),
    });
    const tick = h("input", {
      type: "checkbox", "aria-label": texts.tick(name), disabled: group < 0, checked: ticked.has(group),
      onchange: (event) => {
        if (event.target.checked) ticked.add(group);
        else ticked.delete(group);
        join.disabled = ticked.size < 2;
      },
    });
    return h(
      "tr", { "data-group": group },
      h("td", {}, tick),
      h("th", { scope: "row" }, swatch(context, group, false), field),
      h("td", { class: "cs-number" }, number(size)),
      model.confidence ? h("td", { class: "cs-number" }, number(sure)) : null,
      h("td", { class: "cs-acts" },
        button(texts.select, () => store.select(store.grouping.value.rowsOf(group), texts.definition.group(name)), { "aria-label": texts.selectGroup(name) }),
        group < 0 || !model.cuts.splits.length ? null : button(texts.divide, () => divide(group), { "aria-label": texts.divideGroup(name) })),
    );
  }

  const show = () => {
    const { list } = store.grouping.value;
    const there = new Set(list.map(({ group }) => group));
    for (const group of ticked) if (!there.has(group)) ticked.delete(group);
    body.replaceChildren(...list.map(line));
    join.disabled = ticked.size < 2;
    undo.disabled = store.steps.value.length < 2;
    redo.disabled = !store.redo.value.length;
    history.replaceChildren(...store.steps.value.map((step) => h("li", {}, texts.steps[step.op](step))));
  };
  const carvable = () => (carve.disabled = !store.selection.value.rows.length);
  store.grouping.watch(show);
  store.redo.watch(show);
  context.theme.watch(show);
  store.selection.watch(carvable);
  show();
  carvable();
  context.root.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.target.matches("input[type=text], input[type=search]")) return;
    const key = event.key.toLowerCase();
    if (key === "z" && !event.shiftKey) sayUndone(store.undo());
    else if (key === "y" || (key === "z" && event.shiftKey)) sayDone(store.again());
    else return;
    event.preventDefault();
  }, { signal: context.signal });
  const head = ["", texts.name, texts.size, ...(model.confidence ? [texts.confidence] : []), ""];
  return panel(
    texts.groupsTitle, "groups", h("p", { class: "cs-read" }, texts.groupsRead),
    h("div", { class: "cs-scroll", tabindex: "0", role: "group", "aria-label": texts.groupsTitle },
      h("table", { class: "cs-table cs-groups" },
        h("thead", {}, h("tr", {}, ...head.map((text) => (text ? h("th", { scope: "col" }, text) : h("td"))))), body)),
    h("div", { class: "cs-tools" }, join, carve, undo, redo, button(texts.save, () => saveLabels(store))),
    h("details", {}, h("summary", {}, texts.history), history),
  );
}

/** All objects with their groups, and above them what was done, as comments. */
export function labelsFile(store) {
  const { model, texts } = store;
  const grouping = store.grouping.value;
  const rows = Array.from({ length: model.n }, (_, i) => i);
  const values = (work) => rows.map(work);
  const columns = [
    { name: "id", values: values((i) => model.id(i)) },
    { name: "cluster", values: values((i) => grouping.of(i)) },
  ];
  if (grouping.names.size) columns.push({ name: "name", values: values((i) => store.name(grouping.of(i))) });
  const last = store.steps.value.slice(store.steps.value.findLastIndex(({ op }) => op === "base"));
  const asFound = !last[0].answer && last[0].k === model.cuts.default && last.slice(1).every(({ op }) => op === "rename");
  // Of other groups nobody has said how sure they are.
  if (asFound && model.confidence) {
    columns.push({ name: "confidence", values: values((i) => model.confidence[i]) });
    if (model.runnerUp) columns.push({ name: "runner_up", values: values((i) => model.runnerUp[i]) });
  }
  const comments = [`${model.title}: ${texts.history}`, ...store.steps.value.map((step) => texts.steps[step.op](step))];
  return comments.map((text) => `# ${text.replace(/\s+/g, " ")}\r\n`).join("") + csvOf(columns, rows);
}

function saveLabels(store) {
  download("labels.csv", labelsFile(store));
}

// ---- two answers -------------------------------------------------------------------------

export function comparePanel(store, context) {
  const { model, texts } = store;
  if (model.answers.length < 2 && !model.truth) return null;
  const others = [...model.answers.map(({ name }, i) => [i, i ? name : texts.answerMain])];
  const option = ([value, name]) => h("option", { value }, name);
  const main = h("select", { "aria-label": texts.answerLabel, onchange: (event) => store.answer(Number(event.target.value)) }, ...others.map(option));
  const beside = h("select", { "aria-label": texts.compareLabel, onchange: (event) => store.compare.set(Number(event.target.value)) },
    h("option", { value: 0 }, texts.compareNothing),
    ...others.slice(1).map(option),
    ...(model.truth ? [h("option", { value: -1 }, texts.colourTruth)] : []));
  const place = h("div", { class: "cs-beside" });

  function show() {
    main.value = String(store.base().answer || 0);
    beside.value = String(store.compare.value);
    const i = store.compare.value;
    if (!i) return place.replaceChildren();
    const labels = i < 0 ? model.truth : model.answers[i].labels;
    const named = (g) => (i < 0 ? (model.truthLevels[g] ?? texts.unknown) : g < 0 ? model.nobody : texts.group(g));
    const grouping = store.grouping.value;
    const cells = tableOf(model.n, grouping.of, (row) => labels[row]);
    const columns = [...new Set([...cells.keys()].map((key) => Number(key.split(" ")[1])))].sort((a, b) => a - b);
    const lines = grouping.list.map(({ group }) => [
      store.name(group),
      ...columns.map((g) => {
        const count = cells.get(`${group} ${g}`) ?? 0;
        if (!count) return "";
        const pick = () => store.select(rowsWhere(model.n, (row) => labels[row] === g && grouping.of(row) === group), texts.definition.cell(store.name(group), named(g)));
        return button(number(count), pick, { "aria-label": `${texts.definition.cell(store.name(group), named(g))}: ${number(count)}` });
      }),
    ]);
    place.replaceChildren(
      h("p", { class: "cs-read" }, texts.compareRead, " ", texts.compareAgree(randIndex(cells))),
      smallTable(["", ...columns.map(named)], lines, texts.compareTitle),
    );
    return undefined;
  }

  store.compare.watch(show);
  store.grouping.watch(show);
  show();
  return panel(texts.compareTitle, "compare",
    h("div", { class: "cs-tools" }, h("label", {}, texts.answerLabel, " ", main), h("label", {}, texts.compareLabel, " ", beside)), place);
}

// ---- threshold ---------------------------------------------------------------------------

const BINS = 60;

export function scoresPanel(store, context) {
  const { model, texts } = store;
  const { scored } = model;
  if (!scored) return null;
  let [low, high] = [Infinity, -Infinity];
  for (const value of scored.values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (!(high > low)) return null;
  const counts = new Float64Array(BINS);
  for (const value of scored.values) if (Number.isFinite(value)) counts[Math.min(BINS - 1, Math.floor((BINS * (value - low)) / (high - low)))]++;
  const most = Math.log1p(counts.reduce((all, one) => Math.max(all, one), 0));
  const bars = [...counts].map((count, i) => svg("rect", { x: i * 6, width: 5, y: 70 - (66 * Math.log1p(count)) / most, height: (66 * Math.log1p(count)) / most }));
  const slider = h("input", {
    type: "range", class: "cs-slider", min: 0, max: 1000, step: 1, "aria-label": texts.scoresLabel,
    oninput: (event) => store.threshold.set(low + ((high - low) * Number(event.target.value)) / 1000),
  });
  const exact = h("input", { type: "number", step: "any", class: "cs-exact", "aria-label": texts.scoresLabel, onchange: (event) => store.threshold.set(Number(event.target.value)) });
  const words = h("p", { class: "cs-scored", role: "status" });
  const judged = h("p", { class: "cs-judged" });
  const threshold = () => store.threshold.value ?? (scored.high ? high : low);
  const pick = () => {
    const at = threshold();
    store.select(rowsWhere(model.n, (i) => (scored.high ? scored.values[i] >= at : scored.values[i] < at)), texts.definition.score(scored.high ? "≥" : "<", at));
  };
  const show = () => {
    const at = threshold();
    slider.value = String(Math.round((1000 * (at - low)) / (high - low)));
    exact.value = String(at);
    const found = atThreshold(scored, at);
    const share = texts.percent(found.taken / model.n);
    words.textContent = scored.high ? texts.scoresAbove(found.taken, share) : texts.scoresBelow(found.taken, share);
    judged.textContent = scored.wanted ? texts.scoresTruth(found.precision, found.recall, found.f1) : "";
    bars.forEach((bar, i) => {
      const middle = low + ((i + 0.5) * (high - low)) / BINS;
      bar.setAttribute("class", (scored.high ? middle >= at : middle < at) ? "is-beyond" : "");
    });
  };
  store.threshold.watch(show);
  show();
  return panel(
    texts.scoresTitle, "scores",
    svg("svg", { class: "cs-score-bars", viewBox: `0 0 ${6 * BINS} 72`, preserveAspectRatio: "none", role: "img", "aria-label": `${scored.what}: ${texts.interval(number(low), number(high))}` }, ...bars),
    h("div", { class: "cs-slide" }, slider, exact), words, judged,
    h("div", { class: "cs-tools" }, button(texts.scoresSelect, pick),
      ...scored.rules.map(([name, value]) => button(texts.scoresRule(name, value), () => store.threshold.set(value)))),
  );
}

// ---- objects in doubt --------------------------------------------------------------------

const MOST_TORN = 30;

export function tornPanel(store, context) {
  const { model, texts } = store;
  if (!model.torn && !model.confidence) return null;
  if (!model.torn) return panel(texts.tornTitle, "torn", h("p", { class: "cs-read" }, texts.tornNone));
  const { objects, groups, shares, width } = model.torn;
  const place = h("div");
  const show = () => {
    const lines = Array.from(objects.subarray(0, MOST_TORN), (row, i) => {
      const who = h("span", { class: "cs-claims" });
      for (let c = 0; c < width; c++) {
        const share = shares[i * width + c];
        if (share >= 0.005) who.append(h("span", { class: "cs-tone" }, swatch(context, groups[i * width + c], false), h("span", {}, `${texts.group(groups[i * width + c])} ${number(Math.round(share * 100) / 100)}`)));
      }
      const look = () => {
        store.focus.set(row);
        store.select(Uint32Array.of(row), texts.definition.object(model.id(row)));
      };
      return [button(model.id(row), look, { class: "cs-link" }), model.confidence ? number(model.confidence[row]) : "–", who];
    });
    place.replaceChildren(smallTable([texts.tableObject, texts.confidence, texts.groupsTitle], lines, texts.tornTitle));
  };
  context.theme.watch(show);
  show();
  const more = objects.length > MOST_TORN ? h("p", { class: "cs-read" }, texts.tornMore(objects.length - MOST_TORN)) : null;
  return panel(texts.tornTitle, "torn", h("p", { class: "cs-read" }, texts.tornRead), place, ...(more ? [more] : []),
    h("div", { class: "cs-tools" }, button(texts.tornSelect, () => store.select(Uint32Array.from(objects).sort(), texts.definition.torn))));
}
