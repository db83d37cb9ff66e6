// The built page, and the command that it is compared with.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

import { startCore } from "../../apps/web/page/core.js";

export const root = fileURLToPath(new URL("../..", import.meta.url));
export const page = process.env.TIDEMARK_PAGE ?? join(root, "build/page/site");
const command = process.env.TIDEMARK_BIN ?? join(root, "build/release/apps/cli/tidemark");
/// Of what npm has installed for the page.
export const installed = createRequire(join(root, "build/page/npm/"));

const programText = async (name) => readFileSync(join(root, "data/programs", name), "utf8");

export function core() {
  const load = createRequire(import.meta.url)(join(page, "tidemark.js"));
  return startCore(load, readFileSync(join(page, "tidemark.wasm")), programText);
}

/// Configurations as the hub has them, by name.
export function hubConfigs() {
  const lines = gunzipSync(readFileSync(join(root, "tests/golden/hub_configs/hub.txt.gz"))).toString().trim().split("\n");
  return Object.fromEntries(lines.map((line) => JSON.parse(line)).map(({ name, config }) => [name, config]));
}

/// What `tidemark predict --json` writes of a spec, without a Python whose versions it would follow.
export function predictedByCommand(spec, ...options) {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-page-"));
  try {
    writeFileSync(join(folder, "spec.json"), JSON.stringify(spec));
    const env = { PATH: "/usr/bin:/bin", HOME: folder };
    try {
      execFileSync(command, ["predict", "--spec", "spec.json", "--json", "report.json", "--quiet", ...options], { cwd: folder, env, stdio: "pipe" });
    } catch (failed) {
      if (failed.status !== 1) throw new Error(failed.stderr.toString());
    }
    return readFileSync(join(folder, "report.json"), "utf8");
  } finally {
    rmSync(folder, { recursive: true });
  }
}
