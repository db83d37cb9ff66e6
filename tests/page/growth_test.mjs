// In the page: memory against a number of the question, and what is kept free: the command's answers, held in the link, for everybody.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";

import { isEnough, linesOf, valuesOf } from "../../apps/web/page/growth_points.js";
import { modelConfig, installed, page, predictedByCommand } from "./built.mjs";
import { answered, control, launch, open, serve, settled, withPage as withPageOf } from "./served.mjs";

let browser, server;
before(async () => ([browser, server] = await Promise.all([launch(), serve()])));
after(async () => {
  await browser?.close();
  server?.close();
});

const withPage = (...rest) => withPageOf(browser, ...rest);
const KEPT_FREE = "Kept free: a margin that measured runs stayed within";
const LINES = "A line each for half, as it is, and double of";
const TINY = "model=tinyllama-1.1b-chat-v1.0&gpu=l4&batch=4&seq=1024";
const tiny = (more) => ({ model: modelConfig("tinyllama-1.1b-chat-v1.0"), gpu: "l4", batch: 4, seq: 1024, ...more });
const at = (question, growth) => `${server.url}#${question}${growth ? `&growth=${encodeURIComponent(JSON.stringify(growth))}` : ""}`;
const predicted = (spec, ...options) => JSON.parse(predictedByCommand(spec, ...options));
const exactly = (bytes) => `${bytes.toLocaleString("en-US")} bytes`;

/// Does something, and waits for the curves that come of it.
async function grown(tab, act = async () => {}) {
  const before = await tab.evaluate(() => Number(document.body.dataset.grown ?? 0));
  await act();
  await tab.waitForFunction((number) => Number(document.body.dataset.grown ?? 0) > number, before, { timeout: 120_000 });
}

/// {value: [title and text of each cell]}
const table = (tab) => tab.locator("#growth-table tbody tr").evaluateAll((rows) => Object.fromEntries(rows.map((row) => [row.cells[0].textContent, [...row.cells].slice(1).map((cell) => [cell.title, cell.textContent])])));

describe("memory against a number", () => {
  test("is the command's at every point, beyond the card too", () =>
    withPage(at(TINY), {}, async (tab) => {
      await grown(tab, () => control(tab, "Memory against").selectOption("batch"));
      const rows = await table(tab);
      for (const batch of [1, 4, 6]) {
        const report = predicted(tiny({ batch }));
        assert.deepEqual([rows[batch][0][0], rows[batch][1][1]], [exactly(report.peak.device_bytes), report.fits ? "fits" : "does not fit"], `batch ${batch}`);
      }
      const [last, [[bytes], [, told]]] = Object.entries(rows).at(-1);
      assert.equal(told, "does not fit");
      assert.equal(bytes, exactly(predicted(tiny({ batch: Number(last), memory: "16TiB" })).peak.device_bytes));
      assert.match(await tab.locator("#growth-plot").getAttribute("aria-label"), /Memory against the batch, from 1 to .*; the card has 2\d\.\d GiB/);
    }));

  test("has a line each for half, as it is, and double of another", () =>
    withPage(at(TINY, { along: "seq", lines: "batch" }), {}, async (tab) => {
      await grown(tab);
      assert.deepEqual(await tab.locator("#growth-legend li").allTextContents(), ["the batch 2", "the batch 4", "the batch 8", "the card's memory"]);
      const rows = await table(tab);
      for (const [i, batch] of [2, 4, 8].entries()) assert.equal(rows["1,024"][i][0], exactly(predicted(tiny({ batch, ...(batch === 8 && { memory: "16TiB" }) })).peak.device_bytes));
      const painted = await tab.locator("#growth-plot canvas").evaluate((canvas) => {
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        const count = (r, g, b) => data.reduce((sum, value, i) => sum + (i % 4 === 0 && value === r && data[i + 1] === g && data[i + 2] === b), 0);
        return [count(0x25, 0x63, 0xa8), count(0xc2, 0x6a, 0x14), count(0x5f, 0x8f, 0x3b), count(0xb3, 0x26, 0x1e)];
      });
      assert.ok(Math.min(...painted) > 50, painted.join());
      await tab.locator("#growth-plot .u-over").hover({ position: { x: 60, y: 100 } });
      assert.match(await tab.locator("#growth-reading").textContent(), /^the sequence [\d,]+: the batch 2: .* GiB, .*, of 2\d\.\d GiB$/);
    }));

  test("is held in the link, follows the question, and goes again", () =>
    withPage(at(TINY), {}, async (tab) => {
      await grown(tab, () => control(tab, "Memory against").selectOption("batch"));
      await grown(tab, () => control(tab, LINES).selectOption("seq"));
      await tab.waitForFunction(() => decodeURIComponent(location.hash).includes('growth={"along":"batch","lines":"seq"}'));
      const again = await open(browser, tab.url());
      await grown(again.tab);
      assert.deepEqual(await table(again.tab), await table(tab));
      await again.close();
      const before = await table(tab);
      await grown(tab, () => control(tab, "Gradient checkpointing").selectOption("non_reentrant"));
      assert.notDeepEqual(await table(tab), before);
      await control(tab, "Memory against").selectOption("");
      await tab.waitForFunction(() => !location.hash.includes("growth"));
      assert.ok(!(await tab.locator("#growth-answer").isVisible()));
    }));

  test("says why there is nothing to draw", () =>
    withPage(at(TINY), {}, async (tab) => {
      await grown(tab, () => control(tab, "Memory against").selectOption("images"));
      assert.equal(await tab.locator("#growth-status").textContent(), "Images per sample: llama takes none");
      assert.ok(!(await tab.locator("#growth-answer").isVisible()));
    }));

  test("is drawn in a page that was opened from a folder, while the sliders go on", () =>
    withPage(`${pathToFileURL(join(page, "index.html"))}#${TINY}&growth={"along":"batch"}`, {}, async (tab) => {
      await answered(tab, () => control(tab, "Batch, of each GPU").fill("7"));
      await grown(tab);
      assert.equal((await table(tab))["1"][0][0], exactly(predicted(tiny({ batch: 1 })).peak.device_bytes));
    }));

  test("goes on until a training needs twice the card", () => {
    assert.deepEqual([...valuesOf("batch")].slice(0, 7), [1, 2, 3, 4, 6, 8, 12]);
    assert.deepEqual(linesOf({ seq: 0 }, "seq").map((line) => line.keys.seq), [1024, 2048, 4096]);
    assert.deepEqual(linesOf({ batch: 1 }, "batch").map((line) => line.keys.batch), [1, 2]);
    assert.deepEqual([isEnough({ device_bytes: 20, card_bytes: 10 }), isEnough({ device_bytes: 21, card_bytes: 10 })], [false, true]);
  });
});

describe("what is kept free", () => {
  test("is the command's --margin, in the verdict, the link, what is copied and the plan", () =>
    withPage(at(TINY), { permissions: ["clipboard-read", "clipboard-write"] }, async (tab) => {
      await answered(tab, () => control(tab, KEPT_FREE).selectOption("p95"));
      const report = predicted(tiny(), "--margin", "p95");
      assert.equal(await tab.locator("#verdict .line").textContent(), report.verdict);
      assert.ok((await tab.locator("#peak").getByRole("row", { name: /^margin/ }).textContent()).includes(exactly(report.margin.bytes)));
      await tab.waitForFunction(() => location.hash.includes("margin=p95"));
      for (const name of ["Predict it from the model's config.json", "Run your own program on the virtual GPU"]) {
        await tab.getByLabel(`Copy: ${name}`).click();
        assert.match(await tab.evaluate(() => navigator.clipboard.readText()), /--margin p95/);
      }
      await tab.getByRole("button", { name: "Plan", exact: true }).click();
      await tab.waitForFunction(() => document.body.dataset.planned && document.getElementById("plan-answer").getAttribute("aria-busy") === "false", null, { timeout: 120_000 });
      assert.match(await tab.locator("#plan-copy").textContent(), /tidemark plan config\.json .*--margin p95/s);
      await answered(tab, () => control(tab, KEPT_FREE).selectOption(""));
      assert.equal(await tab.locator("#verdict .line").textContent(), predicted(tiny()).verdict);
    }));

  test("may be a quantile that the list has not, and is refused where it is none", async () => {
    await withPage(at(`${TINY}&margin=p66`), {}, async (tab) => assert.equal(await control(tab, KEPT_FREE).inputValue(), "p66"));
    await withPage(at(`${TINY}&margin=lots`), {}, async (tab) => assert.match(await tab.locator("#verdict.error").textContent(), /lots/));
  });
});

describe("for everybody", () => {
  const DRAWN = { along: "batch", lines: "seq" };

  for (const width of [320, 768, 3840])
    test(`${width} pixels wide, nothing is cut off`, () =>
      withPage(at(`${TINY}&margin=p90`, DRAWN), { viewport: { width, height: 900 } }, async (tab) => {
        await grown(tab);
        await tab.getByText("As a table").click();
        const wide = await tab.evaluate(() => [document.documentElement.scrollWidth, innerWidth, [...document.querySelectorAll("#growth *, #verdict *, #peak *")].filter((one) => !one.closest(".wide") && one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.outerHTML.slice(0, 80))]);
        assert.ok(wide[0] <= wide[1], JSON.stringify(wide));
        assert.deepEqual(wide[2], []);
      }));

  for (const colorScheme of ["light", "dark"])
    test(`axe finds nothing, ${colorScheme}`, () =>
      withPage(at(`${TINY}&margin=p90`, DRAWN), { colorScheme, bypassCSP: true }, async (tab) => {
        await grown(tab);
        await tab.getByText("As a table").click();
        await settled(tab);
        await tab.addScriptTag({ path: installed.resolve("axe-core") });
        const { violations } = await tab.evaluate(() => globalThis.axe.run());
        assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html).slice(0, 3)]), []);
      }));

  test("by keyboard alone", () =>
    withPage(at(TINY), {}, async (tab) => {
      await control(tab, "Memory against").focus();
      await grown(tab, () => tab.keyboard.press("ArrowDown"));
      await tab.keyboard.press("Tab");
      assert.equal(await tab.evaluate(() => document.activeElement.closest("label").textContent.startsWith("A line each")), true);
      await grown(tab, () => tab.keyboard.press("ArrowDown"));
      await tab.keyboard.press("Tab");
      await tab.keyboard.press("Enter");
      assert.ok(await tab.locator("#growth-table table").isVisible());
    }));
});
