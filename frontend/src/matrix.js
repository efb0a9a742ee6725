/** A square matrix as a picture, with zoom; small ones carry their names and values. */

import { fitted, makeCanvas } from "./canvas.js";
import { clusterColour, colourScale } from "./colours.js";
import { h } from "./dom.js";
import { number } from "./format.js";
import { clusterLegend } from "./legend.js";
import { makeZoom, zoomButtons } from "./zoom.js";

const STRIP = 8; // the clusters' colours along the edges
const NAMED = 40; // up to so many rows have their names written beside them

/** Bytes of a base64 text. */
function bytesOf(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

export function drawMatrix(host, figure, context) {
  const scene = {
    figure,
    bytes: bytesOf(figure.values),
    clusters: figure.objects?.map((row) => context.objects.cluster(row)) ?? null,
    names: figure.names && figure.size <= NAMED ? figure.names : null,
    picture: null,
  };
  const bar = h("div", { class: "cs-bar is-square" });
  host.append(bar);
  let margin = 0;
  const view = makeCanvas(host, context, {
    label: context.label,
    height: (width) => Math.min(width, scene.names ? 180 + 56 * figure.size : 640, 640),
    paint,
  });
  view.frame.classList.add("is-square");
  const zoom = makeZoom(view.canvas, context.signal, {
    area,
    least: Math.min(1, 6 / figure.size),
    changed: () => view.repaint(),
  });

  /** The square of cells: to the right of and below the margin for names or colours. */
  function area() {
    const { width, height } = view.size();
    const side = Math.max(10, Math.min(width, height) - margin - 1);
    return { x: margin, y: margin, width: side, height: side };
  }

  function paint(pen, width) {
    const theme = context.theme.value;
    pen.font = `13px ${theme.font}`;
    margin = marginOf(pen, scene, width);
    if (scene.dark !== theme.dark || !scene.picture) {
      scene.picture = pictureOf(scene, theme);
      scene.dark = theme.dark;
    }
    const box = area();
    paintCells(pen, box, scene, zoom.view, context);
    if (scene.names) paintNames(pen, box, scene, zoom.view, theme);
    else if (scene.clusters) paintStrips(pen, box, scene, zoom.view, context);
  }

  // A few named cells are all legible as they are.
  const zooms = !scene.names || figure.size > 12;
  bar.append(scene.clusters ? clusterLegend(context) : "", zooms ? zoomButtons(zoom) : "");
  view.start();
  host.append(colourKey(figure, context));
  listen(view, zoom, scene, context);
}

function marginOf(pen, { names, clusters }, width) {
  if (!names) return clusters ? STRIP + 3 : 0;
  const widest = Math.max(...names.map((name) => pen.measureText(name).width));
  return Math.min(widest + 12, width * 0.28);
}

/** One pixel a cell. */
function pictureOf({ figure, bytes }, theme) {
  const scale = colourScale(theme);
  const picture = h("canvas", { width: figure.size, height: figure.size });
  const image = new ImageData(figure.size, figure.size);
  for (let i = 0; i < bytes.length; i++) {
    const at = 3 * bytes[i];
    image.data[4 * i] = scale[at];
    image.data[4 * i + 1] = scale[at + 1];
    image.data[4 * i + 2] = scale[at + 2];
    image.data[4 * i + 3] = 255;
  }
  picture.getContext("2d").putImageData(image, 0, 0);
  return picture;
}

function paintCells(pen, box, scene, view, context) {
  const { size } = scene.figure;
  const cut = [view.left * size, view.top * size, view.span * size, view.span * size];
  pen.save();
  pen.beginPath();
  pen.rect(box.x, box.y, box.width, box.height);
  pen.clip();
  // Cells smaller than a pixel are averaged; larger ones keep sharp edges.
  pen.imageSmoothingEnabled = box.width < view.span * size;
  pen.imageSmoothingQuality = "high";
  pen.drawImage(scene.picture, ...cut, box.x, box.y, box.width, box.height);
  if (scene.clusters) dimOthers(pen, box, scene, view, context);
  paintBounds(pen, box, scene.figure, view, context.theme.value);
  pen.restore();
}

/** From a place between cells (0..size) to pixels along one axis. */
const along = (start, length, from, span, size) => (place) =>
  start + ((place / size - from) / span) * length;

/** Runs of equal neighbours: [value, first, end). */
function runs(values) {
  const found = [];
  values.forEach((value, i) => {
    if (i > 0 && value === values[i - 1]) found.at(-1)[2] = i + 1;
    else found.push([value, i, i + 1]);
  });
  return found;
}

function dimOthers(pen, box, { clusters, figure }, view, { picked, theme }) {
  if (!picked.value.size) return;
  const x = along(box.x, box.width, view.left, view.span, figure.size);
  const y = along(box.y, box.height, view.top, view.span, figure.size);
  pen.fillStyle = theme.value.paper;
  pen.globalAlpha = 0.72;
  for (const [cluster, first, end] of runs(clusters)) {
    if (!picked.dims(cluster)) continue;
    pen.fillRect(box.x, y(first), box.width, y(end) - y(first));
    // Columns only in rows that are not dimmed already.
    for (const [other, from, to] of runs(clusters)) {
      if (!picked.dims(other)) pen.fillRect(x(first), y(from), x(end) - x(first), y(to) - y(from));
    }
  }
  pen.globalAlpha = 1;
}

function paintBounds(pen, box, figure, view, theme) {
  const x = along(box.x, box.width, view.left, view.span, figure.size);
  const y = along(box.y, box.height, view.top, view.span, figure.size);
  pen.beginPath();
  for (const bound of figure.bounds ?? []) {
    pen.moveTo(Math.round(x(bound)) + 0.5, box.y);
    pen.lineTo(Math.round(x(bound)) + 0.5, box.y + box.height);
    pen.moveTo(box.x, Math.round(y(bound)) + 0.5);
    pen.lineTo(box.x + box.width, Math.round(y(bound)) + 0.5);
  }
  pen.lineWidth = 1;
  pen.strokeStyle = theme.accent;
  pen.globalAlpha = 0.55;
  pen.stroke();
  pen.globalAlpha = 1;
}

function paintStrips(pen, box, { clusters, figure }, view, { theme, picked }) {
  const x = along(box.x, box.width, view.left, view.span, figure.size);
  const y = along(box.y, box.height, view.top, view.span, figure.size);
  const clip = (value, low, length) => Math.min(Math.max(value, low), low + length);
  for (const [cluster, first, end] of runs(clusters)) {
    const [x0, x1] = [x(first), x(end)].map((value) => clip(value, box.x, box.width));
    const [y0, y1] = [y(first), y(end)].map((value) => clip(value, box.y, box.height));
    pen.globalAlpha = picked.dims(cluster) ? 0.2 : 1;
    pen.fillStyle = clusterColour(theme.value, cluster);
    pen.fillRect(x0, 0, x1 - x0, STRIP);
    pen.fillRect(0, y0, STRIP, y1 - y0);
  }
  pen.globalAlpha = 1;
}

/** Names on both sides, and values inside the cells where there is room. */
function paintNames(pen, box, scene, view, theme) {
  const { size } = scene.figure;
  const x = along(box.x, box.width, view.left, view.span, size);
  const y = along(box.y, box.height, view.top, view.span, size);
  const cell = box.width / (view.span * size);
  pen.font = `13px ${theme.font}`;
  pen.fillStyle = theme.ink;
  pen.textBaseline = "middle";
  scene.names.forEach((name, i) => {
    const [cx, cy] = [x(i + 0.5), y(i + 0.5)];
    const text = fitted(pen, name, box.x - 10);
    if (cy > box.y && cy < box.y + box.height && cell > 11) {
      pen.textAlign = "right";
      pen.fillText(text, box.x - 6, cy);
    }
    if (cx <= box.x || cx >= box.x + box.width || cell <= 11) return;
    pen.save();
    pen.translate(cx, box.y - 6);
    pen.rotate(-Math.PI / 2);
    pen.textAlign = "left";
    pen.fillText(text, 0, 0);
    pen.restore();
  });
  if (cell >= 38) paintValues(pen, box, scene, x, y, theme);
}

function paintValues(pen, box, scene, x, y, theme) {
  const { size } = scene.figure;
  pen.save();
  pen.beginPath();
  pen.rect(box.x, box.y, box.width, box.height);
  pen.clip();
  pen.textAlign = "center";
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      const byte = scene.bytes[row * size + column];
      // Much is dark in the light theme and light in the dark one: the text must be the other.
      const onMuch = theme.dark ? "#10151c" : "#ffffff";
      pen.fillStyle = byte > 130 ? onMuch : theme.ink;
      pen.fillText(valueAt(scene, row, column).toFixed(2), x(column + 0.5), y(row + 0.5));
    }
  }
  pen.restore();
}

function valueAt({ figure, bytes }, row, column) {
  const { low = 0, high = 1, size, numbers } = figure;
  const at = row * size + column;
  // A byte is fine enough for a shade, not for a figure that is read beside others.
  return numbers ? numbers[at] : low + (bytes[at] / 255) * (high - low);
}

/** What the shades mean. */
function colourKey(figure, context) {
  const canvas = h("canvas", { width: 256, height: 1, class: "cs-scale", "aria-hidden": "true" });
  const paint = () => {
    const scale = colourScale(context.theme.value);
    const image = new ImageData(256, 1);
    for (let i = 0; i < 256; i++) image.data.set([...scale.subarray(3 * i, 3 * i + 3), 255], 4 * i);
    canvas.getContext("2d").putImageData(image, 0, 0);
  };
  paint();
  context.theme.watch(paint);
  const [low, high] = [number(figure.low ?? 0), number(figure.high ?? 1)];
  return h("div", { class: "cs-key" }, h("span", {}, low), canvas, h("span", {}, high));
}

function listen(view, zoom, scene, { objects, tooltip, signal, pointed }) {
  const { figure, clusters } = scene;
  const nameOf = (i) => (figure.objects ? objects.id(figure.objects[i]) : figure.names?.[i] ?? `${i}`);
  const whose = (i) => (clusters ? objects.clusterName(clusters[i]) : "");
  const on = (name, work) => view.canvas.addEventListener(name, work, { signal });
  on("pointermove", (event) => {
    const [u, v] = zoom.placeOf(event);
    if (u < 0 || u >= 1 || v < 0 || v >= 1 || (event.buttons && zoom.dragged)) return tooltip.hide();
    const column = Math.floor((zoom.view.left + u * zoom.view.span) * figure.size);
    const row = Math.floor((zoom.view.top + v * zoom.view.span) * figure.size);
    if (figure.objects) pointed.set(figure.objects[row]);
    const pair = `${nameOf(row)} and ${nameOf(column)}`;
    const facts = [["Value", number(valueAt(scene, row, column))]];
    if (clusters) facts.push(["In", `${whose(row)}, ${whose(column)}`]);
    return tooltip.show(event, pair, facts);
  });
  on("pointerleave", () => {
    tooltip.hide();
    if (figure.objects) pointed.set(null);
  });
}
