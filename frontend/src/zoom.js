/**
 * Zoom by wheel, drag, pinch, keys and buttons.
 *
 * The picture is the unit square; the view is the part of it that is seen: its left and top
 * corner and its side `span`, 1 for all of it.
 */

import { h } from "./dom.js";
import { TEXTS } from "./texts.js";

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

/**
 * @param {HTMLElement} element takes the events
 * @param {AbortSignal} signal ends them
 * @param {{area: () => {x: number, y: number, width: number, height: number},
 *          least: number, changed: () => void}} options
 *   `area` is where the unit square's view lies on the element, in CSS pixels.
 */
export function makeZoom(element, signal, { area, least, changed }) {
  const view = { left: 0, top: 0, span: 1 };

  function move(left, top, span) {
    const before = `${view.left} ${view.top} ${view.span}`;
    view.span = clamp(span, least, 1);
    view.left = clamp(left, 0, 1 - view.span);
    view.top = clamp(top, 0, 1 - view.span);
    element.classList.toggle("is-zoomed", view.span < 1);
    if (before !== `${view.left} ${view.top} ${view.span}`) changed();
  }

  /** Zoom in (factor > 1) or out, so that the place (u, v) of the view, in 0..1, stays put. */
  function zoomAt(factor, u = 0.5, v = 0.5) {
    const span = clamp(view.span / factor, least, 1);
    move(view.left + u * (view.span - span), view.top + v * (view.span - span), span);
  }

  const pan = (du, dv) => move(view.left + du * view.span, view.top + dv * view.span, view.span);
  const reset = () => move(0, 0, 1);

  function placeOf(event) {
    const box = element.getBoundingClientRect();
    const { x, y, width, height } = area();
    return [(event.clientX - box.left - x) / width, (event.clientY - box.top - y) / height];
  }

  const zoom = { view, zoomAt, pan, reset, placeOf, dragged: false };
  listenToWheel(element, signal, zoom);
  listenToPointers(element, signal, zoom);
  listenToKeys(element, signal, zoom);
  return zoom;
}

/**
 * The wheel belongs to the page until the pointer is moved on the picture: somebody who scrolls
 * past the picture must not be caught by it. Out of the widest view the page scrolls on.
 */
function listenToWheel(element, signal, zoom) {
  let armed = false;
  element.addEventListener(
    "pointermove",
    (event) => {
      if (event.movementX || event.movementY) armed = true;
    },
    { signal },
  );
  element.addEventListener("pointerleave", () => (armed = false), { signal });
  window.addEventListener("scroll", () => (armed = false), { signal, passive: true });
  element.addEventListener(
    "wheel",
    (event) => {
      const outward = event.deltaY > 0;
      if (!(armed || event.ctrlKey) || (outward && zoom.view.span >= 1)) return;
      event.preventDefault();
      const lines = event.deltaMode === 1 ? 30 : 1;
      zoom.zoomAt(Math.exp(-clamp(event.deltaY * lines, -150, 150) * 0.003), ...zoom.placeOf(event));
    },
    { signal, passive: false },
  );
}

/** One pointer drags the view, two pinch it. */
function listenToPointers(element, signal, zoom) {
  const down = new Map();
  const spread = ([a, b]) => Math.hypot(a[0] - b[0], a[1] - b[1]);

  element.addEventListener(
    "pointerdown",
    (event) => {
      zoom.dragged = false;
      down.set(event.pointerId, zoom.placeOf(event));
    },
    { signal },
  );
  element.addEventListener(
    "pointermove",
    (event) => {
      const last = down.get(event.pointerId);
      if (!last) return;
      const now = zoom.placeOf(event);
      const far = Math.hypot(now[0] - last[0], now[1] - last[1]);
      if (!zoom.dragged && far * element.clientWidth < 4) return; // still a click
      if (!zoom.dragged) element.setPointerCapture?.(event.pointerId);
      zoom.dragged = true;
      const before = down.size === 2 ? spread([...down.values()]) : 0;
      down.set(event.pointerId, now);
      if (down.size === 2) {
        const [a, b] = [...down.values()];
        zoom.zoomAt(spread([a, b]) / Math.max(before, 1e-3), (a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
      } else {
        zoom.pan(last[0] - now[0], last[1] - now[1]);
      }
    },
    { signal },
  );
  for (const name of ["pointerup", "pointercancel"]) {
    element.addEventListener(name, (event) => down.delete(event.pointerId), { signal });
  }
}

function listenToKeys(element, signal, zoom) {
  const keys = {
    "+": () => zoom.zoomAt(1.5),
    "=": () => zoom.zoomAt(1.5),
    "-": () => zoom.zoomAt(1 / 1.5),
    0: () => zoom.reset(),
    ArrowLeft: () => zoom.pan(-0.2, 0),
    ArrowRight: () => zoom.pan(0.2, 0),
    ArrowUp: () => zoom.pan(0, -0.2),
    ArrowDown: () => zoom.pan(0, 0.2),
  };
  element.addEventListener(
    "keydown",
    (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
      // Arrows scroll the page as ever while there is nothing to pan.
      if (event.key.startsWith("Arrow") && zoom.view.span >= 1) return;
      event.preventDefault();
      keys[event.key]();
    },
    { signal },
  );
}

/** Buttons for those who have no wheel. */
export function zoomButtons(zoom) {
  const button = (text, label, onclick) =>
    h("button", { type: "button", class: "cs-button", "aria-label": label, title: label, onclick }, text);
  return h(
    "div",
    { class: "cs-zoom", role: "group", "aria-label": TEXTS.zoom },
    button("−", TEXTS.zoomOut, () => zoom.zoomAt(1 / 1.5)),
    button("+", TEXTS.zoomIn, () => zoom.zoomAt(1.5)),
    button(TEXTS.zoomReset, TEXTS.zoomResetHint, () => zoom.reset()),
  );
}
