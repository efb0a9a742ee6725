/** The map: objects as points, a lasso, what is seen, where one is. */

import { fitted } from "../canvas.js";
import { h, onWidth } from "../dom.js";
import { number } from "../format.js";
import { swatch } from "../legend.js";
import { makeZoom, zoomButtons } from "../zoom.js";
import { rowsWhere } from "./grouping.js";
import { gridOf, rowsInside, unitPlaces } from "./places.js";
import { flatRenderer, glRenderer } from "./renderer.js";
import { tonesOf } from "./tones.js";

const REACH = 12;
const SMALL_SCREEN = 620;
const MOST_ON_SMALL = 200_000;

export function drawMap(host, store, context) {
  const { model, texts } = store;
  const points = h("canvas", { class: "cs-points", "aria-hidden": "true" });
  const above = h("canvas", { class: "cs-above", role: "img", tabindex: "0", "aria-label": texts.mapLabel });
  const frame = h("div", { class: "cs-canvas cs-map" }, points, above);
  const plain = new URLSearchParams(location.search).has("canvas");
  let renderer = plain ? null : safely(() => glRenderer(points));
  const flat = renderer === null;
  renderer ??= flatRenderer(flat && !plain ? replaced(points) : points);
  const step = stepFor(model.n);
  const drawn = step > 1 ? rowsWhere(model.n, (i) => i % step === 0) : null;
  const notes = h("p", { class: "cs-read cs-map-notes" });
  const words = h("p", { class: "cs-read" });
  const bar = h("div", { class: "cs-bar" });
  host.append(bar, frame, h("div", { class: "cs-tones" }), words, notes);
  notes.textContent = [
    flat ? texts.noWebGL : "",
    step > 1 ? texts.phone(drawn.length, model.n) : "",
    model.n_all > model.n ? texts.thinned(model.n, model.n_all) : "",
  ].filter(Boolean).join(" ");

  const scene = { places: null, grid: null, key: null, width: 0, height: 0, waiting: 0, line: null, lasso: false, frames: 0, script: 0 };
  const aspect = () => (scene.width ? scene.height / scene.width : 0.66);
  const some = (data, width = 1) => (drawn ? picked(data, drawn, width) : data);
  const paper = () => (points.isConnected ? points : frame.querySelector("canvas"));

  function placesChanged() {
    const one = model.maps[store.map.value];
    scene.places = unitPlaces(one.places, aspect());
    scene.grid = null;
    scene.middles = null;
    renderer.places(some(scene.places, 2));
    words.textContent = one.words;
    above.setAttribute("aria-label", `${texts.mapLabel} ${one.axes.join(", ")}.`);
    repaint();
  }

  function tonesChanged() {
    const tones = tonesOf(store, context.theme.value);
    if (tones.key !== scene.key || tones.data) renderer.tones(some(tones.data ?? tones.make()));
    scene.key = tones.key;
    scene.middles = null;
    renderer.palette(tones.palette);
    drawLegend(host.querySelector(".cs-tones"), tones.legend, store, context);
    repaint();
  }

  function statesChanged() {
    const states = new Uint8Array(model.n);
    for (const row of store.selection.value.rows) states[row] = 1;
    renderer.states(some(states));
    repaint();
  }

  function repaint() {
    if (!scene.waiting) scene.waiting = requestAnimationFrame(paint);
  }

  function paint() {
    const started = performance.now();
    scene.waiting = 0;
    if (!scene.width || !scene.places) return;
    const scale = window.devicePixelRatio || 1;
    const { left, top, span } = zoom.view;
    const size = scale * pointSize(drawn ? drawn.length : model.n, span);
    const layered = store.selection.value.rows.length > 0;
    renderer.draw({ left, top, width: span, height: span, size, layered, faint: model.n > 50_000 ? 0.12 : 0.2 });
    paintAbove(scale);
    scene.frames++;
    scene.script += performance.now() - started;
  }

  function paintAbove(scale) {
    const pen = above.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, scene.width, scene.height);
    const place = (u, v) => [((u - zoom.view.left) / zoom.view.span) * scene.width, ((v - zoom.view.top) / zoom.view.span) * scene.height];
    const { theme } = context;
    if (store.colour.value === "groups") paintNames(pen, place, scene, store, theme.value);
    const row = context.pointed.value ?? -1;
    for (const [one, wide] of [[store.focus.value, 9], [row, 7]]) {
      if (one < 0) continue;
      const [x, y] = place(scene.places[2 * one], scene.places[2 * one + 1]);
      ring(pen, x, y, wide, theme.value);
    }
    if (scene.line) paintLine(pen, scene.line, place, theme.value);
    pen.fillStyle = theme.value.muted;
    pen.font = `11px ${theme.value.font}`;
    pen.textAlign = "right";
    const [xaxis, yaxis] = model.maps[store.map.value].axes;
    pen.fillText(fitted(pen, `→ ${xaxis}`, scene.width / 2), scene.width - 6, scene.height - 6);
    pen.textAlign = "left";
    pen.fillText(fitted(pen, `↑ ${yaxis}`, scene.width / 2 - 12), 6, 14);
  }

  const zoom = makeZoom(above, context.signal, {
    area: () => ({ x: 0, y: 0, width: scene.width, height: scene.height }),
    least: 0.002,
    changed: repaint,
  });
  const grid = () => (scene.grid ??= gridOf(scene.places));

  function under(event) {
    const [u, v] = zoom.placeOf(event);
    if (u < 0 || u > 1 || v < 0 || v > 1) return -1;
    const { left, top, span } = zoom.view;
    return grid().nearest(left + u * span, top + v * span, (REACH * span) / scene.width, (REACH * span) / scene.height);
  }

  function seen() {
    const { left, top, span } = zoom.view;
    const inside = (value, low) => value >= low && value <= low + span;
    const rows = rowsWhere(model.n, (i) => inside(scene.places[2 * i], left) && inside(scene.places[2 * i + 1], top));
    store.select(rows, texts.definition.seen(mapName()));
  }

  const mapName = () => texts.maps[model.maps[store.map.value].name];
  const lassoButton = h("button", { type: "button", class: "cs-button", title: texts.lassoHint, "aria-pressed": "false", onclick: () => setLasso(!scene.lasso) }, texts.lasso);
  function setLasso(on) {
    scene.lasso = on;
    lassoButton.setAttribute("aria-pressed", String(on));
    above.classList.toggle("is-lasso", on);
  }

  bar.append(
    h("div", { class: "cs-tools" },
      lassoButton,
      h("button", { type: "button", class: "cs-button", title: texts.seenHint, onclick: seen }, texts.seen),
      h("button", { type: "button", class: "cs-button", title: texts.clearHint, onclick: () => store.select([], null) }, texts.clear),
    ),
    zoomButtons(zoom),
  );

  listenToLasso(above, zoom, scene, context.signal, repaint, (polygon) => {
    store.select(rowsInside(scene.places, grid(), polygon), texts.definition.lasso(mapName()));
    setLasso(false);
  });
  const on = (name, work) => above.addEventListener(name, work, { signal: context.signal });
  on("pointermove", (event) => {
    const row = scene.line || (event.buttons && zoom.dragged) ? -1 : under(event);
    context.pointed.set(row < 0 ? null : row);
    above.classList.toggle("is-on-mark", row >= 0);
    if (row < 0) context.tooltip.hide();
    else context.tooltip.show(event, model.id(row), factsOf(store, row));
  });
  on("pointerleave", () => {
    context.pointed.set(null);
    context.tooltip.hide();
  });
  on("click", (event) => {
    if (zoom.dragged || scene.justDrawn) return;
    const row = under(event);
    if (row < 0) return;
    store.focus.set(row);
    store.select(Uint32Array.of(row), texts.definition.object(model.id(row)));
  });
  on("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "l" || event.key === "L") setLasso(!scene.lasso);
    else if (event.key === "v" || event.key === "V") seen();
    else return;
    event.preventDefault();
  });

  onWidth(frame, context.signal, (wide) => {
    scene.width = wide;
    scene.height = Math.round(Math.min(620, Math.max(280, wide * 0.68), Math.max(280, window.innerHeight * 0.78)));
    const scale = window.devicePixelRatio || 1;
    for (const canvas of [paper(), above]) {
      canvas.width = Math.round(wide * scale);
      canvas.height = Math.round(scene.height * scale);
      canvas.style.width = `${wide}px`;
      canvas.style.height = `${scene.height}px`;
    }
    frame.style.height = `${scene.height}px`;
    placesChanged();
    // At once: a canvas that changed its size is empty.
    if (scene.key) paint();
  });
  tonesChanged();
  statesChanged();
  store.map.watch(placesChanged);
  store.colour.watch(tonesChanged);
  store.grouping.watch(tonesChanged);
  store.selection.watch(statesChanged);
  store.focus.watch(repaint);
  context.pointed.watch(repaint);
  context.theme.watch(tonesChanged);
  context.signal.addEventListener("abort", () => renderer.forget());
  return { zoom, scene, renderer, paint, seen, places: () => scene.places };
}

function safely(work) {
  try {
    return work();
  } catch {
    return null;
  }
}

/** A canvas that was asked for WebGL gives no plain pen any more. */
function replaced(canvas) {
  const fresh = h("canvas", { class: "cs-points", "aria-hidden": "true" });
  canvas.replaceWith(fresh);
  return fresh;
}

/** Every so many objects are drawn: small screens get fewer of many. */
function stepFor(n) {
  if (n <= MOST_ON_SMALL || Math.min(screen.width, window.innerWidth) > SMALL_SCREEN) return 1;
  return Math.ceil(n / MOST_ON_SMALL);
}

function picked(data, rows, width) {
  const found = new data.constructor(rows.length * width);
  rows.forEach((row, i) => {
    for (let c = 0; c < width; c++) found[i * width + c] = data[row * width + c];
  });
  return found;
}

/** Diameter in CSS pixels: many points are small, and grow when one looks closer. */
function pointSize(n, span) {
  const base = Math.min(9, Math.max(1.6, 260 / Math.sqrt(n)));
  return Math.min(14, base * Math.min(4, (1 / span) ** 0.35));
}

function paintNames(pen, place, scene, store, theme) {
  scene.middles ??= middlesOf(scene.places, store);
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.font = `600 12px ${theme.font}`;
  pen.lineWidth = 3;
  for (const { group, u, v } of scene.middles) {
    const [x, y] = place(u, v);
    pen.strokeStyle = theme.paper;
    pen.fillStyle = theme.ink;
    const name = store.name(group);
    pen.strokeText(name, x, y);
    pen.fillText(name, x, y);
  }
  pen.textBaseline = "alphabetic";
}

/** Middles of the larger groups. */
function middlesOf(places, store) {
  const grouping = store.grouping.value;
  const sums = new Map(grouping.list.filter(({ group }) => group >= 0).map(({ group }) => [group, [0, 0, 0]]));
  if (sums.size > 30) return [];
  const n = places.length / 2;
  const step = Math.max(1, Math.floor(n / 50_000));
  for (let i = 0; i < n; i += step) {
    const sum = sums.get(grouping.of(i));
    if (!sum) continue;
    sum[0] += places[2 * i];
    sum[1] += places[2 * i + 1];
    sum[2]++;
  }
  return [...sums].filter(([, sum]) => sum[2]).map(([group, [u, v, count]]) => ({ group, u: u / count, v: v / count }));
}

function ring(pen, x, y, radius, theme) {
  for (const [width, colour] of [[5, theme.paper], [2, theme.ink]]) {
    pen.beginPath();
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    pen.lineWidth = width;
    pen.strokeStyle = colour;
    pen.stroke();
  }
}

function paintLine(pen, line, place, theme) {
  pen.beginPath();
  for (let i = 0; i < line.length; i += 2) pen.lineTo(...place(line[i], line[i + 1]));
  pen.closePath();
  pen.strokeStyle = theme.accent;
  pen.lineWidth = 2;
  pen.setLineDash([5, 4]);
  pen.stroke();
  pen.setLineDash([]);
  pen.globalAlpha = 0.12;
  pen.fillStyle = theme.accent;
  pen.fill();
  pen.globalAlpha = 1;
}

/** Drawing around objects: with the lasso switched on, or with Shift held. Comes before the zoom. */
function listenToLasso(element, zoom, scene, signal, repaint, done) {
  const place = (event) => {
    const [u, v] = zoom.placeOf(event);
    return [zoom.view.left + u * zoom.view.span, zoom.view.top + v * zoom.view.span];
  };
  const parent = element.parentElement;
  const on = (name, work) => parent.addEventListener(name, work, { signal, capture: true });
  on("pointerdown", (event) => {
    scene.justDrawn = false;
    if (event.button !== 0 || !(scene.lasso || event.shiftKey)) return;
    event.stopPropagation();
    event.preventDefault();
    element.focus({ preventScroll: true });
    element.setPointerCapture?.(event.pointerId);
    scene.line = [...place(event)];
  });
  on("pointermove", (event) => {
    if (!scene.line) return;
    event.stopPropagation();
    const [u, v] = place(event);
    const far = Math.hypot(u - scene.line.at(-2), v - scene.line.at(-1));
    if (far * scene.width > 3 * zoom.view.span) scene.line.push(u, v);
    repaint();
  });
  on("pointerup", () => {
    if (!scene.line) return;
    const line = scene.line;
    scene.line = null;
    scene.justDrawn = true;
    if (line.length >= 6) done(line);
    repaint();
  });
  on("pointercancel", () => {
    scene.line = null;
    repaint();
  });
}

/** What the hover box says of an object. */
export function factsOf(store, row) {
  const { model, texts } = store;
  const facts = [[texts.tableGroup, store.name(store.grouping.value.of(row))]];
  if (model.confidence) facts.push([texts.confidence, number(model.confidence[row])]);
  for (const { name, values } of model.views) facts.push([texts.view(name), Number.isFinite(values[row]) ? number(values[row]) : texts.unknown]);
  if (model.scored) facts.push([model.scored.what, number(model.scored.values[row])]);
  if (model.truth) facts.push([texts.colourTruth, model.truthLevels[model.truth[row]] ?? texts.unknown]);
  for (const column of model.columns.filter(({ values }) => values).slice(0, 6)) facts.push([column.name, valueText(column, row, texts)]);
  return facts;
}

/** A value of a column as it is read. */
export function valueText(column, row, texts) {
  const value = column.values[row];
  if (column.kind === "number" || column.kind === "word") return number(value);
  return column.levels[value] ?? texts.unknown;
}

function drawLegend(place, legend, store, context) {
  if (legend.kind === "scale") {
    place.replaceChildren(
      h("span", { class: "cs-scale-name" }, legend.what),
      h("span", {}, legend.low),
      h("span", { class: "cs-scale", role: "img", "aria-label": store.texts.interval(legend.low, legend.high) }),
      h("span", {}, legend.high),
    );
    return;
  }
  const many = legend.groups.length > 24;
  place.replaceChildren(
    ...legend.groups.slice(0, 24).map(({ group, name }) =>
      h("span", { class: "cs-tone" }, swatch(context, group, false), h("span", {}, name)),
    ),
    ...(many ? [h("span", {}, `+ ${legend.groups.length - 24}`)] : []),
  );
}
