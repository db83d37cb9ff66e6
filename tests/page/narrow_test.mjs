// A telephone's width: the verdict stays in view, and every peak is drawn.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { core, modelConfig } from "./built.mjs";
import { answered, control, launch, serve, settled, withPage as withPageOf } from "./served.mjs";

let browser, server;
before(async () => ([browser, server] = await Promise.all([launch(), serve()])));
after(async () => {
  await browser?.close();
  server?.close();
});

const PHONE = { viewport: { width: 390, height: 844 } };
const LLAMA = "model=llama-3.1-8b&gpu=h100-80gb&batch=1&seq=2048&method=lora&checkpointing=non_reentrant";
const withPage = (...rest) => withPageOf(browser, ...rest);

test("390 pixels wide, the verdict is in view while a slider moves", () =>
  withPage(`${server.url}#${LLAMA}`, PHONE, async (tab) => {
    for (const name of ["Batch, of each GPU", "GPUs"]) {
      const slider = control(tab, name);
      await slider.scrollIntoViewIfNeeded();
      const before = await tab.locator("#verdict").textContent();
      await answered(tab, () => slider.fill("4"));
      const [said, control_] = await Promise.all([tab.locator("#verdict .line").boundingBox(), slider.boundingBox()]);
      assert.notEqual(await tab.locator("#verdict").textContent(), before, name);
      assert.ok(said.y >= 0 && said.y + said.height <= 844, `${name}: the verdict is at ${said.y}`);
      assert.ok(said.y + said.height <= control_.y && control_.y + control_.height <= 844, `${name}: the verdict covers the slider`);
    }
  }));

test("390 pixels wide, a control that has the focus is not under the verdict", () =>
  withPage(`${server.url}#${LLAMA}`, PHONE, async (tab) => {
    const controls = await tab.locator("#question select:visible, #question input:visible, #question summary:visible").count();
    await tab.locator("#question summary").last().focus();
    for (let i = 1; i < controls; i++) {
      await tab.keyboard.press("Shift+Tab");
      const [bar, top] = await tab.evaluate(() => [document.getElementById("verdict").getBoundingClientRect().bottom, document.activeElement.getBoundingClientRect().top]);
      assert.ok(top >= bar - 1, await tab.evaluate(() => document.activeElement.outerHTML));
    }
  }));

test("390 pixels wide, tables show all columns, and titles stand beside buttons", () =>
  withPage(`${server.url}#model=Qwen/Qwen3-VL-4B-Instruct&gpu=rtx-5060`, PHONE, async (tab) => {
    await settled(tab);
    for (const id of ["methods", "cards"]) {
      const [needed, shown] = await tab.locator(`#${id}`).evaluate((one) => [one.scrollWidth, one.clientWidth]);
      assert.ok(needed <= shown, `${id}: ${needed} pixels in ${shown}`);
    }
    const covered = await tab.locator("#copy .block").evaluateAll((blocks) => blocks.filter((one) => {
      const title = document.createRange();
      title.selectNodeContents(one.querySelector("h3"));
      const button = one.querySelector("button").getBoundingClientRect();
      return [...title.getClientRects()].some((line) => line.right > button.left && line.top < button.bottom);
    }).length);
    assert.equal(covered, 0);
  }));

const AREAS = ["#2563a8", "#c26a14", "#5f8f3b", "#8a5cb0", "#8a8f96", "#b9bec5"];

/// Of each range of the picture, from 0 to 1, the highest painted row of the areas, from 0 to 1.
function highestPainted({ ranges, colors }) {
  const canvas = document.querySelector("#timeline canvas");
  const over = document.querySelector("#timeline .u-over");
  const [outer, inner] = [canvas, over].map((one) => one.getBoundingClientRect());
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const wanted = new Set(colors.map((color) => Number.parseInt(color.slice(1), 16)));
  const at = (x, y) => 4 * ((y + Math.round(inner.y - outer.y)) * canvas.width + x + Math.round(inner.x - outer.x));
  const isPainted = (x, y) => wanted.has((data[at(x, y)] << 16) | (data[at(x, y) + 1] << 8) | data[at(x, y) + 2]);
  const columns = (from, to) => Array.from({ length: Math.ceil(to * inner.width) - Math.floor(from * inner.width) }, (_, i) => Math.floor(from * inner.width) + i);
  const rows = Array.from({ length: Math.round(inner.height) }, (_, y) => y);
  return ranges.map(([from, to]) => rows.find((y) => columns(from, to).some((x) => isPainted(x, y))) / inner.height);
}

for (const width of [390, 1280])
  test(`${width} pixels wide, each step's peak is drawn as high as it is`, () =>
    withPage(`${server.url}#${LLAMA}`, { viewport: { width, height: 844 } }, async (tab) => {
      const report = JSON.parse(await (await core()).predictAlone({ model: modelConfig("llama-3.1-8b"), gpu: "h100-80gb", batch: 1, seq: 2048, method: "lora", checkpointing: "non_reentrant" }));
      const last = report.timeline.at(-1).event;
      const ranges = report.steps.map(({ step }) => report.timeline.filter((point) => point.step === step).map((point) => point.event / last)).map((events) => [events[0], events.at(-1)]);
      const tops = await tab.evaluate(highestPainted, { ranges, colors: AREAS });
      const most = 1.03 * report.peak.reserved_bytes;
      for (const [i, { step, peak_allocated_bytes: bytes }] of report.steps.entries()) {
        const drawn = (1 - tops[i]) * most;
        assert.ok(Math.abs(drawn - bytes) < most / 200, `step ${step}: ${drawn} is drawn of ${bytes}`);
      }
    }));
