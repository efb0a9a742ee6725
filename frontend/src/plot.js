/** What curves and histograms share: axes by uPlot, marks with names, a legend, a hover box. */

import uPlot from "uplot";

import { h, onWidth } from "./dom.js";
import { number } from "./format.js";

const ROW = 17; // height of a line of names above the plot
// Steps between the ticks of an axis that counts.
const WHOLE = [0, 1, 2, 3, 4, 5, 6].flatMap((power) => [1, 2, 5].map((step) => step * 10 ** power));

/**
 * @param {HTMLElement} host
 * @param {object} context
 * @param {{data: any[], series: object[], xlabel: string, ylabel: string, marks?: object[],
 *          log?: string, floor?: boolean, whole?: boolean, under?: (plot: uPlot, pen: any) => void,
 *          facts: (plot: uPlot, x: number, y: number) => [string, [string, string][]] | null}} options
 *   `series` are uPlot's, whose colours are functions of the theme; `under` draws below the lines;
 *   `floor` starts the upright axis at nought, `whole` gives the other one whole numbers only.
 */
export function makePlot(host, context, options) {
  const frame = h("div", { class: "cs-canvas cs-plot" });
  host.append(frame);
  let plot = null;
  onWidth(frame, context.signal, (width) => {
    const height = heightFor(width, options.marks ?? []);
    if (plot) plot.setSize({ width, height });
    else plot = new uPlot(settings(context, options, width, height), options.data, frame);
  });
  const canvas = frame.querySelector("canvas");
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", context.label);
  context.theme.watch(() => plot.redraw(false, true));
  context.signal.addEventListener("abort", () => plot.destroy());
  hover(plot, frame, context, options.facts);
  return plot;
}

/** Marks' names stand above the plot; on a narrow screen each needs a line of its own. */
function heightFor(width, marks) {
  const names = width < 500 ? 12 * Math.min(marks.length, 8) : 0;
  return Math.min(380, Math.max(260, width * 0.46) + names);
}

function settings(context, options, width, height) {
  const marks = options.marks ?? [];
  const log = { x: options.log === "x", y: options.log === "y" };
  return {
    width,
    height,
    legend: { show: false },
    cursor: { show: false },
    padding: [(plot) => 10 + ROW * rowsOf(plot, marks, context).count, 22, 0, 0],
    scales: {
      x: { time: false, distr: log.x ? 3 : 1, range: log.x ? undefined : rangeWith(marks, "x", 0) },
      y: { distr: log.y ? 3 : 1, range: log.y ? undefined : rangeWith(marks, "y", 0.06, options.floor) },
    },
    axes: [
      { ...axisOf(context, options.xlabel, 28, 70), incrs: options.whole ? WHOLE : undefined },
      axisOf(context, options.ylabel, 50, 46),
    ],
    series: [{}, ...options.series],
    hooks: {
      drawAxes: [(plot) => options.under?.(plot, plot.ctx)],
      draw: [(plot) => paintMarks(plot, marks, context)],
    },
  };
}

/** The data's range, widened so that every mark is inside; `floor` starts it at nought. */
function rangeWith(marks, axis, air, floor = false) {
  const places = marks.filter((mark) => (mark.axis ?? "x") === axis).map((mark) => mark.at);
  return (_, low, high) => {
    if (low === null || high === null) return [0, 1];
    const least = floor ? Math.min(0, low) : Math.min(low, ...places);
    const most = Math.max(high, ...places);
    if (!(most > least)) return [least - 0.5, most + 0.5];
    const more = (most - least) * air;
    return [floor && least === 0 ? 0 : least - more, most + more];
  };
}

function axisOf({ theme }, label, size, space) {
  return {
    label: label || undefined,
    labelSize: 20,
    labelGap: 2,
    size,
    space,
    gap: 6,
    font: `12px ${theme.value.font}`,
    labelFont: `12px ${theme.value.font}`,
    stroke: () => theme.value.muted,
    grid: { stroke: () => theme.value.line, width: 1 },
    ticks: { show: false },
    values: (_, ticks) => ticks.map((tick) => (tick === null ? "" : number(tick))),
  };
}

/** In which line above the plot each upright mark has its name: the first with room for it. */
function rowsOf(plot, marks, { theme }) {
  const upright = marks.filter((mark) => (mark.axis ?? "x") === "x" && mark.label);
  // uPlot asks for the padding before it knows its own size.
  if (!plot.bbox?.width) return { count: Math.min(1, upright.length), placed: [] };
  const scale = uPlot.pxRatio;
  plot.ctx.font = `${12 * scale}px ${theme.value.font}`;
  const [left, right] = [plot.bbox.left, plot.bbox.left + plot.bbox.width];
  const ends = [];
  const placed = upright
    .map((mark) => ({ mark, x: plot.valToPos(mark.at, "x", true) }))
    .sort((a, b) => a.x - b.x)
    .map(({ mark, x }) => {
      const width = plot.ctx.measureText(mark.label).width;
      const start = Math.max(left, Math.min(x - 4 * scale, right - width));
      let row = ends.findIndex((end) => end + 10 * scale < start);
      if (row < 0) row = ends.length;
      ends[row] = start + width;
      return { mark, x, start, row };
    });
  return { count: ends.length, placed };
}

function paintMarks(plot, marks, context) {
  const theme = context.theme.value;
  const pen = plot.ctx;
  const scale = uPlot.pxRatio;
  const { left, top, width, height } = plot.bbox;
  pen.save();
  pen.textAlign = "left";
  pen.textBaseline = "alphabetic";
  const line = (mark, from, to) => {
    pen.beginPath();
    pen.moveTo(...from);
    pen.lineTo(...to);
    pen.lineWidth = (mark.taken ? 2 : 1) * scale;
    pen.strokeStyle = mark.taken ? theme.accent : theme.muted;
    pen.setLineDash(mark.taken ? [] : [4 * scale, 4 * scale]);
    pen.stroke();
  };
  const name = (mark, x, y) => {
    pen.font = `${mark.taken ? "600 " : ""}${12 * scale}px ${theme.font}`;
    pen.setLineDash([]);
    pen.lineWidth = 4 * scale;
    pen.strokeStyle = theme.paper;
    pen.strokeText(mark.label, x, y);
    pen.fillStyle = mark.taken ? theme.accent : theme.muted;
    pen.fillText(mark.label, x, y);
  };
  const { placed, count } = rowsOf(plot, marks, context);
  for (const { mark, x, start, row } of placed) {
    const y = top - ROW * scale * (count - row - 1) - 6 * scale;
    line(mark, [x, top + height], [x, y + 3 * scale]);
    name(mark, start, y);
  }
  const taken = [];
  const named = new Set();
  for (const mark of marks.filter((one) => one.axis === "y")) {
    const y = plot.valToPos(mark.at, "y", true);
    line(mark, [left, y], [left + width, y]);
    // Levels of one kind share a name: once is enough.
    if (!mark.label || named.has(mark.label)) continue;
    named.add(mark.label);
    const wide = pen.measureText(mark.label).width + 12 * scale;
    const start = freePlace(taken, left + width, y - 5 * scale, wide, 15 * scale);
    if (start >= left) name(mark, start, y - 5 * scale);
  }
  pen.restore();
}

/** Where a level's name begins: at the right, or to the left of the names it would cover. */
function freePlace(taken, right, y, wide, high) {
  let end = right;
  for (;;) {
    const hit = taken.find((one) => Math.abs(one.y - y) < high && one.start < end && end - wide < one.end);
    if (!hit) break;
    end = hit.start;
  }
  taken.push({ start: end - wide, end, y });
  return end - wide + 6;
}

function hover(plot, frame, { tooltip, signal }, facts) {
  const on = (name, work) => frame.addEventListener(name, work, { signal });
  on("pointermove", (event) => {
    const box = plot.over.getBoundingClientRect();
    const [left, top] = [event.clientX - box.left, event.clientY - box.top];
    const inside = left >= 0 && left <= box.width && top >= 0 && top <= box.height;
    const said = inside ? facts(plot, plot.posToVal(left, "x"), plot.posToVal(top, "y")) : null;
    if (said) tooltip.show(event, ...said);
    else tooltip.hide();
  });
  on("pointerleave", () => tooltip.hide());
}

/** Names of the lines. A line with one series and no name needs none. */
export function lineLegend(context, entries) {
  const rows = entries.map(({ label, colour, style }) => {
    const key = h("i", { class: `cs-line is-${style ?? "line"}` });
    const paint = () => (key.style.color = colour());
    paint();
    context.theme.watch(paint);
    return h("li", {}, key, h("span", {}, label));
  });
  return h("ul", { class: "cs-lines" }, ...rows);
}
