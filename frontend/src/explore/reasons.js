/** Why an object is where it is, and how two answers agree; as Python computes it, see `_questions.py`. */

export const [UNDECIDED, LEFT_OUT, NOT_SEEN] = [-1, -2, -3];
const NEAREST = 10;

/** Members for and against, and the objects of largest co-association. */
export function whyOf(model, grouping, row) {
  const labels = grouping.labels();
  const said = { row, id: model.id(row), group: labels[row], votes: [], nearest: [] };
  if (!model.allMembers()) return said;
  said.votes = votesOf(model.members, labels, row);
  const [same, both] = [new Uint16Array(model.n), new Uint16Array(model.n)];
  for (const member of model.members) {
    const own = member[row];
    if (own === -2) continue;
    for (let i = 0; i < model.n; i++) {
      if (member[i] !== -2) both[i]++;
      if (own >= 0 && member[i] === own) same[i]++;
    }
  }
  const share = Float64Array.from(same, (count, i) => (i === row ? -1 : both[i] ? count / both[i] : 0));
  said.nearest = largest(share, NEAREST).filter((i) => i !== row).map((i) => ({ row: i, id: model.id(i), group: labels[i], together: share[i] }));
  return said;
}

/** Places of the largest values, the first of equals first. */
function largest(values, most) {
  const found = [];
  for (let i = 0; i < values.length; i++) {
    if (found.length === most && values[i] <= values[found[most - 1]]) continue;
    let at = found.length;
    while (at > 0 && values[found[at - 1]] < values[i]) at--;
    found.splice(at, 0, i);
    if (found.length > most) found.pop();
  }
  return found;
}

/** The group of whose other objects the largest share lies in the object's cluster, by member. */
function votesOf(members, labels, row) {
  const k = labels.reduce((most, one) => Math.max(most, one), -1) + 1;
  const own = labels[row];
  const sizes = new Float64Array(k);
  for (const group of labels) if (group >= 0) sizes[group]++;
  return members.map((member) => {
    const there = member[row];
    if (there === -1) return LEFT_OUT;
    if (there === -2) return NOT_SEEN;
    const counts = new Float64Array(k);
    let any = false;
    for (let i = 0; i < member.length; i++) {
      if (member[i] !== there || labels[i] < 0 || i === row) continue;
      counts[labels[i]]++;
      any = true;
    }
    const share = counts.map((count, g) => {
      const others = sizes[g] - (g === own);
      return others > 0 ? count / others : 0;
    });
    if (own >= 0 && sizes[own] === 1 && !any) share[own] = 1;
    const best = share.reduce((most, one) => Math.max(most, one), 0);
    const winners = share.filter((one) => one === best).length;
    return best > 0 && winners === 1 ? share.indexOf(best) : UNDECIDED;
  });
}

/** Which groups some objects are of, most first, and how sure they are. */
export function insideOf(model, grouping, rows) {
  const counts = new Map();
  let sure = 0;
  for (const row of rows) {
    const group = grouping.of(row);
    counts.set(group, (counts.get(group) ?? 0) + 1);
    if (model.confidence) sure += model.confidence[row];
  }
  const sizes = new Map(grouping.list.map(({ group, size }) => [group, size]));
  const groups = [...counts]
    .map(([group, inside]) => ({ group, inside, size: sizes.get(group) }))
    .sort((a, b) => b.inside - a.inside || a.group - b.group);
  return { n_objects: rows.length, groups, confidence: model.confidence && rows.length ? sure / rows.length : null };
}

/** Objects by their group in two answers. */
export function tableOf(n, first, second) {
  const cells = new Map();
  for (let i = 0; i < n; i++) {
    const key = `${first(i)} ${second(i)}`;
    cells.set(key, (cells.get(key) ?? 0) + 1);
  }
  return cells;
}

/** Adjusted Rand index of such a table. */
export function randIndex(cells) {
  const pairs = (x) => (x * (x - 1)) / 2;
  const [rows, columns] = [new Map(), new Map()];
  let [n, both] = [0, 0];
  for (const [key, count] of cells) {
    const [a, b] = key.split(" ");
    rows.set(a, (rows.get(a) ?? 0) + count);
    columns.set(b, (columns.get(b) ?? 0) + count);
    n += count;
    both += pairs(count);
  }
  const [a, b] = [rows, columns].map((sums) => [...sums.values()].reduce((all, one) => all + pairs(one), 0));
  const expected = (a * b) / pairs(n);
  const most = (a + b) / 2;
  return most === expected ? 1 : (both - expected) / (most - expected);
}

/** Precision, recall and F1 of what lies beyond a threshold, and how many that are. */
export function atThreshold(scored, threshold) {
  const { values, wanted, high } = scored;
  let [taken, right, all, judged] = [0, 0, 0, 0];
  for (let i = 0; i < values.length; i++) {
    const beyond = high ? values[i] >= threshold : values[i] < threshold;
    if (beyond) taken++;
    if (!wanted || wanted[i] < 0) continue;
    if (beyond) judged++;
    if (wanted[i]) all++;
    if (beyond && wanted[i]) right++;
  }
  const precision = judged ? right / judged : 0;
  const recall = all ? right / all : 0;
  const f1 = precision + recall ? (2 * precision * recall) / (precision + recall) : 0;
  return { taken, precision, recall, f1 };
}
