/**
 * Groups as they are now: a cut of the tree or another answer, and what was changed by hand since.
 *
 * As long as all objects of a leaf are in one group, a grouping is a short table of leaves: to move the
 * slider costs nothing of the number of objects. Labels of all objects are made when somebody divides
 * what the tree has not.
 */

/** Sizes and sums of confidence of all leaves, once. */
export function leafFacts(model) {
  const { leaf, confidence, cuts, n } = model;
  const sizes = new Uint32Array(cuts.leaves + 1);
  const sure = new Float64Array(cuts.leaves + 1);
  for (let i = 0; i < n; i++) {
    const at = leaf[i] < 0 ? cuts.leaves : leaf[i];
    sizes[at]++;
    if (confidence) sure[at] += confidence[i];
  }
  return { sizes, sure };
}

/**
 * The grouping after some steps, the first of which is a base.
 * @param {any} model
 * @param {{sizes: Uint32Array, sure: Float64Array}} facts
 * @param {any[]} steps
 */
export function groupingOf(model, facts, steps) {
  const base = steps.findLastIndex((step) => step.op === "base");
  const state = startOf(model, steps[base]);
  for (const step of steps.slice(base + 1)) APPLY[step.op](state, step, model);
  return finished(state, model, facts);
}

function startOf(model, base) {
  const names = new Map();
  if (base.answer) return { byLeaf: null, labels: Int32Array.from(model.answers[base.answer].labels), names };
  if (base.k === model.cuts.default) model.names.forEach((name, g) => name && names.set(g, name));
  return { byLeaf: Int32Array.from(model.cuts.row(base.k)), labels: null, names };
}

const APPLY = {
  rename(state, { group, name }) {
    if (name) state.names.set(group, name);
    else state.names.delete(group);
  },
  merge(state, { groups }) {
    const kept = Math.min(...groups);
    const gone = new Set(groups);
    const table = state.byLeaf ?? state.labels;
    for (let i = 0; i < table.length; i++) if (gone.has(table[i])) table[i] = kept;
    for (const group of groups) if (group !== kept) state.names.delete(group);
  },
  split(state, { group, made }, model) {
    const part = new Set(partOf(model, state, group) ?? []);
    if (state.byLeaf) for (const leaf of part) state.byLeaf[leaf] = made;
    else {
      for (let i = 0; i < model.n; i++) if (state.labels[i] === group && part.has(model.leaf[i])) state.labels[i] = made;
    }
  },
  carve(state, { rows, made }, model) {
    state.labels ??= labelsOf(model, state.byLeaf);
    state.byLeaf = null;
    for (const row of rows) state.labels[row] = made;
  },
};

function labelsOf(model, byLeaf) {
  return Int32Array.from(model.leaf, (leaf) => (leaf < 0 ? -1 : byLeaf[leaf]));
}

/** Leaves that a group has, as the tree divides them first: the smaller part, or null. */
export function partOf(model, state, group) {
  const own = new Set();
  if (state.byLeaf) state.byLeaf.forEach((g, leaf) => g === group && own.add(leaf));
  else state.labels.forEach((g, i) => g === group && model.leaf[i] >= 0 && own.add(model.leaf[i]));
  for (const split of model.cuts.splits) {
    const row = model.cuts.row(split.k);
    const sides = [split.group, split.made].map((g) => [...own].filter((leaf) => row[leaf] === g));
    if (sides[0].length && sides[1].length) return sides[1];
  }
  return null;
}

function finished({ byLeaf, labels, names }, model, facts) {
  let made = labels;
  const counts = new Map();
  const add = (group, size, sure) => {
    const one = counts.get(group) ?? { group, size: 0, sure: 0 };
    one.size += size;
    one.sure += sure;
    counts.set(group, one);
  };
  if (byLeaf) {
    byLeaf.forEach((group, leaf) => add(group, facts.sizes[leaf], facts.sure[leaf]));
    if (facts.sizes[byLeaf.length]) add(-1, facts.sizes[byLeaf.length], facts.sure[byLeaf.length]);
  } else {
    for (let i = 0; i < model.n; i++) add(labels[i], 1, model.confidence ? model.confidence[i] : 0);
  }
  const list = [...counts.values()]
    .filter(({ size }) => size > 0)
    .sort((a, b) => (a.group < 0) - (b.group < 0) || a.group - b.group)
    .map((one) => ({ ...one, sure: model.confidence ? one.sure / one.size : null }));
  return {
    byLeaf,
    list,
    names,
    of: byLeaf ? (row) => (model.leaf[row] < 0 ? -1 : byLeaf[model.leaf[row]]) : (row) => labels[row],
    labels: () => (made ??= labelsOf(model, byLeaf)),
    next: () => Math.max(-1, ...list.map(({ group }) => group)) + 1,
    canSplit: (group) => partOf(model, { byLeaf, labels }, group) !== null,
    rowsOf: (group) => rowsWhere(model.n, byLeaf ? (i) => (model.leaf[i] < 0 ? -1 : byLeaf[model.leaf[i]]) === group : (i) => labels[i] === group),
  };
}

/** Rows that pass a test, ascending. */
export function rowsWhere(n, test) {
  const found = new Uint32Array(n);
  let count = 0;
  for (let i = 0; i < n; i++) if (test(i)) found[count++] = i;
  return found.slice(0, count);
}
