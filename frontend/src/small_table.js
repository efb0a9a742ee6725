/** A small table as a figure; a longer one with a field to look for rows. */

import { h } from "./dom.js";
import { columnFormat } from "./format.js";

const MOST = 30; // rows in the page while a table can be searched

export function drawSmallTable(host, figure, context) {
  const numeric = figure.columns.map((_, i) =>
    figure.rows.every((row) => row[i] === null || typeof row[i] === "number"),
  );
  const side = (i) => (numeric[i] ? "cs-number" : null);
  const written = figure.columns.map((_, i) => columnFormat(figure.rows.map((row) => row[i])));
  const shown = (value, i) => (typeof value === "string" ? value : written[i](value));
  const head = figure.columns.map((name, i) => name ? h("th", { scope: "col", class: side(i) }, name) : h("td"));
  const rowOf = (row) =>
    h(
      "tr",
      {},
      ...row.map((value, i) =>
        h("td", { class: side(i), "data-name": figure.columns[i] }, shown(value, i)),
      ),
    );
  const body = h("tbody");
  if (figure.search) host.append(searchBar(figure, body, rowOf));
  else body.append(...figure.rows.map(rowOf));
  host.append(
    h(
      "div",
      { class: "cs-scroll", tabindex: "0", role: "group", "aria-label": context.label },
      h("table", { class: isWide(figure) ? "cs-table is-wide" : "cs-table" }, h("thead", {}, h("tr", {}, ...head)), body),
    ),
  );
}

/** Whether a telephone has no room for the columns side by side. */
function isWide({ columns, rows }) {
  return columns.length > 4 || rows.some((row) => row.some((value) => String(value ?? "").length > 24));
}

/** A field that fills the table with the first rows that hold its text. */
function searchBar(figure, body, rowOf) {
  const texts = figure.rows.map((row) => row.join("\n").toLowerCase());
  const status = h("span", { class: "cs-count", role: "status" });
  const refresh = () => {
    const wanted = input.value.trim().toLowerCase();
    const found = figure.rows.filter((_, i) => texts[i].includes(wanted));
    body.replaceChildren(...found.slice(0, MOST).map(rowOf));
    const few = Math.min(found.length, MOST).toLocaleString("en");
    status.textContent = `${few} of ${found.length.toLocaleString("en")} lines`;
  };
  const input = h("input", {
    type: "search",
    placeholder: figure.search,
    "aria-label": figure.search,
    oninput: refresh,
  });
  refresh();
  return h("div", { class: "cs-controls" }, input, status);
}
