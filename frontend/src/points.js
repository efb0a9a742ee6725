/** Objects in two dimensions, coloured by cluster, faint where we are unsure. */

import { makeCanvas } from "./canvas.js";
import { clusterColour, clusterShape, traceMark } from "./colours.js";
import { h } from "./dom.js";
import { number, ticks } from "./format.js";
import { gridIndex } from "./grid.js";
import { clusterLegend } from "./legend.js";
import { makeZoom, zoomButtons } from "./zoom.js";

const MARGIN = { left: 50, right: 12, top: 12, bottom: 46 };
const ASPECT = 0.72;

/** [low, high] of the values with some air around. */
function extent(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (!(high > low)) return low === high ? [low - 1, high + 1] : [0, 1];
  const air = 0.04 * (high - low);
  return [low - air, high + air];
}

function widened([low, high], factor) {
  const more = ((high - low) * (factor - 1)) / 2;
  return [low - more, high + more];
}

/**
 * The same scale on both axes, so that distances are true, unless that would waste most of the
 * picture: then each axis has its own.
 */
function frameOf(figure) {
  const [x, y] = [extent(figure.x), extent(figure.y)];
  const [wide, tall] = [x[1] - x[0], (y[1] - y[0]) / ASPECT];
  const stretch = Math.max(wide / tall, tall / wide);
  if (stretch > 3) return { x, y };
  return wide > tall ? { x, y: widened(y, stretch) } : { x: widened(x, stretch), y };
}

/** How strong a point is drawn: faint where we are unsure, and where it is in no cluster. */
function strength(cluster, confidence) {
  if (!(cluster >= 0)) return 0.45;
  return confidence === null ? 0.85 : 0.2 + 0.75 * confidence ** 2;
}

/** Everything about the points that does not change while the reader looks. */
function sceneOf(figure, context) {
  const { objects } = context;
  const frame = frameOf(figure);
  const us = Float64Array.from(figure.x, (x) => (x - frame.x[0]) / (frame.x[1] - frame.x[0]));
  const vs = Float64Array.from(figure.y, (y) => 1 - (y - frame.y[0]) / (frame.y[1] - frame.y[0]));
  const clusters = figure.objects.map((row) => objects.cluster(row));
  // Noise first, so that clusters lie above it.
  const places = [...clusters.keys()];
  const order = [
    ...places.filter((i) => !(clusters[i] >= 0)),
    ...places.filter((i) => clusters[i] >= 0),
  ];
  return {
    figure,
    frame,
    us,
    vs,
    clusters,
    order,
    nearest: gridIndex(us, vs),
    strengths: figure.objects.map((row, i) => strength(clusters[i], objects.confidence(row))),
    placeOfRow: new Map(figure.objects.map((row, i) => [row, i])),
    radius: Math.min(4.5, Math.max(2.2, 100 / Math.sqrt(figure.objects.length))),
  };
}

export function drawPoints(host, figure, context) {
  const scene = sceneOf(figure, context);
  const bar = h("div", { class: "cs-bar" });
  host.append(bar);
  const view = makeCanvas(host, context, {
    label: context.label,
    height: (width) => Math.min(640, Math.max(300, width * ASPECT)),
    paint,
  });
  const zoom = makeZoom(view.canvas, context.signal, {
    area,
    least: 0.02,
    changed: () => view.repaint(),
  });
  bar.append(clusterLegend(context), zoomButtons(zoom));

  function area() {
    const { width, height } = view.size();
    return {
      x: MARGIN.left,
      y: MARGIN.top,
      width: width - MARGIN.left - MARGIN.right,
      height: height - MARGIN.top - MARGIN.bottom,
    };
  }

  function paint(pen) {
    const box = area();
    paintAxes(pen, box, scene, zoom.view, context.theme.value);
    pen.save();
    pen.beginPath();
    pen.rect(box.x, box.y, box.width, box.height);
    pen.clip();
    paintMarks(pen, placer(box, scene, zoom.view), scene, context);
    pen.restore();
  }

  view.start();
  listen(view, area, zoom, scene, context);
}

/** From a point's number to its place on the canvas. */
function placer(box, { us, vs }, { left, top, span }) {
  return (i) => [
    box.x + ((us[i] - left) / span) * box.width,
    box.y + ((vs[i] - top) / span) * box.height,
  ];
}

function paintAxes(pen, box, { frame, figure }, { left, top, span }, theme) {
  const across = (share) => frame.x[0] + share * (frame.x[1] - frame.x[0]);
  const up = (share) => frame.y[1] - share * (frame.y[1] - frame.y[0]);
  const [low, high] = [across(left), across(left + span)];
  const [bottom, ceiling] = [up(top + span), up(top)];
  pen.font = `12px ${theme.font}`;
  pen.lineWidth = 1;
  pen.strokeStyle = theme.line;
  pen.fillStyle = theme.muted;
  pen.textAlign = "center";
  pen.textBaseline = "top";
  pen.beginPath();
  for (const tick of ticks(low, high, Math.max(3, box.width / 110))) {
    const x = Math.round(box.x + ((tick - low) / (high - low)) * box.width) + 0.5;
    pen.moveTo(x, box.y);
    pen.lineTo(x, box.y + box.height);
    pen.fillText(number(tick), x, box.y + box.height + 7);
  }
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  for (const tick of ticks(bottom, ceiling, box.height / 80)) {
    const y = Math.round(box.y + ((ceiling - tick) / (ceiling - bottom)) * box.height) + 0.5;
    pen.moveTo(box.x, y);
    pen.lineTo(box.x + box.width, y);
    pen.fillText(number(tick), box.x - 7, y);
  }
  pen.stroke();
  paintAxisNames(pen, box, figure, theme);
}

function paintAxisNames(pen, box, figure, theme) {
  pen.fillStyle = theme.ink;
  pen.textAlign = "center";
  pen.textBaseline = "alphabetic";
  pen.fillText(figure.xlabel ?? "", box.x + box.width / 2, box.y + box.height + 39, box.width);
  pen.save();
  pen.translate(12, box.y + box.height / 2);
  pen.rotate(-Math.PI / 2);
  pen.fillText(figure.ylabel ?? "", 0, 0, box.height);
  pen.restore();
}

/** The points; those of clusters that are not picked lie faint below the others. */
function paintMarks(pen, place, scene, { picked, pointed, theme }) {
  const dim = (i) => picked.dims(scene.clusters[i]);
  const layers = picked.value.size
    ? [scene.order.filter(dim), scene.order.filter((i) => !dim(i))]
    : [[], scene.order];
  layers.forEach((layer, above) => {
    for (const i of layer) {
      pen.globalAlpha = above ? scene.strengths[i] : 0.08;
      pen.fillStyle = clusterColour(theme.value, scene.clusters[i]);
      pen.beginPath();
      traceMark(pen, clusterShape(scene.clusters[i]), ...place(i), scene.radius);
      pen.fill();
    }
  });
  pen.globalAlpha = 1;
  paintPointed(pen, place, scene.placeOfRow.get(pointed.value), theme.value, scene.radius);
}

/** A ring around the object the reader points at, here or in the table. */
function paintPointed(pen, place, i, theme, radius) {
  if (i === undefined) return;
  for (const [width, colour] of [[5, theme.paper], [2, theme.ink]]) {
    pen.beginPath();
    pen.arc(...place(i), radius + 4, 0, 2 * Math.PI);
    pen.lineWidth = width;
    pen.strokeStyle = colour;
    pen.stroke();
  }
}

function listen(view, area, zoom, scene, context) {
  const { objects, picked, pointed, tooltip, signal } = context;
  pointed.watch(() => view.repaint());

  function found(event) {
    const [u, v] = zoom.placeOf(event);
    if (u < 0 || u > 1 || v < 0 || v > 1) return -1;
    const { width, height } = area();
    const { left, top, span } = zoom.view;
    const reach = (14 * span) / width;
    const seen = (i) => !picked.dims(scene.clusters[i]);
    const rise = (14 * span) / height;
    return scene.nearest(left + u * span, top + v * span, reach, rise, seen);
  }

  const on = (name, work) => view.canvas.addEventListener(name, work, { signal });
  on("pointermove", (event) => {
    const i = event.buttons && zoom.dragged ? -1 : found(event);
    const row = i < 0 ? null : scene.figure.objects[i];
    pointed.set(row);
    view.canvas.classList.toggle("is-on-mark", row !== null);
    if (row === null) tooltip.hide();
    else tooltip.show(event, objects.id(row), objects.facts(row));
  });
  on("pointerleave", () => {
    pointed.set(null);
    tooltip.hide();
  });
  on("click", (event) => {
    const i = zoom.dragged ? -1 : found(event);
    if (i >= 0) picked.toggle(scene.clusters[i]);
  });
}
