/** Named values as bars: plain elements, so that they wrap, print and can be read aloud. */

import { clusterColour } from "./colours.js";
import { h } from "./dom.js";
import { columnFormat, number } from "./format.js";

export function drawBars(host, figure, context) {
  const { labels, values, clusters } = figure;
  const marks = figure.marks ?? [];
  const written = columnFormat(values);
  const known = values.filter((value) => value !== null);
  const low = Math.min(0, ...known);
  const high = Math.max(...known, ...marks.map((mark) => mark.at), low + 1e-12);
  const share = (value) => `${(100 * (value - low)) / (high - low)}%`;

  const rows = labels.map((label, i) => {
    const bar = h("i", { class: "cs-bar-fill" });
    bar.style.width = values[i] === null ? "0" : share(values[i]);
    const lines = marks.map((mark) => {
      const line = h("i", { class: mark.taken ? "cs-bar-mark is-taken" : "cs-bar-mark" });
      line.style.left = share(mark.at);
      return line;
    });
    const row = h(
      "tr",
      {},
      h("th", { scope: "row", title: String(label) }, String(label)),
      h("td", { class: "cs-bar-track" }, h("div", {}, bar, ...lines)),
      h("td", { class: "cs-number" }, written(values[i])),
    );
    colourRow(row, bar, clusters?.[i] ?? null, context);
    return row;
  });
  host.append(
    h(
      "div",
      { class: "cs-scroll", tabindex: "0", role: "group", "aria-label": context.label },
      h(
        "table",
        { class: "cs-bars" },
        h("caption", {}, figure.xlabel ?? ""),
        h("tbody", {}, ...rows),
      ),
    ),
  );
  if (marks.length) host.append(markNotes(marks));
}

/** The bar has its cluster's colour and steps back while others are picked. */
function colourRow(row, bar, cluster, { theme, picked }) {
  const paint = () => {
    const plain = cluster === null ? theme.value.accent : clusterColour(theme.value, cluster);
    bar.style.backgroundColor = plain;
  };
  paint();
  theme.watch(paint);
  if (cluster !== null) picked.watch(() => row.classList.toggle("is-dim", picked.dims(cluster)));
}

/** What the upright lines across the bars are. */
function markNotes(marks) {
  const notes = marks.map((mark) =>
    h(
      "li",
      {},
      h("i", { class: mark.taken ? "cs-line is-taken" : "cs-line is-dashed" }),
      h("span", {}, /\d/.test(mark.label ?? "") ? mark.label : `${mark.label} (${number(mark.at)})`),
    ),
  );
  return h("ul", { class: "cs-lines" }, ...notes);
}
