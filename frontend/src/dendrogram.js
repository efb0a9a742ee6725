/** The tree of merges with the cut, as SVG: a few hundred lines that print sharply. */

import { clusterColour } from "./colours.js";
import { h, onWidth, svg } from "./dom.js";
import { counted, number, ticks } from "./format.js";
import { clusterLegend } from "./legend.js";

const MARGIN = { left: 50, right: 12, top: 16, bottom: 22 };

/**
 * The tree in plain terms: for each node (leaves first, then merges, as scipy counts them) its
 * place across, its height, its cluster (null where it holds several) and its objects.
 */
export function treeOf(figure) {
  const { left, right, heights, clusters } = figure;
  const leaves = heights.length + 1;
  const place = new Float64Array(2 * leaves - 1);
  const cluster = [...clusters];
  // A leaf may stand for several objects.
  const size = figure.leaf_sizes ? [...figure.leaf_sizes] : new Array(leaves).fill(1);
  leafOrder(figure, leaves).forEach((leaf, i) => (place[leaf] = i + 0.5));
  heights.forEach((_, i) => {
    const [a, b] = [left[i], right[i]];
    place[leaves + i] = (place[a] + place[b]) / 2;
    cluster.push(cluster[a] === cluster[b] ? cluster[a] : null);
    size.push(figure.sizes?.[i] ?? size[a] + size[b]);
  });
  const height = (node) => (node < leaves ? 0 : heights[node - leaves]);
  return { leaves, place, cluster, size, height, top: Math.max(...heights, figure.cut ?? 0, 1e-12) };
}

/** Leaves from left to right, so that no lines cross. No recursion: a chain may be deep. */
function leafOrder({ left, right }, leaves) {
  const order = [];
  const stack = [2 * leaves - 2];
  while (stack.length) {
    const node = stack.pop();
    if (node < leaves) order.push(node);
    else stack.push(right[node - leaves], left[node - leaves]);
  }
  return order;
}

export function drawDendrogram(host, figure, context) {
  const tree = treeOf(figure);
  const picture = svg("svg", { class: "cs-tree", role: "img", "aria-label": context.label });
  const frame = h("div", { class: "cs-canvas" }, picture);
  host.append(h("div", { class: "cs-bar" }, clusterLegend(context)), frame);
  let scale = null;

  function build(width) {
    const height = Math.min(440, Math.max(280, width * 0.5));
    scale = scaleOf(tree, width, height);
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    picture.replaceChildren(
      ...axis(tree, scale),
      ...branches(figure, tree, scale, context),
      ...cutLine(figure, scale),
    );
    dim();
  }
  function dim() {
    for (const part of picture.querySelectorAll("[data-cluster]")) {
      const cluster = part.dataset.cluster === "none" ? null : Number(part.dataset.cluster);
      part.classList.toggle("is-dim", context.picked.dims(cluster));
    }
  }

  onWidth(frame, context.signal, build);
  context.picked.watch(dim);
  context.theme.watch(() => build(frame.clientWidth));
  listen(picture, figure, tree, () => scale, context);
}

function scaleOf(tree, width, height) {
  const [wide, tall] = [width - MARGIN.left - MARGIN.right, height - MARGIN.top - MARGIN.bottom];
  return {
    x: (place) => MARGIN.left + (place / tree.leaves) * wide,
    y: (value) => MARGIN.top + tall * (1 - value / (tree.top * 1.04)),
    bottom: height - MARGIN.bottom,
    right: width - MARGIN.right,
  };
}

function axis(tree, scale) {
  return ticks(0, tree.top, 5).flatMap((tick) => [
    svg("line", { class: "cs-grid", x1: MARGIN.left, x2: scale.right, y1: scale.y(tick), y2: scale.y(tick) }),
    svg("text", { x: MARGIN.left - 8, y: scale.y(tick) + 4, "text-anchor": "end" }, number(tick)),
  ]);
}

/** One path a cluster, one for what lies above the clusters, and the clusters' colours below. */
function branches(figure, tree, scale, { theme }) {
  const paths = new Map();
  figure.heights.forEach((value, i) => {
    const [a, b] = [figure.left[i], figure.right[i]];
    const [xa, xb] = [scale.x(tree.place[a]), scale.x(tree.place[b])].map((x) => x.toFixed(1));
    const [ya, yb, y] = [tree.height(a), tree.height(b), value].map((v) => scale.y(v).toFixed(1));
    const cluster = tree.cluster[tree.leaves + i];
    paths.set(cluster, `${paths.get(cluster) ?? ""}M${xa} ${ya}V${y}H${xb}V${yb}`);
  });
  const named = (cluster) => (cluster === null ? "none" : cluster);
  const lines = [...paths].map(([cluster, d]) => {
    const stroke = cluster === null ? theme.value.muted : clusterColour(theme.value, cluster);
    return svg("path", { class: "cs-branch", d, stroke, "data-cluster": named(cluster) });
  });
  const step = scale.x(1) - scale.x(0);
  const feet = figure.clusters.map((cluster, leaf) => {
    const fill = clusterColour(theme.value, cluster);
    const at = { x: scale.x(tree.place[leaf] - 0.5), y: scale.bottom + 5, width: step + 0.4, height: 8 };
    return svg("rect", { ...at, fill, "data-cluster": named(cluster) });
  });
  return [...lines, ...feet];
}

function cutLine({ cut, n_clusters: count }, scale) {
  if (cut === null || cut === undefined) return [];
  const y = scale.y(cut);
  return [
    svg("line", { class: "cs-cut", x1: MARGIN.left, x2: scale.right, y1: y, y2: y }),
    svg(
      "text",
      { class: "cs-cut-name", x: scale.right, y: y - 6, "text-anchor": "end" },
      `cut: ${counted(count, "cluster")}`,
    ),
  ];
}

function listen(picture, figure, tree, scaleNow, { tooltip, signal, objects }) {
  /** The merge whose bar is nearest to the pointer. */
  function nearest(x, y) {
    const scale = scaleNow();
    let [best, least] = [-1, 14];
    figure.heights.forEach((value, i) => {
      const ends = [figure.left[i], figure.right[i]].map((node) => scale.x(tree.place[node]));
      const beside = Math.max(0, Math.min(...ends) - x, x - Math.max(...ends));
      const distance = Math.hypot(beside, scale.y(value) - y);
      if (distance < least) [best, least] = [i, distance];
    });
    return best;
  }
  const on = (name, work) => picture.addEventListener(name, work, { signal });
  on("pointermove", (event) => {
    const box = picture.getBoundingClientRect();
    const i = nearest(event.clientX - box.left, event.clientY - box.top);
    if (i < 0) return tooltip.hide();
    const node = tree.leaves + i;
    const facts = [["Objects", number(tree.size[node])]];
    if (tree.cluster[node] !== null) facts.push(["In", objects.clusterName(tree.cluster[node])]);
    return tooltip.show(event, `Joined at ${number(figure.heights[i])}`, facts);
  });
  on("pointerleave", () => tooltip.hide());
}
