// Puts the page of a report together: one file, whose policy lets its own script and style run and nothing else.
//   node build.mjs SCRIPT STYLE PAGE
// Two places stay open, which src/io/report_html.cpp fills: <!--title--> and <!--data-->.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const [script, style, page] = process.argv.slice(2);
const texts = { script: readFileSync(script, "utf8").trim(), style: readFileSync(style, "utf8").trim() };
let html = readFileSync(join(dirname(process.argv[1]), "index.html"), "utf8");
for (const [name, text] of Object.entries(texts)) {
  if (text.includes("</") || text.includes("<!--")) throw new Error(`the ${name} would end its element`);
  html = html.replace(`<!--${name}-hash-->`, () => `'sha256-${createHash("sha256").update(text).digest("base64")}'`).replace(`<!--${name}-->`, () => text);
}
writeFileSync(page, html);
