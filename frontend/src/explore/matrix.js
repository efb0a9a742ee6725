/** How often objects are together: leaves of the tree first, then some objects of each. */

import { clusterColour, colourScale } from "../colours.js";
import { makeCanvas } from "../canvas.js";
import { h } from "../dom.js";
import { number } from "../format.js";
import { rowsWhere } from "./grouping.js";
import { button, panel, smallTable } from "./panels.js";

const EDGE = 12;

export function matrixPanel(store, context) {
  const { model, texts } = store;
  if (!model.pairs || model.cuts.leaves < 1) return null;
  const levels = [leavesLevel(store), objectsLevel(store)];
  const scene = { level: 0, from: -1, to: -1, at: 0, since: 0 };
  const place = h("div");
  const tools = h("div", { class: "cs-tools", role: "group", "aria-label": texts.matrixTitle });
  const view = makeCanvas(place, { ...context, picked: { watch() {} } }, {
    label: texts.matrixLabel,
    height: (width) => Math.min(width, 520),
    paint: (pen, width, height) => paint(pen, Math.min(width, height), levels[scene.level], scene, store, context.theme.value),
  });
  const choose = (level) => {
    Object.assign(scene, { level, from: -1, to: -1, at: 0, since: 0 });
    [...tools.children].forEach((one, i) => one.setAttribute("aria-pressed", String(i === level)));
    view.repaint();
  };
  tools.append(button(texts.matrixLeaves, () => choose(0)), button(texts.matrixObjects(model.pairs.objects.length), () => choose(1)));
  choose(0);
  const table = h("details", {}, h("summary", {}, texts.asTable), smallTable(["", ...levels[0].names], tableLines(levels[0]), texts.matrixTitle));
  const found = panel(texts.matrixTitle, "matrix", h("p", { class: "cs-read" }, texts.matrixRead), tools, place, table);
  queueMicrotask(() => view.start());
  listen(view, levels, scene, store, context);
  for (const one of [store.grouping, store.selection]) one.watch(() => view.repaint());
  return found;
}

/** Leaves as blocks, as wide as the root of their share: small ones stay visible. */
function leavesLevel(store) {
  const { cuts, leaf, n } = store.model;
  const sizes = new Float64Array(cuts.leaves);
  for (const one of leaf) if (one >= 0) sizes[one]++;
  const order = Array.from(cuts.order);
  const widths = order.map((one) => Math.sqrt(Math.max(sizes[one], n / 2000)));
  const all = widths.reduce((sum, one) => sum + one, 0) || 1;
  const ends = [];
  widths.reduce((sum, one, i) => (ends[i] = sum + one / all), 0);
  return {
    count: order.length,
    ends,
    names: order.map((one) => store.texts.group(cuts.row(cuts.most)[one])),
    value: (i, j) => cuts.together[order[i] * cuts.leaves + order[j]],
    group: (i) => (store.grouping.value.byLeaf ? store.grouping.value.byLeaf[order[i]] : cuts.row(cuts.most)[order[i]]),
    rows: (from, to) => {
      const own = new Set(order.slice(from, to + 1));
      return rowsWhere(n, (i) => own.has(leaf[i]));
    },
    isChosen: null,
  };
}

function objectsLevel(store) {
  const { objects, joined } = store.model.pairs;
  const count = objects.length;
  return {
    count,
    ends: Array.from(objects, (_, i) => (i + 1) / count),
    names: null,
    name: (i) => store.model.id(objects[i]),
    value: (i, j) => joined[i * count + j] / 255,
    group: (i) => store.grouping.value.of(objects[i]),
    rows: (from, to) => Uint32Array.from(objects.subarray(from, to + 1)).sort(),
    objects,
  };
}

const nameOf = (level, i) => (level.names ? level.names[i] : level.name(i));

function paint(pen, side, level, scene, store, theme) {
  const scale = colourScale(theme);
  const inner = side - EDGE;
  const start = (i) => (i ? level.ends[i - 1] : 0);
  if (level.count > 80) paintPixels(pen, inner, level, scale);
  else {
    for (let i = 0; i < level.count; i++) {
      for (let j = 0; j < level.count; j++) {
        const value = level.value(i, j);
        const from = 3 * Math.round(255 * (Number.isFinite(value) ? value : 0));
        pen.fillStyle = `rgb(${scale[from]} ${scale[from + 1]} ${scale[from + 2]})`;
        pen.fillRect(EDGE + inner * start(j), EDGE + inner * start(i), inner * (level.ends[j] - start(j)) + 0.5, inner * (level.ends[i] - start(i)) + 0.5);
      }
    }
  }
  const chosen = chosenRows(level, store);
  for (let i = 0; i < level.count; i++) {
    pen.fillStyle = clusterColour(theme, level.group(i));
    const [at, wide] = [EDGE + inner * start(i), inner * (level.ends[i] - start(i)) + 0.5];
    pen.fillRect(0, at, EDGE - 3, wide);
    pen.fillRect(at, 0, wide, EDGE - 3);
    if (chosen?.has(i)) {
      pen.fillStyle = theme.ink;
      pen.fillRect(EDGE - 3, at, 3, wide);
    }
  }
  if (scene.from >= 0 || scene.keyed) {
    const [one, other] = scene.from >= 0 ? [scene.from, scene.to] : [scene.since, scene.at];
    const [a, b] = [Math.min(one, other), Math.max(one, other)];
    pen.strokeStyle = theme.accent;
    pen.lineWidth = 2;
    pen.strokeRect(EDGE, EDGE + inner * start(a), inner - 1, Math.max(2, inner * (level.ends[b] - start(a))));
  }
}

/** Which rows of the picture have selected objects. */
function chosenRows(level, store) {
  const { rows } = store.selection.value;
  if (!rows.length) return null;
  const found = new Set();
  if (level.objects) {
    const chosen = new Set(rows);
    level.objects.forEach((row, i) => chosen.has(row) && found.add(i));
    return found;
  }
  const { leaf, cuts } = store.model;
  const place = new Map(Array.from(cuts.order, (one, i) => [one, i]));
  for (const row of rows) if (leaf[row] >= 0) found.add(place.get(leaf[row]));
  return found;
}

function paintPixels(pen, inner, level, scale) {
  const image = new ImageData(level.count, level.count);
  for (let i = 0, at = 0; i < level.count; i++) {
    for (let j = 0; j < level.count; j++, at += 4) {
      const from = 3 * Math.round(255 * level.value(i, j));
      image.data[at] = scale[from];
      image.data[at + 1] = scale[from + 1];
      image.data[at + 2] = scale[from + 2];
      image.data[at + 3] = 255;
    }
  }
  const small = h("canvas", { width: level.count, height: level.count });
  small.getContext("2d").putImageData(image, 0, 0);
  pen.imageSmoothingEnabled = false;
  pen.drawImage(small, EDGE, EDGE, inner, inner);
}

function listen(view, levels, scene, store, context) {
  const { texts } = store;
  const level = () => levels[scene.level];
  const along = (at) => {
    const { width, height } = view.size();
    const share = (at - EDGE) / (Math.min(width, height) - EDGE);
    if (share < 0 || share > 1) return -1;
    return level().ends.findIndex((end) => share <= end + 1e-9);
  };
  const select = (from, to) => store.select(level().rows(Math.min(from, to), Math.max(from, to)), texts.definition.matrix);
  const on = (name, work) => view.canvas.addEventListener(name, work, { signal: context.signal });
  on("pointerdown", (event) => {
    const i = along(view.place(event).y);
    if (i < 0) return;
    Object.assign(scene, { from: i, to: i, keyed: false });
    view.canvas.setPointerCapture?.(event.pointerId);
    view.repaint();
  });
  on("pointermove", (event) => {
    const { x, y } = view.place(event);
    const [i, j] = [along(y), along(x)];
    if (scene.from >= 0 && i >= 0) {
      scene.to = i;
      view.repaint();
    }
    if (i < 0 || j < 0) context.tooltip.hide();
    else context.tooltip.show(event, texts.matrixCell(nameOf(level(), i), nameOf(level(), j)), [[texts.together, number(level().value(i, j))]]);
  });
  on("pointerup", () => {
    if (scene.from >= 0) select(scene.from, scene.to);
    scene.from = -1;
    view.repaint();
  });
  on("pointercancel", () => (scene.from = -1));
  on("pointerleave", () => context.tooltip.hide());
  on("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      scene.at = Math.min(level().count - 1, Math.max(0, scene.at + step));
      if (!event.shiftKey) scene.since = scene.at;
    } else if (event.key === "Enter" || event.key === " ") select(scene.since, scene.at);
    else return;
    scene.keyed = true;
    event.preventDefault();
    view.repaint();
  });
}

function tableLines(level) {
  return level.names.map((name, i) => [name, ...level.names.map((_, j) => (Number.isFinite(level.value(i, j)) ? level.value(i, j).toFixed(2) : "–"))]);
}
