/** Clusters as buttons: pick one and it stands out in every figure. */

import { h, svg } from "./dom.js";
import { clusterColour, clusterShape, markPath } from "./colours.js";

/** The mark of a cluster, as in the figures; short-lived ones do not follow the theme. */
export function swatch(context, cluster, lasting = true) {
  const mark = svg("path", { d: markPath(clusterShape(cluster)) });
  const paint = () => mark.setAttribute("fill", clusterColour(context.theme.value, cluster));
  paint();
  if (lasting) context.theme.watch(paint);
  return svg("svg", { class: "cs-swatch", viewBox: "0 0 16 16", "aria-hidden": "true" }, mark);
}

/** One cluster's button, pressed while the cluster is picked. */
export function clusterButton(context, cluster) {
  const button = h(
    "button",
    {
      type: "button",
      class: "cs-cluster",
      "data-cluster": cluster,
      title: "Highlight in every figure",
      onclick: () => context.picked.toggle(cluster),
    },
    swatch(context, cluster),
    h("span", {}, context.objects.clusterName(cluster)),
  );
  const show = () => {
    button.setAttribute("aria-pressed", String(context.picked.value.has(cluster)));
    button.classList.toggle("is-dim", context.picked.dims(cluster));
  };
  show();
  context.picked.watch(show);
  return button;
}

/** All clusters in a row, and a button that shows all alike again. */
export function clusterLegend(context) {
  const all = h(
    "button",
    { type: "button", class: "cs-button cs-all", onclick: () => context.picked.clear() },
    "Show all",
  );
  const show = () => (all.hidden = context.picked.value.size === 0);
  show();
  context.picked.watch(show);
  return h(
    "div",
    { class: "cs-legend", role: "group", "aria-label": "Highlight clusters" },
    ...context.clusters.map((cluster) => clusterButton(context, cluster)),
    all,
  );
}
