/** One hover box for all figures. */

import { h } from "./dom.js";

/** @param {HTMLElement} root */
export function makeTooltip(root) {
  const box = h("div", { class: "cs-tooltip", role: "tooltip", hidden: true });
  root.append(box);

  /** Beside the pointer, on the side that has room. */
  function place(x, y) {
    const { offsetWidth: width, offsetHeight: height } = box;
    const right = x + 14 + width < document.documentElement.clientWidth;
    const below = y + 14 + height < window.innerHeight;
    box.style.left = `${Math.max(4, right ? x + 14 : x - 14 - width)}px`;
    box.style.top = `${Math.max(4, below ? y + 14 : y - 14 - height)}px`;
  }

  return {
    /**
     * @param {{clientX: number, clientY: number}} at
     * @param {string} title
     * @param {Array<[string, string]>} facts
     */
    show(at, title, facts = []) {
      const rows = facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)));
      box.replaceChildren(h("strong", {}, title), h("dl", {}, ...rows));
      box.hidden = false;
      place(at.clientX, at.clientY);
    },
    hide() {
      box.hidden = true;
    },
    remove() {
      box.remove();
    },
  };
}
