/** A view as the components read it: objects, columns, cuts. Nothing here changes while one looks. */

import { TEXTS } from "../texts.js";
import { textsOf, unpacked } from "./wire.js";

/** @param {ArrayBuffer} buffer */
export function modelOf(buffer) {
  const { facts, arrays, shapes } = unpacked(buffer);
  const n = facts.n;
  const ids = arrays["ids.ends"] ? textsOf(arrays["ids.text"], arrays["ids.ends"]) : null;
  const rows = arrays.objects ?? null;
  const columns = facts.columns.map((column, j) => ({ ...column, j, values: arrays[`column${j}`] ?? null }));
  const perMember = facts.members.sent ? arrays.members.length / facts.members.sent : 0;
  const members = Array.from({ length: facts.members.count }, (_, j) =>
    j < facts.members.sent ? arrays.members.subarray(j * perMember, (j + 1) * perMember) : null,
  );
  const model = {
    ...facts,
    n,
    columns,
    members,
    leaf: arrays.leaf,
    confidence: arrays.confidence ?? null,
    runnerUp: arrays.runner_up ?? null,
    truth: arrays.truth ?? null,
    truthLevels: facts.truth ?? [],
    scored: facts.scores ? { ...facts.scores, values: arrays.scores, wanted: arrays.wanted ?? null } : null,
    answers: facts.answers.map((one, i) => ({ ...one, labels: arrays[`answer${i}`] })),
    views: facts.views.map((name, j) => ({ name, values: arrays[`view${j}`] })),
    maps: facts.maps.map((one, i) => ({ ...one, places: arrays[`map${i}`] })),
    pairs: arrays.pairs ? { objects: arrays.pairs, joined: arrays.joined } : null,
    torn: arrays.torn
      ? { objects: arrays.torn, groups: arrays.torn_groups, shares: arrays.torn_shares, width: shapes.torn_groups[1] }
      : null,
    cuts: cutsOf(facts.cuts, arrays, shapes),
    id: (row) => (ids ? ids.at(row) : String(rows ? rows[row] : row)),
    allMembers: () => members.length > 0 && members.every((one) => one !== null),
    nobody: facts.kind === "minority" ? TEXTS.background : TEXTS.none,
  };
  return Object.assign(model, { find: finder(model) });
}

/** The tree: a row of group numbers a cut, and what was divided between the rows. */
function cutsOf(facts, arrays, shapes) {
  const [count, leaves] = shapes.numbers;
  const splits = facts.splits.map(([k, group, made, together, kept, other]) => ({
    k, group, made, together, sizes: [kept, other],
  }));
  return {
    least: facts.least,
    most: facts.least + count - 1,
    default: facts.default,
    leaves,
    splits,
    order: arrays.leaf_order,
    together: arrays.together,
    /** Number of the group of each leaf, where there are k groups. */
    row: (k) => arrays.numbers.subarray((k - facts.least) * leaves, (k - facts.least + 1) * leaves),
  };
}

/** Objects by name: those that are called so, then those whose names begin so, then the rest. */
function finder(model) {
  let names = null;
  return (text, most = 12) => {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return [];
    names ??= Array.from({ length: model.n }, (_, row) => model.id(row).toLowerCase());
    const found = [[], [], []];
    for (let row = 0; row < model.n; row++) {
      const name = names[row];
      if (name === wanted) found[0].push(row);
      else if (found[1].length < most && name.startsWith(wanted)) found[1].push(row);
      else if (found[2].length < most && name.includes(wanted)) found[2].push(row);
    }
    return found.flat().slice(0, most);
  };
}
