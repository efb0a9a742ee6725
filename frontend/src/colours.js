/**
 * Colours and marks of clusters.
 *
 * Ten colours for each theme, found by a search for the greatest least distance between any two,
 * as seen by normal, protan, deutan and tritan eyes, with a contrast of at least 3 with the page;
 * a test measures both. From the eleventh cluster on the colours come again with another shape.
 */

const LIGHT = [
  "#1b5478", "#d08117", "#6282fc", "#8d1446", "#028261",
  "#c63c28", "#244210", "#6441bf", "#4f1673", "#ad5bc2",
];
const DARK = [
  "#1280ed", "#facf3e", "#d4424e", "#70d7fc", "#07c77c",
  "#b24bb3", "#b29afb", "#e28406", "#8ff7af", "#fda0b9",
];
const SHAPES = ["circle", "triangle", "square", "diamond"];

/**
 * The page's colours as the style sheet has them now: screen or print, light or dark.
 * @param {HTMLElement} root
 */
export function themeOf(root) {
  const style = getComputedStyle(root);
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  const dark = read("scheme") === "dark";
  return {
    dark,
    printing: root.classList.contains("is-printing"),
    paper: read("paper"),
    ink: read("ink"),
    muted: read("muted"),
    line: read("line"),
    accent: read("accent"),
    noise: read("noise"),
    bar: read("bar"),
    font: style.fontFamily,
    palette: dark ? DARK : LIGHT,
  };
}

/** The colour of a cluster; everything below zero (noise, background) is grey. */
export function clusterColour(theme, cluster) {
  if (!(cluster >= 0)) return theme.noise;
  return theme.palette[cluster % theme.palette.length];
}

/** The mark of a cluster: the shape changes each time the colours start again. */
export function clusterShape(cluster) {
  if (!(cluster >= 0)) return "cross";
  return SHAPES[Math.floor(cluster / LIGHT.length) % SHAPES.length];
}

/** Outline of a mark around (0, 0) as line segments; null for a circle. All have the circle's weight. */
const OUTLINES = {
  circle: null,
  triangle: [[0, -1.25], [1.15, 0.85], [-1.15, 0.85]],
  square: [[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]],
  diamond: [[0, -1.3], [1.2, 0], [0, 1.3], [-1.2, 0]],
  cross: [
    [-0.35, -1.1], [0.35, -1.1], [0.35, -0.35], [1.1, -0.35], [1.1, 0.35], [0.35, 0.35],
    [0.35, 1.1], [-0.35, 1.1], [-0.35, 0.35], [-1.1, 0.35], [-1.1, -0.35], [-0.35, -0.35],
  ],
};

/** Add a mark to the canvas path. */
export function traceMark(pen, shape, x, y, radius) {
  const outline = OUTLINES[shape];
  if (!outline) {
    pen.moveTo(x + radius, y);
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    return;
  }
  outline.forEach(([dx, dy], i) => {
    if (i === 0) pen.moveTo(x + dx * radius, y + dy * radius);
    else pen.lineTo(x + dx * radius, y + dy * radius);
  });
  pen.closePath();
}

/** The same mark as SVG path data, in a box of 16 by 16. */
export function markPath(shape) {
  const outline = OUTLINES[shape];
  if (!outline) return "M13 8A5 5 0 1 1 3 8A5 5 0 1 1 13 8Z";
  return `M${outline.map(([x, y]) => `${(8 + x * 5).toFixed(2)} ${(8 + y * 5).toFixed(2)}`).join("L")}Z`;
}

const SCALE_LIGHT = [[250, 251, 252], [198, 217, 233], [107, 160, 203], [38, 98, 150], [9, 40, 78]];
const SCALE_DARK = [[24, 28, 34], [25, 57, 92], [40, 106, 160], [112, 172, 214], [226, 241, 250]];

/** 256 colours from little to much, as one byte array of red, green, blue. */
export function colourScale(theme) {
  const stops = theme.dark ? SCALE_DARK : SCALE_LIGHT;
  const table = new Uint8Array(256 * 3);
  for (let i = 0; i < 256; i++) {
    const place = (i / 255) * (stops.length - 1);
    const below = Math.min(Math.floor(place), stops.length - 2);
    for (let channel = 0; channel < 3; channel++) {
      const [from, to] = [stops[below][channel], stops[below + 1][channel]];
      table[3 * i + channel] = Math.round(from + (to - from) * (place - below));
    }
  }
  return table;
}
