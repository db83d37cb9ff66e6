// The page of a report (--html) in a browser: opened from a folder, as both engines write it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";

import { layersTogether } from "../../apps/web/report/tables.js";
import { command, modelConfig, installed, predictedByCommand, root } from "./built.mjs";
import { launch, withPage as withPageOf } from "./served.mjs";

let browser, folder;
before(async () => {
  browser = await launch();
  folder = mkdtempSync(join(tmpdir(), "tidemark-report-"));
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

const tiny = { model: modelConfig("tinyllama-1.1b-chat-v1.0"), gpu: "h100-80gb", batch: 4, seq: 1024 };
const exactly = (bytes) => `${bytes.toLocaleString("en-US")} bytes`;

/// The page that `tidemark report` makes of a stored report, which is that of `predict` and `run`.
function pageOf(text) {
  writeFileSync(join(folder, "report.json"), text);
  execFileSync(command, ["report", "report.json", "--html", "report.html"], { cwd: folder, stdio: "pipe" });
  return pathToFileURL(join(folder, "report.html")).href;
}
const withPage = (url, options, work) => withPageOf(browser, url, { isReport: true, ...options }, work);

/// What `run` has and `predict` has not: lines of a program, compiling, batches that vary, a command.
function ofRun() {
  const report = JSON.parse(predictedByCommand(tiny));
  return {
    ...report,
    engine: "run",
    at_peak: { ...report.at_peak, by_line: [{ name: "train.py:12 <loss & co>", bytes: report.peak.allocated_bytes }] },
    script: { command: ["python", "train.py", "</script><b>"], exit_code: 0, stopped_after_steps: 3 },
    compiling: { graphs: 2, peak_allocated_bytes: 2 ** 30, peak_reserved_bytes: 2 ** 31 },
  };
}

describe("a report as a page", () => {
  test("is made of the page's components as they are", () => {
    execFileSync(join(root, "tools/build_report_page.sh"), [folder], { stdio: "pipe" });
    for (const name of ["report_page.html", "validation_page.html"])
      assert.ok(readFileSync(join(folder, name), "utf8") === readFileSync(join(root, "data", name), "utf8"), "run tools/build_report_page.sh");
  });

  test("tells what the report has", async () => {
    const text = predictedByCommand(tiny);
    const report = JSON.parse(text);
    await withPage(pageOf(text), {}, async (tab) => {
      assert.equal(await tab.title(), report.verdict);
      assert.equal(await tab.locator("#verdict .line").textContent(), report.verdict);
      for (const bytes of [report.peak.allocated_bytes, report.peak.reserved_bytes, report.peak.device_bytes, report.card.total_bytes])
        assert.ok((await tab.locator("#verdict").textContent()).includes(exactly(bytes)));
      assert.match(await tab.locator("#timeline").getAttribute("aria-label"), /at most .* allocated and .* reserved/);
      assert.ok((await tab.locator("#timeline canvas").count()) === 1);
      for (const { name, bytes } of report.at_peak.by_category.filter((row) => row.bytes > 0))
        assert.equal(await tab.getByRole("region", { name: "By category", exact: true }).getByRole("row", { name }).locator("td[title]").getAttribute("title"), exactly(bytes));
      assert.equal(await tab.getByRole("region", { name: "Steps", exact: true }).locator("tbody tr").count(), report.steps.reduce((sum, step) => sum + 1 + step.phases.length, 0));
      assert.match(await tab.locator("#about").textContent(), /torch 2\./);
      const plot = tab.locator("#timeline .u-over");
      await plot.hover({ position: { x: 200, y: 100 } });
      assert.match(await tab.locator("#reading").textContent(), /step \d, \w+: .* allocated.* reserved/);
    });
  });

  test("has its timeline by category, of a prediction and of a run", async () => {
    writeFileSync(join(folder, "spec.json"), JSON.stringify(tiny));
    execFileSync(command, ["predict", "--spec", "spec.json", "--html", "predicted.html", "--quiet"], { cwd: folder, env: { PATH: "/usr/bin:/bin", HOME: folder }, stdio: "pipe" });
    for (const url of [pathToFileURL(join(folder, "predicted.html")).href, pageOf(JSON.stringify(ofRun()))]) await withPage(url, {}, async (tab) => {
      assert.deepEqual((await tab.locator("#legend li").allTextContents()), ["parameters", "gradients", "optimizer state", "activations", "workspace", "other", "reserved"]);
      const plot = tab.locator("#timeline .u-over");
      await plot.hover({ position: { x: 300, y: 100 } });
      assert.match(await tab.locator("#reading").textContent(), /allocated \(parameters/);
    });
  });

  test("of what tells no categories has its timeline as a whole", () => {
    const { timeline_by_category: _, ...report } = ofRun();
    return withPage(pageOf(JSON.stringify(report)), {}, async (tab) => assert.deepEqual(await tab.locator("#legend li").allTextContents(), ["allocated", "reserved"]));
  });

  test("of a run has its lines and its words", () =>
    withPage(pageOf(JSON.stringify(ofRun())), {}, async (tab) => {
      assert.match(await tab.getByRole("region", { name: "By line of the program" }).textContent(), /train\.py:12 <loss & co>/);
      assert.match(await tab.locator("#about").textContent(), /python train\.py <\/script><b>.*stopped after 3 steps/);
      assert.match(await tab.locator("#lines").textContent(), /2 graphs|compil/);
    }));

  test("of what does not fit has the error", async () => {
    const text = predictedByCommand({ ...tiny, gpu: "rtx-3060-12gb", batch: 32 });
    await withPage(pageOf(text), {}, async (tab) => {
      assert.equal(await tab.locator("#verdict").getAttribute("class"), "bad");
      assert.ok((await tab.locator("#oom pre").textContent()).startsWith(JSON.parse(text).oom.message.slice(0, 40)));
    });
  });

  test("has a bar for each rank, and the communicators", async () => {
    const text = predictedByCommand({ ...tiny, gpus: 4, parallel: "ddp" }, "--all-ranks");
    await withPage(pageOf(text), {}, async (tab) => {
      assert.equal(await tab.locator("#ranks tbody tr").count(), 4);
      assert.equal(await tab.getByRole("region", { name: "Communicators", exact: true }).locator("tbody tr").count(), JSON.parse(text).communicators.length);
    });
  });

  test("folds long lists, and unfolds them", async () => {
    const text = predictedByCommand(tiny);
    await withPage(pageOf(text), {}, async (tab) => {
      const rows = tab.getByRole("region", { name: "By module", exact: true }).locator("tbody tr");
      const all = JSON.parse(text).at_peak.by_module.filter((row) => row.bytes > 0).length;
      assert.equal(await rows.filter({ visible: true }).count(), 15);
      await tab.locator("h3", { hasText: /^By module$/ }).locator("~ button").first().press("Enter");
      assert.equal(await rows.filter({ visible: true }).count(), all);
      await tab.getByRole("button", { name: /^model / }).press("Enter");
      await tab.getByRole("button", { name: /^layers / }).waitFor();
    });
  });

  test("of nothing shows that", () => {
    const report = { schema: "tidemark.report/1", ...JSON.parse(predictedByCommand(tiny)), timeline: [], timeline_by_category: [], steps: [], at_peak: { by_category: [], by_module: [], by_line: [], by_operation: [] } };
    return withPage(pageOf(JSON.stringify(report)), {}, async (tab) => assert.ok(!(await tab.locator("#timeline-section").isVisible())));
  });
});

describe("for everybody", () => {
  for (const width of [320, 1280, 3840])
    test(`${width} pixels wide, nothing is cut off`, () =>
      withPage(pageOf(JSON.stringify(ofRun())), { viewport: { width, height: 900 } }, async (tab) => {
        const wide = await tab.evaluate(() => [document.documentElement.scrollWidth, innerWidth, [...document.querySelectorAll("body *")].filter((one) => !one.closest(".wide, #treemap") && one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.outerHTML.slice(0, 80))]);
        assert.ok(wide[0] <= wide[1], JSON.stringify(wide));
        assert.deepEqual(wide[2], []);
      }));

  for (const colorScheme of ["light", "dark"])
    test(`axe finds nothing, ${colorScheme}`, () =>
      withPage(pageOf(JSON.stringify(ofRun())), { colorScheme, bypassCSP: true }, async (tab) => {
        await tab.addScriptTag({ path: installed.resolve("axe-core") });
        const { violations } = await tab.evaluate(() => globalThis.axe.run());
        assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html).slice(0, 3)]), []);
      }));

  test("its policy lets nothing else run", () =>
    withPageOf(browser, pageOf(predictedByCommand(tiny)), { isReport: true }, async (tab) => {
      await tab.evaluate(() => document.head.append(Object.assign(document.createElement("script"), { textContent: "globalThis.ran = true" })));
      assert.equal(await tab.evaluate(() => globalThis.ran), undefined);
    }).then(() => assert.fail("the policy has not complained"), (error) => assert.match(String(error.message), /Content Security Policy/)));
});

test("layers of the same kind are one row", () =>
  assert.deepEqual(layersTogether([{ name: "model.layers.0.mlp", bytes: 1 }, { name: "model.layers.11.mlp", bytes: 2 }, { name: "conv2d.0", bytes: 3 }, { name: "-", bytes: 4 }]),
    [{ name: "model.layers.*.mlp", bytes: 3 }, { name: "conv2d.*", bytes: 3 }, { name: "-", bytes: 4 }]));
