/** Counts in bins, with fitted curves and thresholds. */

import { aligned, lineOf } from "./curves.js";
import { heading, number } from "./format.js";
import { lineLegend, makePlot } from "./plot.js";

/** Bars from edge to edge: bins need not be of one width. */
function paintBars(plot, pen, { edges, counts }, fill) {
  pen.save();
  pen.fillStyle = fill;
  const floor = plot.valToPos(0, "y", true);
  const x = edges.map((edge) => plot.valToPos(edge, "x", true));
  counts.forEach((count, i) => {
    const top = plot.valToPos(count, "y", true);
    const gap = Math.min(1.5, (x[i + 1] - x[i]) * 0.1);
    pen.fillRect(x[i] + gap / 2, top, Math.max(0.5, x[i + 1] - x[i] - gap), floor - top);
  });
  pen.restore();
}

export function drawHistogram(host, figure, context) {
  const { edges, counts } = figure;
  const curves = figure.curves ?? [];
  const colours = curves.map((_, i) => () => context.theme.value.palette[(i + 1) % 10]);
  // Two hidden series carry the edges and the counts into uPlot's ranges.
  const frame = [
    { x: edges, y: edges.map(() => 0) },
    { x: counts.map((_, i) => (edges[i] + edges[i + 1]) / 2), y: counts },
  ];
  const hidden = { stroke: "transparent", paths: () => null, points: { show: false } };
  if (curves.length) {
    const entries = curves.map(({ label, style }, i) => ({ label, style, colour: colours[i] }));
    host.append(lineLegend(context, entries));
  }
  makePlot(host, context, {
    data: aligned([...frame, ...curves]),
    series: [hidden, hidden, ...curves.map((curve, i) => lineOf(curve, colours[i]))],
    xlabel: figure.xlabel,
    ylabel: figure.ylabel ?? "count",
    marks: figure.marks,
    floor: true,
    under: (plot, pen) => paintBars(plot, pen, figure, context.theme.value.bar),
    facts: (_, x) => {
      const bin = counts.findIndex((__, i) => x >= edges[i] && x < edges[i + 1]);
      if (bin < 0) return null;
      const title = `${number(edges[bin])} to ${number(edges[bin + 1])}`;
      return [title, [[heading(figure.ylabel ?? "count"), number(counts[bin])]]];
    },
  });
}
