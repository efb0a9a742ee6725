/** Lines, steps and dots over one axis. */

import uPlot from "uplot";

import { number } from "./format.js";
import { lineLegend, makePlot } from "./plot.js";

/**
 * uPlot wants one x for all series. Series with other places are merged: each has its own values
 * at its own places and `undefined` elsewhere, which uPlot passes over. Places that come twice
 * (the upright parts of a step curve) stay twice.
 */
export function aligned(series) {
  const first = series[0]?.x ?? [];
  const same = series.every(({ x }) => x.length === first.length && x.every((at, i) => at === first[i]));
  const sorted = first.every((at, i) => i === 0 || first[i - 1] <= at);
  if (same && sorted) return [first, ...series.map(({ y }) => y)];
  const places = series.flatMap(({ x }, which) => x.map((at, i) => ({ at, which, i })));
  places.sort((a, b) => a.at - b.at || a.which - b.which || a.i - b.i);
  const columns = series.map(() => new Array(places.length));
  places.forEach(({ which, i }, place) => (columns[which][place] = series[which].y[i]));
  return [places.map(({ at }) => at), ...columns];
}

/** The look of a line, as uPlot wants it. */
export function lineOf({ style }, colour) {
  const line = { stroke: colour, width: 2, points: { show: false } };
  if (style === "dashed") return { ...line, width: 1.75, dash: [6, 5] };
  if (style === "steps") return { ...line, paths: uPlot.paths.stepped({ align: 1 }) };
  if (style === "dots") {
    const points = { show: true, size: 9, fill: colour, stroke: colour };
    return { ...line, paths: () => null, points };
  }
  return line;
}

/** The y of a series at its place nearest to x. */
function nearest({ x, y }, at) {
  let best = 0;
  x.forEach((place, i) => {
    if (Math.abs(place - at) < Math.abs(x[best] - at)) best = i;
  });
  return { x: x[best], y: y[best] };
}

export function drawCurves(host, figure, context) {
  const colours = figure.series.map((_, i) => () => {
    const { palette } = context.theme.value;
    return palette[i % palette.length];
  });
  const series = figure.series.map((one, i) => lineOf(one, colours[i]));
  // Few places on a line are measurements: show them.
  series.forEach((line, i) => {
    const { style = "line", x } = figure.series[i];
    if (style === "line" && x.length <= 30) line.points = { show: true, size: 6, fill: colours[i] };
  });
  if (figure.series.length > 1) {
    const entries = figure.series.map(({ label, style }, i) => ({ label, style, colour: colours[i] }));
    host.append(lineLegend(context, entries));
  }
  makePlot(host, context, {
    data: aligned(figure.series),
    series,
    xlabel: figure.xlabel,
    ylabel: figure.ylabel,
    marks: figure.marks,
    log: figure.log,
    whole: figure.series.every(({ x }) => x.every(Number.isInteger)),
    facts: (_, x) => {
      const found = figure.series.filter((one) => one.x.length).map((one) => [one, nearest(one, x)]);
      if (!found.length) return null;
      const title = `${figure.xlabel || "x"}: ${number(found[0][1].x)}`;
      return [title, found.map(([one, at]) => [one.label || figure.ylabel || "y", number(at.y)])];
    },
  });
}
