/** Nearest point in the unit square, by a grid of small cells: hovering must not read every point. */

/**
 * @param {Float64Array} us places in 0..1
 * @param {Float64Array} vs
 */
export function gridIndex(us, vs) {
  const side = Math.min(128, Math.max(1, Math.ceil(Math.sqrt(us.length / 2))));
  const cell = (value) => Math.min(side - 1, Math.max(0, Math.floor(value * side)));
  const cells = new Map();
  us.forEach((u, i) => {
    const key = cell(u) * side + cell(vs[i]);
    if (!cells.has(key)) cells.set(key, []);
    cells.get(key).push(i);
  });

  /** Nearest point within `ru`, `rv` of (u, v), or -1; the drawn order breaks ties: the top one wins. */
  return function nearest(u, v, ru, rv, accept = () => true) {
    let [best, least] = [-1, 1];
    for (let column = cell(u - ru); column <= cell(u + ru); column++) {
      for (let row = cell(v - rv); row <= cell(v + rv); row++) {
        for (const i of cells.get(column * side + row) ?? []) {
          const distance = ((us[i] - u) / ru) ** 2 + ((vs[i] - v) / rv) ** 2;
          if (distance <= least && accept(i)) [best, least] = [i, distance];
        }
      }
    }
    return best;
  };
}
