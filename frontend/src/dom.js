/**
 * Elements without markup: every text that comes from a user (ids, column and file names)
 * enters the page through `textContent` or an attribute, never as HTML.
 */

const SVG = "http://www.w3.org/2000/svg";

/** Fill `node` with attributes, listeners (`onclick`) and children. */
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/**
 * An HTML element. Children are elements or strings.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Node|string|null|undefined)} children
 * @returns {HTMLElement}
 */
export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element; see `h`. */
export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * Call `work` now and whenever the width of `element` changes, until `signal` aborts.
 * The height is ours: watching it would answer our own changes.
 */
export function onWidth(element, signal, work) {
  let last = element.clientWidth;
  work(last);
  const observer = new ResizeObserver(() => {
    const width = element.clientWidth;
    if (width > 0 && width !== last) work((last = width));
  });
  observer.observe(element);
  signal.addEventListener("abort", () => observer.disconnect());
}
