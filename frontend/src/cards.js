/** What there is to say of each cluster: its name and a few lines, one below the other. */

import { h } from "./dom.js";
import { clusterButton } from "./legend.js";

export function drawCards(host, figure, context) {
  for (const { cluster, lines } of figure.cards) {
    const words = lines.flatMap(([name, text]) => [h("dt", {}, name), h("dd", {}, text)]);
    const card = h(
      "div",
      { class: "cs-card" },
      h("h4", {}, clusterButton(context, cluster)),
      h("dl", {}, ...words),
    );
    host.append(card);
    context.picked.watch(() => card.classList.toggle("is-dim", context.picked.dims(cluster)));
  }
}
