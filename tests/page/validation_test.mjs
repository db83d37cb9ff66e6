// The page of `tidemark validate --html` in a browser: what it draws of the stored corpora, its tables, for whom it is.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";

import { command, installed } from "./built.mjs";
import { launch, withPage as withPageOf } from "./served.mjs";

let browser, folder, url, engines;
before(async () => {
  browser = await launch();
  folder = mkdtempSync(join(tmpdir(), "tidemark-validation-"));
  try {
    execFileSync(command, ["validate", "--html", "validation.html"], { cwd: folder, stdio: "pipe" });
  } catch (failed) {
    if (failed.status !== 1) throw failed;  // 1: a bar is missed, which tests/validation is about
  }
  url = pathToFileURL(join(folder, "validation.html")).href;
  const page = readFileSync(join(folder, "validation.html"), "utf8");
  ({ engines } = JSON.parse(page.match(/id="data">(.*?)<\/script>/s)[1]));
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

const withPage = (options, work) => withPageOf(browser, url, { isReport: true, ...options }, work);

describe("predicted against measured", () => {
  test("draws every row that has a number on both sides", () =>
    withPage({}, async (tab) => {
      const drawn = engines.filter((one) => one.points.length > 0);
      assert.ok(drawn.length > 0);
      const count = drawn.reduce((sum, one) => sum + one.points.length, 0);
      assert.match(await tab.locator("#scatter").getAttribute("aria-label"), new RegExp(`memory of ${count} rows`));
      assert.deepEqual(await tab.locator("#legend li").allTextContents(), drawn.map((one) => one.name));
      const painted = await tab.locator("#scatter canvas").evaluate((canvas) => {
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        const count = (r, g, b) => data.reduce((sum, value, i) => sum + (i % 4 === 0 && value === r && data[i + 1] === g && data[i + 2] === b), 0);
        return { run: count(0x25, 0x63, 0xa8), predict: count(0x1a, 0x7f, 0x4b), diagonal: count(0x59, 0x66, 0x73) };
      });
      for (const { kind } of drawn) assert.ok(painted[kind] > 200, JSON.stringify(painted));
      assert.ok(painted.diagonal > 50, JSON.stringify(painted));
    }));

  test("tells what is under the pointer", () =>
    withPage({}, async (tab) => {
      await tab.locator("#scatter .u-over").hover({ position: { x: 400, y: 200 } });
      const told = await tab.locator("#reading").textContent();
      const [, row, error] = told.match(/^(.*): ([+-][\d.]+ %), .* measured, .* predicted by /);
      assert.ok(engines.some((one) => one.points.some((point) => point.row === row && point.error === error)), told);
    }));

  test("has its rows in tables, the largest error first, and unfolds them", () =>
    withPage({}, async (tab) => {
      const table = tab.getByRole("region", { name: /^Rows, / }).first();
      const all = await table.locator("tr").count();
      const shown = () => table.locator("tr").filter({ visible: true }).count();
      assert.ok((await shown()) < all);
      await tab.getByRole("button", { name: /^show \d+ more$/ }).first().press("Enter");
      assert.equal(await shown(), all);
    }));
});

describe("for everybody", () => {
  for (const width of [320, 1280, 3840])
    test(`${width} pixels wide, nothing is cut off`, () =>
      withPage({ viewport: { width, height: 900 } }, async (tab) => {
        const wide = await tab.evaluate(() => [document.documentElement.scrollWidth, innerWidth, [...document.querySelectorAll("body *")].filter((one) => !one.closest(".wide") && one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.outerHTML.slice(0, 80))]);
        assert.ok(wide[0] <= wide[1], JSON.stringify(wide));
        assert.deepEqual(wide[2], []);
      }));

  for (const colorScheme of ["light", "dark"])
    test(`axe finds nothing, ${colorScheme}`, () =>
      withPage({ colorScheme, bypassCSP: true }, async (tab) => {
        await tab.addScriptTag({ path: installed.resolve("axe-core") });
        const { violations } = await tab.evaluate(() => globalThis.axe.run());
        assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html).slice(0, 3)]), []);
      }));
});
