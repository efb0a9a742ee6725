/** Numbers and names as a reader wants them. */

const PRECISE = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

// What is left of a difference of equal numbers is nothing to a reader.
const TINY = 1e-9;

/** A number in few digits; a dash where there is none. */
export function number(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (Math.abs(value) < TINY) return "0";
  if (Number.isInteger(value)) return WHOLE.format(value);
  const size = Math.abs(value);
  return size < 1e-3 || size >= 1e7 ? value.toExponential(2) : PRECISE.format(value);
}

/** How a column of numbers is written: all with the same decimals, so that they can be compared. */
export function columnFormat(values) {
  const known = values.filter((value) => typeof value === "number" && Math.abs(value) >= TINY).map(Math.abs);
  const most = known.reduce((high, value) => Math.max(high, value), 0);
  if (known.every(Number.isInteger) || most < 0.01 || most >= 1e6) return number;
  const digits = known.some((value) => Math.abs(value * 100 - Math.round(value * 100)) > 1e-9) ? 3 : 2;
  return (value) => {
    if (typeof value !== "number") return number(value);
    return value > TINY && value < 5e-4 ? "< 0.001" : value.toFixed(digits);
  };
}

const NAMES = {
  id: "Object",
  runner_up: "Runner-up",
};

/** A column's name as a heading: "runner_up" is read as "Runner-up". */
export function heading(name) {
  if (name in NAMES) return NAMES[name];
  const words = name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** "1 object", "1,200 objects". */
export function counted(count, noun) {
  return `${WHOLE.format(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** Round numbers between `low` and `high`, about `wanted` of them. */
export function ticks(low, high, wanted) {
  const range = high - low;
  if (!(range > 0)) return [low];
  const rough = range / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}
