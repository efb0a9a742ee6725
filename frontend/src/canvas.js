/** A canvas that is sharp on every screen, and painted again when anything it shows has changed. */

import { h, onWidth } from "./dom.js";

/**
 * @param {HTMLElement} host
 * @param {object} context what the figures share (see main.js)
 * @param {{label: string, height: (width: number) => number,
 *          paint: (pen: CanvasRenderingContext2D, width: number, height: number) => void}} options
 */
export function makeCanvas(host, context, { label, height, paint }) {
  const canvas = h("canvas", { role: "img", "aria-label": label, tabindex: "0" });
  const frame = h("div", { class: "cs-canvas" }, canvas);
  host.append(frame);
  let [width, tall, waiting] = [0, 0, 0];

  function paintNow() {
    waiting = 0;
    if (width <= 0) return;
    // Paper has more dots than a screen.
    const scale = context.theme.value.printing ? 3 : window.devicePixelRatio || 1;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(tall * scale);
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    paint(pen, width, tall);
  }

  /** Paint before the next frame, once, however often it is asked for. */
  function repaint() {
    if (!waiting) waiting = requestAnimationFrame(paintNow);
  }

  /** Paint for the first time: when everything that `paint` reads is there. */
  function start() {
    onWidth(frame, context.signal, (wide) => {
      width = wide;
      tall = Math.round(height(wide));
      canvas.style.width = `${width}px`;
      canvas.style.height = `${tall}px`;
      paintNow();
    });
    context.picked.watch(repaint);
    context.theme.watch(paintNow);
  }

  return {
    start,
    canvas,
    frame,
    repaint,
    size: () => ({ width, height: tall }),
    /** Place of a pointer event on the canvas. */
    place: (event) => {
      const box = canvas.getBoundingClientRect();
      return { x: event.clientX - box.left, y: event.clientY - box.top };
    },
  };
}

/** Text cut to a width, with an ellipsis. */
export function fitted(pen, text, width) {
  if (pen.measureText(text).width <= width) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (pen.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return `${text.slice(0, low)}…`;
}
