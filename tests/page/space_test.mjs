// The built folder as a Space of the Hugging Face hub.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

const page = process.env.TIDEMARK_PAGE ?? fileURLToPath(new URL("../../build/page/site", import.meta.url));
const header = () => Object.fromEntries(readFileSync(join(page, "README.md"), "utf8").split("---\n")[1].trim().split("\n").map((line) => line.split(/: (.*)/)));

test("the folder's README makes it a static Space", () => {
  const { sdk, app_file, title, short_description } = header();
  assert.equal(sdk, "static");
  assert.equal(title, "Tidemark");
  assert.ok(existsSync(join(page, app_file)));
  assert.ok(short_description.length <= 60);   // the hub's limit
});

test("files that the hub takes by LFS alone are marked", () => {
  const marked = readFileSync(join(page, ".gitattributes"), "utf8").trim().split("\n").map((line) => line.split(" ")[0]);
  const large = readdirSync(page, { recursive: true }).filter((name) => statSync(join(page, name)).size > 10 << 20);
  for (const name of large) assert.ok(marked.some((pattern) => (pattern.startsWith("*") ? name.endsWith(pattern.slice(1)) : name === pattern)), name);
});
