/** All objects: sorted, filtered, downloaded. Only the rows in view are in the page. */

import { csvOf, download } from "./csv.js";
import { h } from "./dom.js";
import { counted, heading } from "./format.js";
import { swatch } from "./legend.js";
import { filtered, searcher, sorted } from "./rows.js";

const ROW = 34; // pixels; the style sheet has the same
const SPARE = 6; // rows above and below the view
const MOST_PRINTED = 300;

export function drawTable(host, context) {
  const { objects } = context;
  const state = { column: null, direction: 1, rows: [] };
  const parts = { ...controls(context, refresh, save), ...frame(context, sortBy) };
  const search = searcher(objects);
  host.append(parts.bar, parts.scroll, parts.printed);

  function refresh() {
    const tests = [search(parts.text.value), ...parts.tests()].filter(Boolean);
    const kept = filtered(objects.count, tests);
    state.rows = sorted(kept, state.column, state.direction);
    parts.scroll.scrollTop = 0;
    parts.table.setAttribute("aria-rowcount", String(state.rows.length + 1));
    const [few, all] = [state.rows.length, objects.count];
    parts.status.textContent =
      few === all ? counted(all, "object") : `${few.toLocaleString("en")} of ${counted(all, "object")}`;
    show();
  }

  function sortBy(column) {
    const again = state.column === column;
    state.direction = again ? -state.direction : 1;
    state.column = column;
    for (const [one, head] of parts.heads) {
      const way = state.direction > 0 ? "ascending" : "descending";
      head.setAttribute("aria-sort", one === column ? way : "none");
    }
    refresh();
  }

  function save() {
    download("objects.csv", csvOf(objects.columns, state.rows));
  }

  /** On paper: what the reader chose, or else the objects that carry a flag, the doubtful ones. */
  function showPrinted() {
    const flag = objects.columns.find(({ kind }) => kind === "flag");
    const all = state.rows.length === objects.count;
    const marked = flag && all ? state.rows.filter((row) => flag.values[row]) : state.rows;
    if (!marked.length) return false;
    const rows = marked.slice(0, MOST_PRINTED);
    parts.body.replaceChildren(...rows.map((row, i) => rowOf(context, row, i)));
    const what = flag && all ? `${heading(flag.name).toLowerCase()} objects` : "objects chosen";
    const some = rows.length < marked.length ? `the first ${rows.length} of ` : "";
    parts.printed.textContent =
      `Printed: ${some}the ${marked.length.toLocaleString("en")} ${what} of ` +
      `${counted(objects.count, "object")}. The CSV file from the report has all.`;
    return true;
  }

  /** Fill the table with the rows in view; two empty rows keep the rest's height. */
  function show() {
    if (context.theme.value.printing && showPrinted()) return;
    const first = Math.max(0, Math.floor(parts.scroll.scrollTop / ROW) - SPARE);
    const fits = Math.ceil((parts.scroll.clientHeight || 480) / ROW) + 2 * SPARE;
    const end = Math.min(state.rows.length, first + fits);
    const rows = state.rows.slice(first, end).map((row, i) => rowOf(context, row, first + i));
    parts.body.replaceChildren(spacer(first), ...rows, spacer(state.rows.length - end));
    notePrinted(parts.printed, first, end, state.rows.length);
  }

  let waiting = 0;
  const later = () => {
    waiting ||= requestAnimationFrame(() => {
      waiting = 0;
      show();
    });
  };
  parts.scroll.addEventListener("scroll", later, { passive: true, signal: context.signal });
  window.addEventListener("resize", later, { signal: context.signal });
  context.picked.watch(show);
  context.theme.watch(show);
  refresh();
}

function spacer(rows) {
  const space = h("tr", { class: "cs-space", "aria-hidden": "true" });
  space.style.height = `${rows * ROW}px`;
  return space;
}

function notePrinted(note, first, end, total) {
  const which = `Printed: rows ${first + 1} to ${end} of ${total.toLocaleString("en")}.`;
  const some = end - first < total;
  note.textContent = some ? `${which} The CSV file from the report has all.` : "";
}

function rowOf(context, row, place) {
  const { objects, picked, pointed } = context;
  const cluster = objects.cluster(row);
  const cells = objects.columns.map((column) => {
    const text = objects.shown(column, row);
    const mark =
      column.kind === "cluster" && typeof column.values[row] === "number"
        ? swatch(context, column.values[row], false)
        : null;
    return h("td", { class: `is-${column.kind}`, title: text }, mark, text);
  });
  return h(
    "tr",
    {
      class: picked.dims(cluster) ? "is-dim" : null,
      "aria-rowindex": place + 2,
      onpointerenter: () => pointed.set(row),
      onpointerleave: () => pointed.set(null),
    },
    ...cells,
  );
}

/** Search field, filters, count and download. */
function controls(context, refresh, save) {
  const { objects } = context;
  const text = h("input", {
    type: "search",
    placeholder: "Find an object",
    "aria-label": "Find an object by its text",
    oninput: refresh,
  });
  const choice = h(
    "select",
    { "aria-label": "Show objects of one cluster", onchange: refresh },
    h("option", { value: "" }, "All clusters"),
    ...context.clusters.map((cluster) =>
      h("option", { value: cluster }, objects.clusterName(cluster)),
    ),
  );
  const flags = objects.columns
    .filter(({ kind }) => kind === "flag")
    .map((column) => ({ column, box: h("input", { type: "checkbox", onchange: refresh }) }));
  const status = h("span", { class: "cs-count", role: "status" });
  const bar = h(
    "div",
    { class: "cs-controls" },
    text,
    choice,
    ...flags.map(({ column, box }) => h("label", {}, box, `only ${heading(column.name).toLowerCase()}`)),
    status,
    h("button", { type: "button", class: "cs-button", onclick: save }, "Download CSV"),
  );
  const tests = () => [
    choice.value === "" ? null : (row) => objects.cluster(row) === Number(choice.value),
    ...flags.map(({ column, box }) => (box.checked ? (row) => Boolean(column.values[row]) : null)),
  ];
  return { bar, text, status, tests };
}

/** Width of a column in rem: room for its heading, and for most texts, as far as some tell. */
function widthOf({ name, kind, values }) {
  const lengths = values.slice(0, 200).map((value) => String(value ?? "").length);
  const texts = kind === "text" ? Math.min(18, 2 + 0.58 * Math.max(...lengths, 0)) : 0;
  return Math.max(kind === "cluster" ? 7.6 : 5, 2.7 + 0.58 * heading(name).length, texts);
}

function sized(element, side, rem) {
  element.style[side] = `${rem}rem`;
  return element;
}

/** The empty table with its headings. */
function frame(context, sortBy) {
  const { columns } = context.objects;
  const heads = new Map(
    columns.map((column) => {
      const button = h("button", { type: "button", onclick: () => sortBy(column) }, heading(column.name));
      return [column, h("th", { scope: "col", class: `is-${column.kind}`, "aria-sort": "none" }, button)];
    }),
  );
  const body = h("tbody");
  const table = h(
    "table",
    { class: "cs-objects" },
    h("thead", {}, h("tr", { "aria-rowindex": 1 }, ...heads.values())),
    body,
  );
  const widths = columns.map(widthOf);
  table.prepend(h("colgroup", {}, ...widths.map((width) => sized(h("col"), "width", width))));
  sized(table, "minWidth", widths.reduce((sum, width) => sum + width));
  const scroll = h(
    "div",
    { class: "cs-rows", tabindex: "0", role: "group", "aria-label": "Objects" },
    table,
  );
  return { scroll, table, body, heads, printed: h("p", { class: "cs-printed" }) };
}
