// The built page, and the command that it is compared with.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { callable, loadCompiled, startCore } from "../../apps/web/page/core.js";
import { bundled } from "../../apps/web/page/models.js";

export const root = fileURLToPath(new URL("../..", import.meta.url));
export const page = process.env.TIDEMARK_PAGE ?? join(root, "build/page/site");
export const command = process.env.TIDEMARK_BIN ?? join(root, "build/release/apps/cli/tidemark");
/// Of what npm has installed for the page.
export const installed = createRequire(join(root, "build/page/npm/"));

const programText = async (name) => readFileSync(join(root, "data/programs", name), "utf8");

const load = createRequire(import.meta.url)(join(page, "tidemark.js"));
const compiled = async () => WebAssembly.compile(readFileSync(join(page, "tidemark.wasm")));

export async function core() {
  return startCore(load, await compiled(), programText);
}

/// Plans as the page's worker does: by a core of its own.
export async function planner() {
  const call = callable(await loadCompiled(load, await compiled()));
  return (question) => call("plan", question);
}

/// The models of the list, {names, config}, as the page is given them.
export const models = JSON.parse(readFileSync(join(root, "build/page/made/models.json"), "utf8"));

/// The configuration of one, by its name with or without its owner.
export const modelConfig = (name) => bundled(models, name).config;

/// What the command writes with --json, of a spec, and without a Python whose versions it would follow.
function writtenByCommand(subcommand, spec, files, options) {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-page-"));
  try {
    for (const [name, content] of Object.entries({ ...files, "spec.json": spec })) writeFileSync(join(folder, name), JSON.stringify(content));
    const env = { PATH: "/usr/bin:/bin", HOME: folder };
    try {
      execFileSync(command, [subcommand, "--spec", "spec.json", "--json", "written.json", ...options], { cwd: folder, env, stdio: "pipe" });
    } catch (failed) {
      if (failed.status !== 1) throw new Error(failed.stderr.toString());
    }
    return readFileSync(join(folder, "written.json"), "utf8");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const predictedByCommand = (spec, ...options) => writtenByCommand("predict", spec, {}, ["--quiet", ...options]);

/// `prices`: what --prices names as prices.json.  A number of GPUs behind the card's name, "h100-80gbx8", is the option's alone.
export function plannedByCommand({ gpu, ...spec }, prices, ...options) {
  return writtenByCommand("plan", spec, { "prices.json": prices ?? {} }, [...(gpu ? ["--gpu", gpu] : []), ...options]);
}
