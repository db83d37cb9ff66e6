// Makes what the page is given besides its own source: the list of models, and files as scripts, for a page that was opened from
// a folder.   node files.mjs MADE SITE
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { parseConfig } from "./page/config_text.js";

const [made, site] = process.argv.slice(2);
const root = join(dirname(process.argv[1]), "../..");

// The bundled configurations, by their names on the hub.
const folder = join(root, "data/models");
const { configurations } = JSON.parse(readFileSync(join(folder, "index.json"), "utf8"));
const models = Object.entries(configurations).map(([file, { names }]) => ({ names, config: parseConfig(readFileSync(join(folder, file), "utf8")) }));
writeFileSync(join(made, "models.json"), JSON.stringify(models));

function asScript(path, name, text) {
  mkdirSync(dirname(join(site, path)), { recursive: true });
  writeFileSync(join(site, path), `(globalThis.tidemarkFiles ??= {})[${JSON.stringify(name)}] = ${JSON.stringify(text)};\n`);
}

const built = join(root, "build/page/apps/web");
cpSync(join(built, "tidemark.js"), join(site, "tidemark.js"));
cpSync(join(built, "tidemark.wasm"), join(site, "tidemark.wasm"));
// A worker loads one script alone.
const worker = readFileSync(join(built, "tidemark.js"), "utf8") + readFileSync(join(made, "worker.js"), "utf8");
writeFileSync(join(site, "worker.js"), worker);
asScript("worker.js.js", "worker.js.js", worker);
asScript("tidemark.wasm.js", "tidemark.wasm.js", readFileSync(join(built, "tidemark.wasm")).toString("base64"));
const programs = join(root, "data/programs");
for (const release of readdirSync(programs))
  for (const type of readdirSync(join(programs, release)))
    asScript(`programs/${release}/${type}.js`, `programs/${release}/${type}.js`, readFileSync(join(programs, release, type), "utf8"));
