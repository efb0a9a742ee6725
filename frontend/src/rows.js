/** Which rows of the table are shown, and in which order: plain functions, no page. */

/** Order of two values; missing ones come last whatever the direction. */
function compare(a, b, direction) {
  const [noA, noB] = [a === null || a === undefined, b === null || b === undefined];
  if (noA || noB) return Number(noA) - Number(noB);
  if (typeof a === "number" && typeof b === "number") return direction * (a - b);
  if (typeof a === "boolean") return direction * (Number(a) - Number(b));
  return direction * COLLATOR.compare(String(a), String(b));
}

// "object 9" before "object 10".
const COLLATOR = new Intl.Collator("en", { numeric: true });

/** `rows` by one column, ties in the order of the file. */
export function sorted(rows, column, direction) {
  if (!column) return rows;
  const { values } = column;
  return [...rows].sort((a, b) => compare(values[a], values[b], direction) || a - b);
}

/**
 * A function that says which rows match a text; the texts are put together once.
 * @param {{columns: any[], count: number}} objects
 */
export function searcher(objects) {
  const columns = objects.columns.filter(({ kind, name }) => kind === "text" || name === "id");
  let texts = null;
  return (text) => {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return null;
    texts ??= Array.from({ length: objects.count }, (_, row) =>
      columns.map(({ values }) => String(values[row] ?? "")).join("\n").toLowerCase(),
    );
    return (row) => texts[row].includes(wanted);
  };
}

/** Rows that pass every test. */
export function filtered(count, tests) {
  const rows = [];
  for (let row = 0; row < count; row++) {
    if (tests.every((test) => test(row))) rows.push(row);
  }
  return rows;
}
