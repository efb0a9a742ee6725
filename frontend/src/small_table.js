/** A small table as a figure. */

import { h } from "./dom.js";
import { columnFormat } from "./format.js";

export function drawSmallTable(host, figure, context) {
  const numeric = figure.columns.map((_, i) =>
    figure.rows.every((row) => row[i] === null || typeof row[i] === "number"),
  );
  const side = (i) => (numeric[i] ? "cs-number" : null);
  const written = figure.columns.map((_, i) => columnFormat(figure.rows.map((row) => row[i])));
  const shown = (value, i) => (typeof value === "string" ? value : written[i](value));
  const head = figure.columns.map((name, i) => h("th", { scope: "col", class: side(i) }, name));
  const rows = figure.rows.map((row) =>
    h("tr", {}, ...row.map((value, i) => h("td", { class: side(i) }, shown(value, i)))),
  );
  host.append(
    h(
      "div",
      { class: "cs-scroll", tabindex: "0", role: "region", "aria-label": context.label },
      h(
        "table",
        { class: "cs-table" },
        h("thead", {}, h("tr", {}, ...head)),
        h("tbody", {}, ...rows),
      ),
    ),
  );
}
