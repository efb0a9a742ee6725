/** Places in the unit square, the nearest of them, and those inside a line drawn around: no page. */

/**
 * Places of a map as shares of the picture, 0..1, top down. The same scale on both axes unless that
 * would waste most of the picture.
 * @param {Float32Array} places x and y in turn
 */
export function unitPlaces(places, aspect) {
  const n = places.length / 2;
  const low = [Infinity, Infinity];
  const high = [-Infinity, -Infinity];
  for (let i = 0; i < 2 * n; i++) {
    const axis = i & 1;
    const value = places[i];
    if (value < low[axis]) low[axis] = value;
    if (value > high[axis]) high[axis] = value;
  }
  let width = high[0] - low[0] || 1;
  let height = high[1] - low[1] || 1;
  const stretch = width / (height / aspect);
  if (stretch <= 3 && stretch >= 1 / 3) {
    if (stretch > 1) height = width * aspect;
    else width = height / aspect;
  }
  const air = 1.06;
  const left = (high[0] + low[0] - width * air) / 2;
  const bottom = (high[1] + low[1] - height * air) / 2;
  const found = new Float32Array(2 * n);
  for (let i = 0; i < n; i++) {
    found[2 * i] = (places[2 * i] - left) / (width * air);
    found[2 * i + 1] = 1 - (places[2 * i + 1] - bottom) / (height * air);
  }
  return found;
}

/** A grid of cells over the unit square with the rows in each, by counting: a million in a moment. */
export function gridOf(places) {
  const n = places.length / 2;
  const side = Math.min(1024, Math.max(1, Math.ceil(Math.sqrt(n / 3))));
  const cell = (value) => (value <= 0 ? 0 : value >= 1 ? side - 1 : Math.floor(value * side));
  const starts = new Uint32Array(side * side + 1);
  for (let i = 0; i < n; i++) starts[cell(places[2 * i]) * side + cell(places[2 * i + 1]) + 1]++;
  for (let c = 0; c < side * side; c++) starts[c + 1] += starts[c];
  const at = starts.slice(0, -1);
  const rows = new Uint32Array(n);
  for (let i = 0; i < n; i++) rows[at[cell(places[2 * i]) * side + cell(places[2 * i + 1])]++] = i;

  /** Calls `work` with every row in the cells that a box touches. */
  function inBox(left, top, right, bottom, work) {
    for (let column = cell(left); column <= cell(right); column++) {
      for (let c = column * side + cell(top), end = column * side + cell(bottom); c <= end; c++) {
        for (let r = starts[c]; r < starts[c + 1]; r++) work(rows[r]);
      }
    }
  }

  return {
    inBox,
    /** The nearest row within `ru`, `rv` of (u, v), or -1. */
    nearest(u, v, ru, rv) {
      let [best, least] = [-1, 1];
      inBox(u - ru, v - rv, u + ru, v + rv, (i) => {
        const far = ((places[2 * i] - u) / ru) ** 2 + ((places[2 * i + 1] - v) / rv) ** 2;
        if (far <= least) [best, least] = [i, far];
      });
      return best;
    },
  };
}

/** Whether a place is inside a polygon of x and y in turn (even-odd). */
export function isInside(polygon, x, y) {
  let inside = false;
  const end = polygon.length;
  for (let i = 0, j = end - 2; i < end; j = i, i += 2) {
    const [ax, ay, bx, by] = [polygon[i], polygon[i + 1], polygon[j], polygon[j + 1]];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside;
  }
  return inside;
}

/** Rows inside a polygon, ascending. */
export function rowsInside(places, grid, polygon) {
  const xs = polygon.filter((_, i) => i % 2 === 0);
  const ys = polygon.filter((_, i) => i % 2 === 1);
  const found = [];
  grid.inBox(Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys), (i) => {
    if (isInside(polygon, places[2 * i], places[2 * i + 1])) found.push(i);
  });
  return Uint32Array.from(found).sort();
}
