/** A figure as a file: what is drawn on a canvas as PNG, lines and bars as SVG. */

import { clusterColour } from "./colours.js";
import { download } from "./csv.js";
import { h, svg } from "./dom.js";
import { columnFormat } from "./format.js";

const SPACE = "http://www.w3.org/2000/svg";
// What a style sheet says of the tree must stand in a file by itself.
const STYLED = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-size", "font-weight", "opacity"];
const BAR = { row: 24, label: 190, track: 420, number: 70, margin: 12, head: 34 };

/** A button below the figure; null for figures that are text. */
export function saveButton(host, figure, context) {
  const canvas = host.querySelector("canvas");
  const tree = host.querySelector("svg.cs-tree");
  if (!canvas && !tree && figure.kind !== "bars") return null;
  const name = fileName(context.label);
  const asPng = () =>
    onPaper(canvas, context).toBlob((data) => download(`${name}.png`, data, "image/png"));
  const asSvg = () =>
    download(`${name}.svg`, textOf(tree ? copyOf(tree, context) : barsOf(figure, context)), "image/svg+xml");
  const [kind, work] = tree || figure.kind === "bars" ? ["SVG", asSvg] : ["PNG", asPng];
  const button = h(
    "button",
    { type: "button", class: "cs-button", "aria-label": `Save as ${kind}: ${context.label}`, onclick: work },
    `Save as ${kind}`,
  );
  return h("div", { class: "cs-save" }, button);
}

/** "How the groups grow" as how-the-groups-grow. */
function fileName(title) {
  return title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "figure";
}

/** The canvas on the page's paper, which a canvas does not have by itself. */
function onPaper(canvas, { theme }) {
  const sheet = h("canvas", { width: canvas.width, height: canvas.height });
  const pen = sheet.getContext("2d");
  pen.fillStyle = theme.value.paper;
  pen.fillRect(0, 0, sheet.width, sheet.height);
  pen.drawImage(canvas, 0, 0);
  return sheet;
}

/** A copy of the tree with its looks written into it. */
function copyOf(tree, { theme }) {
  const copy = tree.cloneNode(true);
  const [, , width, height] = tree.getAttribute("viewBox").split(" ");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const parts = [...tree.querySelectorAll("*")];
  [...copy.querySelectorAll("*")].forEach((part, i) => {
    const looks = getComputedStyle(parts[i]);
    for (const one of STYLED) part.setAttribute(one, looks.getPropertyValue(one));
    if (part.tagName === "text") part.setAttribute("font-family", theme.value.font);
  });
  copy.prepend(svg("rect", { width, height, fill: theme.value.paper }));
  return copy;
}

/** Bars are elements of the page; a file has them as shapes. */
function barsOf({ labels, values, clusters, xlabel, marks = [] }, { theme }) {
  const { row, label, track, number, margin, head } = BAR;
  const written = columnFormat(values);
  const known = values.filter((value) => value !== null);
  const low = Math.min(0, ...known);
  const high = Math.max(...known, ...marks.map((mark) => mark.at), low + 1e-12);
  const left = margin + label + margin;
  const along = (value) => (track * (value - low)) / (high - low);
  const [width, height] = [left + track + number, head + row * labels.length + margin];
  const look = { fill: theme.value.ink, "font-family": theme.value.font, "font-size": 13 };
  const rows = labels.flatMap((name, i) => {
    const y = head + row * i;
    const colour = clusters ? clusterColour(theme.value, clusters[i]) : theme.value.accent;
    return [
      svg("text", { ...look, x: margin + label, y: y + 16, "text-anchor": "end" }, String(name)),
      svg("rect", { x: left, y: y + 4, width: along(values[i] ?? low), height: row - 8, fill: colour }),
      svg("text", { ...look, x: left + track + 8, y: y + 16 }, written(values[i])),
    ];
  });
  const lines = marks.map((mark) => {
    const x = left + along(mark.at);
    return svg("line", { x1: x, x2: x, y1: head, y2: height - margin, stroke: theme.value.muted });
  });
  return svg(
    "svg",
    { width, height, viewBox: `0 0 ${width} ${height}` },
    svg("rect", { width, height, fill: theme.value.paper }),
    svg("text", { ...look, x: margin, y: 20, fill: theme.value.muted }, xlabel ?? ""),
    ...rows,
    ...lines,
  );
}

function textOf(picture) {
  picture.setAttribute("xmlns", SPACE);
  return new XMLSerializer().serializeToString(picture);
}
