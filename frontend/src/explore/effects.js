/**
 * What sets some objects apart, as `consilience.explain` computes it: Cliff's delta of numbers and the
 * difference of shares of categories, with their 95 % intervals. Plain functions; tests compare the
 * figures with Python's.
 */

const HALVINGS = 55;
const Z = 1.959963984540054; // 0.975 quantile of the normal distribution

/** Differences between the selected objects and all others, the surest first. */
export function specialOf(columns, n, rows, most = 20) {
  if (!rows.length || rows.length >= n) return [];
  const chosen = new Uint8Array(n);
  for (const row of rows) chosen[row] = 1;
  const found = columns.filter(({ values }) => values).flatMap((column) => {
    if (column.kind === "number") return [ofNumbers(column, chosen)];
    if (column.kind === "word") return [ofShare(column, chosen, "", (value) => value !== 0, () => true)];
    const spoken = column.kind === "flag" ? [1] : column.levels.map((_, level) => level);
    return spoken.map((level) => ofShare(column, chosen, column.levels[level], (value) => value === level, (value) => value >= 0));
  });
  return found
    .filter(({ strength }) => strength >= 0)
    .sort((a, b) => b.strength - a.strength || Math.abs(b.effect) - Math.abs(a.effect))
    .slice(0, most);
}

/** How far apart it surely is: the end of the interval that is nearest to 0; -1 where nothing is known. */
function strengthOf(low, high) {
  if (Number.isNaN(low)) return -1;
  return low > 0 ? low : high < 0 ? -high : 0;
}

function median(sorted) {
  const n = sorted.length;
  if (!n) return null;
  return n % 2 ? sorted[(n - 1) / 2] : sorted[n / 2 - 1] + (sorted[n / 2] - sorted[n / 2 - 1]) * 0.5;
}

function ofNumbers({ name, values }, chosen) {
  const parts = [[], []];
  for (let i = 0; i < values.length; i++) if (Number.isFinite(values[i])) parts[chosen[i] ? 0 : 1].push(values[i]);
  const [here, rest] = parts.map((part) => Float64Array.from(part).sort());
  const { theta, variance } = superiority(here, rest);
  const [low, high] = superiorityInterval(theta, here.length, rest.length, variance).map((end) => 2 * end - 1);
  return {
    column: name, category: "", kind: "number", effect: 2 * theta - 1, low, high,
    here: median(here), rest: median(rest), strength: strengthOf(low, high),
  };
}

/** P(here > rest) + P(equal) / 2 of two sorted samples, and its variance by DeLong's placements. */
export function superiority(here, rest) {
  const [m, n] = [here.length, rest.length];
  if (!m || !n) return { theta: NaN, variance: NaN };
  const above = placements(here, rest);
  let theta = 0;
  for (const one of above) theta += one;
  theta /= m;
  if (m < 2 || n < 2) return { theta, variance: NaN };
  let spread = 0;
  for (const one of above) spread += (one - theta) ** 2;
  let away = 0;
  for (const one of placements(rest, here)) away += (one - (1 - theta)) ** 2;
  return { theta, variance: spread / (m - 1) / m + away / (n - 1) / n };
}

/** Of each value of `a` the share of `b` below it, equal ones by half; both sorted. */
function placements(a, b) {
  const found = new Float64Array(a.length);
  let [below, upto] = [0, 0];
  for (let i = 0; i < a.length; i++) {
    while (below < b.length && b[below] < a[i]) below++;
    if (upto < below) upto = below;
    while (upto < b.length && b[upto] <= a[i]) upto++;
    found[i] = (below + upto) / 2 / b.length;
  }
  return found;
}

/** Newcombe's fifth method (2006), widened where DeLong's variance is larger. */
export function superiorityInterval(theta, m, n, variance) {
  if (Number.isNaN(theta)) return [NaN, NaN];
  const own = scoreVariance(theta, m, n);
  const factor = own > 0 ? variance / own : 1;
  const wide = Number.isFinite(factor) && factor > 1;
  const z = wide ? studentQuantile(0.975, Math.max(Math.min(m, n) - 1, 1)) : Z;
  const reach = z * Math.sqrt(wide ? factor : 1);
  return [scoreEnd(theta, m, n, reach), 1 - scoreEnd(1 - theta, m, n, reach)];
}

function scoreVariance(theta, m, n) {
  const pairs = 1 + ((m + n) / 2 - 1) * ((1 - theta) / (2 - theta) + theta / (1 + theta));
  return ((theta * (1 - theta)) / (m * n)) * pairs;
}

function scoreEnd(theta, m, n, reach) {
  let [near, far] = [theta, 0];
  for (let i = 0; i < HALVINGS; i++) {
    const middle = (near + far) / 2;
    if (theta - middle <= reach * Math.sqrt(scoreVariance(middle, m, n))) near = middle;
    else far = middle;
  }
  return near;
}

function ofShare({ name, kind, values }, chosen, category, has, known) {
  let [a, m, c, n] = [0, 0, 0, 0];
  for (let i = 0; i < values.length; i++) {
    if (!known(values[i])) continue;
    if (chosen[i]) {
      m++;
      if (has(values[i])) a++;
    } else {
      n++;
      if (has(values[i])) c++;
    }
  }
  const [own, other] = [a / m, c / n];
  const [ownLow, ownHigh] = wilson(own, m);
  const [otherLow, otherHigh] = wilson(other, n);
  const effect = own - other;
  const empty = !m || !n;
  const low = empty ? NaN : Math.max(-1, effect - Math.hypot(own - ownLow, otherHigh - other));
  const high = empty ? NaN : Math.min(1, effect + Math.hypot(ownHigh - own, other - otherLow));
  const odds = Math.log(((a + 0.5) * (n - c + 0.5)) / ((m - a + 0.5) * (c + 0.5)));
  const error = Math.sqrt(1 / (a + 0.5) + 1 / (m - a + 0.5) + 1 / (c + 0.5) + 1 / (n - c + 0.5));
  const strength = empty ? -1 : kind === "word" ? strengthOf(odds - Z * error, odds + Z * error) : strengthOf(low, high);
  return { column: name, category, kind, effect, low, high, here: own, rest: other, strength };
}

/** Wilson's score interval of a share. */
function wilson(share, n) {
  const middle = (share + Z ** 2 / (2 * n)) / (1 + Z ** 2 / n);
  const half = (Z / (1 + Z ** 2 / n)) * Math.sqrt((share * (1 - share)) / n + Z ** 2 / (4 * n ** 2));
  return [Math.min(middle - half, share), Math.max(middle + half, share)];
}

// ---- Student's quantile ------------------------------------------------------------------

export function studentQuantile(p, df) {
  let [low, high] = [0, 1];
  while (studentBelow(high, df) < p) high *= 2;
  for (let i = 0; i < 80; i++) {
    const middle = (low + high) / 2;
    if (studentBelow(middle, df) < p) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

function studentBelow(t, df) {
  return 1 - 0.5 * incompleteBeta(df / (df + t * t), df / 2, 0.5);
}

/** Regularised incomplete beta function by its continued fraction (Lentz). */
function incompleteBeta(x, a, b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
  return x < (a + 1) / (a + b + 2) ? (front * fraction(x, a, b)) / a : 1 - (front * fraction(1 - x, b, a)) / b;
}

function fraction(x, a, b) {
  const tiny = 1e-300;
  const safe = (value) => (Math.abs(value) < tiny ? tiny : value);
  let [c, d] = [1, 1 / safe(1 - ((a + b) * x) / (a + 1))];
  let found = d;
  for (let m = 1; m <= 300; m++) {
    for (const step of [
      (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)),
      (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1)),
    ]) {
      d = 1 / safe(1 + step * d);
      c = safe(1 + step / c);
      found *= d * c;
    }
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return found;
}

/** Lanczos' approximation, to about 15 digits. */
function logGamma(x) {
  const parts = [
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
    -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
  ];
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
  const t = x + 6.5;
  const sum = parts.reduce((all, part, i) => (i ? all + part / (x - 1 + i) : part), 0);
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}
