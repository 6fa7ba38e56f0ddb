// Opens each page in a real browser, at two widths and in both colour schemes, and prints what is
// wrong with it, one finding a line: what axe-core finds, what the console says, what is wider than
// the window.
//
//   node look.mjs FOLDER CHROMIUM URL...
//
// FOLDER has node_modules with axe-core and puppeteer-core.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [folder, chromium, ...urls] = process.argv.slice(2);
const require = createRequire(`${folder}/`);
const { default: puppeteer } = await import(require.resolve("puppeteer-core"));
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

// As long as the test that runs this waits for it: a browser may start slowly on a busy machine.
const PATIENCE = 240_000;

const browser = await puppeteer.launch({
  executablePath: chromium,
  timeout: PATIENCE,
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
});
try {
  for (const url of urls) {
    for (const [width, height] of [[320, 640], [390, 844], [1280, 900]]) {
      for (const scheme of ["light", "dark"]) {
        const found = await look(url, width, height, scheme);
        for (const finding of found) console.log(`${url} ${width} ${scheme}: ${finding}`);
      }
    }
  }
} finally {
  await browser.close();
}

async function look(url, width, height, scheme) {
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE);
  const found = [];
  page.on("console", (message) => found.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => found.push(`error: ${error.message}`));
  await page.setViewport({ width, height });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.goto(url, { waitUntil: "load" });
  const wide = await page.evaluate("document.documentElement.scrollWidth");
  if (wide > width) found.push(`${wide} px wide`);
  const styled = await page.evaluate("document.styleSheets.length");
  if (styled === 0) found.push("no style sheet was applied");
  // Through the debugger, which the page's policy does not bind.
  await page.evaluate(axe);
  const { violations } = await page.evaluate("axe.run(document, { preload: false })");
  for (const { id, nodes } of violations) {
    found.push(`${id}: ${nodes.map((node) => node.html).slice(0, 3).join(" | ")}`);
  }
  await page.close();
  return found;
}
