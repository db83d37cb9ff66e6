// Puts a page of the command's together: one file, whose policy lets its own script and style run and nothing else.
//   node build.mjs SCRIPT STYLE INDEX PAGE
// Places stay open that src/io fills: <!--data--> and others.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";

const [script, style, index, page] = process.argv.slice(2);
const texts = { script: readFileSync(script, "utf8").trim(), style: readFileSync(style, "utf8").trim() };
let html = readFileSync(index, "utf8");
for (const [name, text] of Object.entries(texts)) {
  if (text.includes("</") || text.includes("<!--")) throw new Error(`the ${name} would end its element`);
  html = html.replace(`<!--${name}-hash-->`, () => `'sha256-${createHash("sha256").update(text).digest("base64")}'`).replace(`<!--${name}-->`, () => text);
}
writeFileSync(page, html);
