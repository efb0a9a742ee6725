/**
 * The report's one entrance: `draw(root, summary)`.
 *
 * Whatever the page already holds (the report's template writes headings and texts, so that they
 * are there without JavaScript) is used; what is missing is made. A host with an empty element
 * gets all of it.
 */

import "uplot/dist/uPlot.min.css";
import "./report.css";
import "./explore/explore.css";

import { drawBars } from "./bars.js";
import { drawCards } from "./cards.js";
import { themeOf } from "./colours.js";
import { drawCurves } from "./curves.js";
import { drawDendrogram } from "./dendrogram.js";
import { h } from "./dom.js";
import { explore } from "./explore/explore.js";
import { exploreOwnPage, render } from "./explore/hosts.js";
import { drawHistogram } from "./histogram.js";
import { clusterButton } from "./legend.js";
import { drawMatrix } from "./matrix.js";
import { objectsOf } from "./objects.js";
import { saveButton } from "./pictures.js";
import { drawPoints } from "./points.js";
import { drawSmallTable } from "./small_table.js";
import { pickedClusters, watched } from "./state.js";
import { drawTable } from "./table.js";
import { makeTooltip } from "./tooltip.js";

const FIGURES = {
  points: drawPoints,
  matrix: drawMatrix,
  dendrogram: drawDendrogram,
  histogram: drawHistogram,
  curves: drawCurves,
  bars: drawBars,
  table: drawSmallTable,
  cards: drawCards,
};

const LONG = new Set(["table", "cards"]);

/** What every figure needs: the objects, what is picked and pointed at, the colours. */
function contextOf(root, summary, signal) {
  return {
    root,
    signal,
    objects: objectsOf(summary),
    clusters: summary.clusters.map(({ cluster }) => cluster),
    picked: pickedClusters(),
    pointed: watched(null),
    theme: watched(themeOf(root)),
    tooltip: makeTooltip(root),
    made: [], // elements to take away again
    label: "",
  };
}

/** Colours follow the system's theme; paper is always light. */
function followTheme(root, context) {
  const { signal } = context;
  const renew = () => context.theme.set(themeOf(root));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", renew, { signal });
  const print = (printing) => () => {
    root.classList.toggle("is-printing", printing);
    renew();
  };
  window.addEventListener("beforeprint", print(true), { signal });
  window.addEventListener("afterprint", print(false), { signal });
}

/** The place of a section: the template's, or a new one. */
function placeOf({ root, made }, place, title, read) {
  const found = root.querySelector(`[data-place="${CSS.escape(place)}"]`);
  if (found) return found;
  const words = read ? h("p", { class: "cs-read" }, read) : null;
  const lead = h("div", { class: "cs-lead" }, h("h2", {}, title), words);
  const section = h("section", { "data-place": place }, lead);
  root.append(section);
  made.push(section);
  return section;
}

/** One figure; what goes wrong in it must not take the others along. */
function drawFigure(section, figure, context) {
  const host = h("div", { class: "cs-figure", "data-kind": figure.kind });
  if (figure.title) host.append(h("h3", {}, figure.title));
  section.append(host);
  context.made.push(host);
  try {
    const known = Object.hasOwn(FIGURES, figure.kind);
    if (!known) throw new Error(`no drawing is known for a figure of kind ${figure.kind}`);
    FIGURES[figure.kind](host, figure, context);
    const save = saveButton(host, figure, context);
    if (save) host.append(save);
  } catch (error) {
    console.error(error);
    host.append(h("p", { class: "cs-failed" }, `This figure could not be drawn: ${error.message}`));
  }
}

/** Make the clusters' names in the template's table into buttons. */
function enliven(root, context) {
  for (const row of root.querySelectorAll("tr[data-cluster]")) {
    const cluster = Number(row.dataset.cluster);
    row.querySelector("th").replaceChildren(clusterButton(context, cluster));
    context.picked.watch(() => row.classList.toggle("is-dim", context.picked.dims(cluster)));
  }
}

/**
 * Draw a summary into an element.
 * @param {HTMLElement} root
 * @param {object} summary see `consilience.report`
 * @returns {{pick: (cluster: number) => void, clear: () => void, destroy: () => void}}
 */
export function draw(root, summary) {
  const life = new AbortController();
  root.classList.add("cs-report", "is-drawn");
  const context = contextOf(root, summary, life.signal);
  enliven(root, context);
  for (const section of summary.sections) {
    const place = placeOf(context, `section-${section.id}`, section.title, section.read);
    const figures = section.figures ?? (section.figure ? [section.figure] : []);
    figures.forEach((figure, i) => {
      // The first figure stays on one page with the words above it, unless it may be long.
      const short = i === 0 && !LONG.has(figure.kind);
      const where = short ? (place.querySelector(":scope > .cs-lead") ?? place) : place;
      drawFigure(where, figure, { ...context, label: figure.title ?? section.title });
    });
  }
  // A page for people who may not pass their data on has no objects.
  if (context.objects.columns.length) {
    const rows = h("div");
    placeOf(context, "object-table", "Table of objects").append(rows);
    context.made.push(rows);
    drawTable(rows, context);
  }
  followTheme(root, context);
  const escape = (event) => event.key === "Escape" && context.picked.clear();
  window.addEventListener("keydown", escape, { signal: life.signal });
  return {
    pick: (cluster) => context.picked.toggle(cluster),
    clear: () => context.picked.clear(),
    destroy: () => {
      life.abort();
      for (const element of context.made) element.remove();
      context.tooltip.remove();
    },
  };
}

/** In a report the summary is in the page; elsewhere a host calls `draw` itself. */
function drawOwnPage() {
  const data = document.getElementById("consilience-summary");
  const root = document.getElementById("consilience-report");
  if (!data || !root) return;
  draw(root, JSON.parse(data.textContent));
  // Two frames later the browser has shown it: this is what "drawn" is measured by.
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      performance.mark("consilience-drawn");
      root.dataset.drawn = "true";
    }),
  );
}

drawOwnPage();
export const explored = exploreOwnPage();

export { explore };
// What a notebook's widget calls.
export default { render };
