/** Rows as a CSV file, handed to the reader without a network. */

const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/;
const NUMBER = /^[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?$/;

/** Text that a spreadsheet might run gets a quote before it, as `consilience._formulas` does. */
function guarded(value) {
  const text = String(value);
  return typeof value === "string" && FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
}

/** A value as RFC 4180 wants it. */
function field(value) {
  if (value === null || value === undefined) return "";
  const text = guarded(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * @param {{name: string, values: any[]}[]} columns
 * @param {Iterable<number>} rows
 */
export function csvOf(columns, rows) {
  const lines = [columns.map(({ name }) => field(name)).join(",")];
  for (const row of rows) lines.push(columns.map(({ values }) => field(values[row])).join(","));
  return `${lines.join("\r\n")}\r\n`;
}

/** Hand a text, or a blob, to the reader as a file. */
export function download(name, data, type = "text/csv;charset=utf-8") {
  const address = URL.createObjectURL(new Blob([data], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The browser may read the blob after this turn.
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
