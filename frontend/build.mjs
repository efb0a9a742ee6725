/**
 * Build the report's module and style sheet: `npm ci && npm run build` in this folder.
 *
 * Both files go into the Python package and are committed, so that nobody needs Node to use
 * consilience. The first line of each says which sources they were built from; a test compares it.
 * With `--check` nothing is written: it fails where the committed files are not what comes out.
 */

import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const target = here("../src/consilience/report/static/");

/** SHA-256 over the names and texts of everything the result depends on, in the order of names. */
function sourcesHash() {
  const names = readdirSync(here("src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(here("."), join(entry.parentPath, entry.name)).replaceAll("\\", "/"))
    .sort();
  const hash = createHash("sha256");
  for (const name of ["build.mjs", "package-lock.json", ...names]) {
    hash.update(`${name}\0`).update(readFileSync(here(name))).update("\0");
  }
  return hash.digest("hex");
}

/** Every report holds the module, so the licence of what is bundled must be in it. */
function banner(comment) {
  const licence = readFileSync(here("node_modules/uplot/LICENSE"), "utf8").trim();
  const version = JSON.parse(readFileSync(here("node_modules/uplot/package.json"), "utf8")).version;
  const text = [
    `consilience report, sources ${sourcesHash()}`,
    "BSD-3-Clause, the consilience developers. Contains uPlot, under the following licence.",
    "",
    `uPlot ${version}`,
    licence,
  ].join("\n");
  if (comment) return `/*!\n${text}\n*/`;
  return `This folder holds built files: see frontend/ for their sources and how to build them.\n\n${text}\n`;
}

const result = await build({
  entryPoints: [here("src/main.js")],
  outfile: `${target}report.js`,
  bundle: true,
  format: "esm",
  minify: true,
  legalComments: "none",
  target: ["chrome110", "firefox115", "safari16"],
  banner: { js: banner(true), css: banner(true) },
  write: false,
});

const made = result.outputFiles.map(({ path, text }) => [path, text]);
made.push([`${target}LICENSES.txt`, banner(false)]);

for (const [path, text] of made) {
  const name = path.slice(path.lastIndexOf("/") + 1);
  // Script and style are put into the page as they are: nothing in them may end their element.
  if (/<\/(script|style)|<!--/i.test(text)) throw new Error(`${name} would break out of its element`);
  if (!process.argv.includes("--check")) writeFileSync(path, text);
  else if (readFileSync(path, "utf8") !== text) throw new Error(`${name} is not what the build makes`);
  console.log(`${name}: ${(text.length / 1024).toFixed(1)} kB`);
}
