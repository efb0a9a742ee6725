/** What points are coloured by: a byte a point, and a palette of 256 colours with shapes. */

import { clusterColour, clusterShape, colourScale } from "../colours.js";
import { number } from "../format.js";

const SHAPES = { circle: 0, triangle: 1, square: 2, diamond: 3, cross: 4 };
const MOST = 255;

/** "#1b5478" or "rgb(…)" as three bytes. */
function bytesOf(colour) {
  if (colour.startsWith("#")) return [1, 3, 5].map((i) => Number.parseInt(colour.slice(i, i + 2), 16));
  return (colour.match(/\d+/g) ?? [128, 128, 128]).slice(0, 3).map(Number);
}

function groupPalette(theme, groups) {
  const palette = new Uint8Array(1024);
  for (let tone = 0; tone < 256; tone++) {
    const group = groups(tone);
    palette.set([...bytesOf(clusterColour(theme, group)), SHAPES[clusterShape(group)]], 4 * tone);
  }
  return palette;
}

/** The colour scale, and grey at 255 for what is unknown. */
function scalePalette(theme) {
  const [palette, scale] = [new Uint8Array(1024), colourScale(theme)];
  for (let tone = 0; tone < 255; tone++) {
    // The lightest shades cannot be told from the page.
    const from = 3 * Math.round(50 + (tone / 254) * 205);
    palette.set([scale[from], scale[from + 1], scale[from + 2], 0], 4 * tone);
  }
  palette.set([...bytesOf(theme.noise), 4], 4 * 255);
  return palette;
}

/** Numbers as bytes from the least to the largest, 255 where unknown. */
function scaled(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) [low, high] = [NaN, NaN]; // nothing is known
  const range = high - low || 1;
  const data = new Uint8Array(values.length);
  for (let i = 0; i < values.length; i++) {
    data[i] = Number.isFinite(values[i]) ? Math.round((254 * (values[i] - low)) / range) : 255;
  }
  return { data, low, high };
}

function labelled(labels) {
  const data = new Uint8Array(labels.length);
  for (let i = 0; i < labels.length; i++) data[i] = labels[i] < 0 ? 0 : (labels[i] % MOST) + 1;
  return data;
}

/** Categories as groups: their places in the list of levels are the numbers. */
function ofCategories(theme, codes, levels) {
  return {
    data: labelled(codes),
    palette: groupPalette(theme, (tone) => tone - 1),
    legend: { kind: "groups", groups: levels.map((name, group) => ({ group, name })) },
  };
}

function ofNumbers(theme, values, what) {
  const { data, low, high } = scaled(values);
  return { data, palette: scalePalette(theme), legend: { kind: "scale", what, low: number(low), high: number(high) } };
}

/**
 * Tones for what the reader wants to colour by.
 * @returns {{key: string, data: Uint8Array|null, palette: Uint8Array, legend: object}} `data` null: as before
 */
export function tonesOf(store, theme) {
  const { model, texts } = store;
  const [what, text] = store.colour.value.split(":");
  const j = Number(text);
  if (what === "confidence" && model.confidence) return { key: "confidence", ...ofNumbers(theme, model.confidence, texts.colourConfidence) };
  if (what === "score" && model.scored) return { key: "score", ...ofNumbers(theme, model.scored.values, texts.colourScore) };
  if (what === "truth" && model.truth) return { key: "truth", ...ofCategories(theme, model.truth, model.truthLevels) };
  const view = what === "view" ? model.views[j] : null;
  if (view) return { key: `view${j}`, ...ofNumbers(theme, view.values, texts.view(view.name)) };
  const column = what === "column" ? model.columns[j] : null;
  if (column?.values) {
    if (column.kind === "number" || column.kind === "word") return { key: `column${j}`, ...ofNumbers(theme, column.values, column.name) };
    return { key: `column${j}`, ...ofCategories(theme, column.values, column.levels) };
  }
  const labels = what === "member" ? model.members[j] : what === "answer" ? model.answers[j]?.labels : null;
  if (labels) {
    const levels = Array.from({ length: labels.reduce((most, one) => Math.max(most, one), -1) + 1 }, (_, g) => String(g));
    return { key: `${what}${j}`, ...ofCategories(theme, labels, levels) };
  }
  return ofGroups(store, theme);
}

/** By the groups of now; by leaf as long as leaves are whole, so that only the palette changes. */
function ofGroups(store, theme) {
  const { model } = store;
  const grouping = store.grouping.value;
  const groups = grouping.list.map(({ group }) => ({ group, name: store.name(group) }));
  const legend = { kind: "groups", groups };
  if (grouping.byLeaf && model.cuts.leaves < 255) {
    const palette = groupPalette(theme, (tone) => (tone ? (grouping.byLeaf[tone - 1] ?? -1) : -1));
    return { key: "leaf", data: null, make: () => labelled(model.leaf), palette, legend };
  }
  return { key: "labels", data: labelled(grouping.labels()), palette: groupPalette(theme, (tone) => tone - 1), legend };
}
