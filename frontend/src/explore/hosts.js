/** The three hosts: a page that holds its data, the page of a local server, a notebook. */

import { h } from "../dom.js";
import { TEXTS } from "../texts.js";
import { bufferOf, kernelAsk, serverAsk } from "./asking.js";
import { explore } from "./explore.js";
import { PREFIX } from "./store.js";
import { decoded } from "./wire.js";

/** Say when it was drawn: two frames later the browser has shown it. Scripts find it at the element. */
function drawn(root, explorer) {
  root.explorer = explorer;
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      performance.mark("consilience-explored");
      root.dataset.explored = "true";
    }),
  );
}

/** In a page of ours: with its data inside, or asking the server it came from. */
export async function exploreOwnPage() {
  const root = document.getElementById("consilience-explore");
  if (!root) return null;
  const inside = document.getElementById("consilience-view");
  try {
    // A report is read before it is explored: what it holds is unpacked when somebody asks for it.
    if (inside && root.dataset.waits && !location.hash.startsWith(PREFIX)) await asked(root);
    if (inside) {
      const explorer = explore(root, decoded(inside.textContent), { alone: !root.dataset.waits });
      drawn(root, explorer);
      return explorer;
    }
    root.replaceChildren(h("p", { class: "cs-read" }, TEXTS.loading));
    const ask = serverAsk();
    const explorer = explore(root, await ask({ ask: "view" }), { ask, alone: true });
    drawn(root, explorer);
    return explorer;
  } catch (error) {
    console.error(error);
    root.replaceChildren(h("p", { class: "cs-failed" }, TEXTS.failed(error.message)));
    return null;
  }
}

/** Until the button of a report is pressed. */
function asked(root) {
  return new Promise((done) => {
    root.append(h("button", { type: "button", class: "cs-button cs-start", onclick: done }, TEXTS.start));
  });
}

/** Keys pressed in the explorer are not the notebook's, for which D means to delete a cell. */
function keepKeys(root) {
  root.addEventListener("keydown", (event) => {
    const ours = event.defaultPrevented || !(event.ctrlKey || event.metaKey || event.altKey);
    if (ours) event.stopPropagation();
  });
}

/** In a notebook, as `anywidget` calls it: the selection goes to the kernel and comes from it. */
export function render({ model, el }) {
  const root = h("div");
  el.append(root);
  keepKeys(root);
  const ask = kernelAsk(model);
  const explorer = explore(root, bufferOf(model.get("data")), { ask, patient: true, address: false });
  if (model.get("state")) explorer.restore(model.get("state"));
  const rowsOf = () => new Uint32Array(bufferOf(model.get("chosen") ?? new ArrayBuffer(0)));
  const same = (a, b) => a.length === b.length && a.every((row, i) => row === b[i]);
  explorer.store.selection.watch(({ rows }) => {
    if (same(rows, rowsOf())) return;
    model.set("chosen", new DataView(Uint32Array.from(rows).buffer));
    model.save_changes();
  });
  const chosen = () => {
    const rows = rowsOf();
    if (!same(rows, explorer.store.selection.value.rows)) explorer.store.select(rows, TEXTS.definition.host);
  };
  model.on("change:chosen", chosen);
  chosen();
  explorer.watch(() => {
    model.set("state", explorer.state());
    model.save_changes();
  });
  drawn(root, explorer);
  return () => explorer.destroy();
}
