/** The table of objects, read by column; every figure names objects by their row in it. */

import { columnFormat, heading } from "./format.js";

/**
 * @param {object} summary the report's summary
 */
export function objectsOf(summary) {
  const { columns } = summary.objects;
  const written = new Map(
    columns.filter(({ kind }) => kind === "number").map((column) => [column, columnFormat(column.values)]),
  );
  const byName = new Map(columns.map((column) => [column.name, column]));
  const values = (name) => byName.get(name)?.values ?? null;
  const [ids, clusters, confidence] = [values("id"), values("cluster"), values("confidence")];
  const unassigned = summary.kind === "minority" ? "background" : "noise";
  const clusterName = (cluster) => {
    if (cluster === null || cluster === undefined) return "–";
    return cluster < 0 ? unassigned : `cluster ${cluster}`;
  };

  /** A value as the table and the hover box show it. */
  function shown(column, row) {
    const value = column.values[row];
    if (value === null || value === undefined) return "–";
    if (column.name === "id") return String(value); // a name, though it may be made of digits
    if (column.kind === "cluster") return typeof value === "number" ? clusterName(value) : String(value);
    if (column.kind === "flag") return value ? "yes" : "no";
    return written.get(column)?.(value) ?? String(value);
  }

  return {
    columns,
    count: columns.length ? columns[0].values.length : 0,
    clusterName,
    shown,
    id: (row) => String(ids?.[row] ?? row),
    cluster: (row) => clusters?.[row] ?? null,
    confidence: (row) => confidence?.[row] ?? null,
    /** What the hover box says of an object. */
    facts: (row) =>
      columns
        .filter((column) => column.name !== "id")
        .slice(0, 8)
        .map((column) => [heading(column.name), shown(column, row)]),
  };
}
