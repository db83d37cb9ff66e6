// The same training by other methods and on every card: the command's answers, chosen by a press.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { core, modelConfig, page, predictedByCommand } from "./built.mjs";
import { answered, control, launch, serve, withPage as withPageOf } from "./served.mjs";

let browser, server;
before(async () => ([browser, server] = await Promise.all([launch(), serve()])));
after(async () => {
  await browser?.close();
  server?.close();
});

const withPage = (...rest) => withPageOf(browser, ...rest);
const at = (question) => `${server.url}#${question}`;
const TINY = "model=tinyllama-1.1b-chat-v1.0&gpu=l4&batch=8&seq=1024";
const tiny = (more) => ({ model: modelConfig("tinyllama-1.1b-chat-v1.0"), gpu: "l4", batch: 8, seq: 1024, ...more });
const LLAVA = "model=llava-1.5-7b-hf&gpu=h100-80gb&batch=1&images=1&seq=1024&method=lora";
const exactly = (bytes) => `${bytes.toLocaleString("en-US")} bytes`;
const predicted = (spec) => JSON.parse(predictedByCommand(spec));
/// The verdict, and the peak, which is that of a card with room where this one is full.
function needed(spec) {
  const { fits, oom, card, peak } = predicted(spec);
  const { device_bytes } = oom ? predicted({ ...spec, memory: "16TiB" }).peak : peak;
  return { fits: fits === null ? "may not" : fits ? "yes" : "no", bytes: exactly(device_bytes), left: exactly(card.total_bytes - device_bytes), card };
}

/// Does something, and waits for the rows that come of it.
async function compared(tab, act = async () => {}) {
  const before = await tab.evaluate(() => Number(document.body.dataset.compared ?? 0));
  await act();
  await tab.waitForFunction((number) => Number(document.body.dataset.compared ?? 0) > number, before, { timeout: 120_000 });
}

/// [first cell, …]: what each cell says, or its exact value.
const rows = (tab, id) => tab.locator(`#${id} tbody tr`).evaluateAll((all) => all.filter((row) => !row.hidden).map((row) => [...row.cells].map((cell) => (cell.className ? cell.textContent : cell.title || cell.textContent))));

describe("by method", () => {
  test("each row is the command's", () =>
    withPage(at(TINY), {}, async (tab) => {
      await compared(tab);
      const found = await rows(tab, "methods");
      assert.deepEqual(found.map((row) => row[0]), ["Full: every weight", "LoRA", "QLoRA: LoRA over 4-bit weights", "DoRA: LoRA with magnitudes"]);
      for (const [i, method] of ["full", "lora", "qlora", "dora"].entries()) {
        const { fits, bytes, left } = needed(tiny({ method }));
        assert.deepEqual(found[i].slice(1), [bytes, fits, left], method);
      }
    }));

  test("a model with images has its projector and its frozen tower too", () =>
    withPage(at(LLAVA), {}, async (tab) => {
      await compared(tab);
      const found = Object.fromEntries((await rows(tab, "methods")).map(([name, bytes]) => [name, bytes]));
      const spec = { model: modelConfig("llava-1.5-7b-hf"), gpu: "h100-80gb", batch: 1, images: 1, seq: 1024 };
      assert.equal(found["The projector alone"], needed({ ...spec, method: "projector" }).bytes);
      assert.equal(found["All but the vision tower"], needed({ ...spec, method: "freeze-vision" }).bytes);
      assert.equal(Object.keys(found).length, 6);
    }));

  test("a press takes the method, and the rank stays", () =>
    withPage(at(`${TINY}&method=lora&lora={"r":64}`), {}, async (tab) => {
      await compared(tab);
      const button = tab.locator("#methods").getByRole("button", { name: "QLoRA: LoRA over 4-bit weights" });
      await compared(tab, () => answered(tab, () => button.click()));
      assert.equal(await control(tab, "What is trained").inputValue(), "qlora");
      assert.equal(await control(tab, "Rank of LoRA: number").inputValue(), "64");
      assert.equal(await control(tab, "Gradient checkpointing").inputValue(), "non_reentrant");
      assert.equal(await tab.locator("#verdict .line").textContent(), predicted(tiny({ method: "qlora", lora: { r: 64 } })).verdict);
      assert.equal(await button.getAttribute("aria-pressed"), "true");
      await tab.waitForFunction(() => location.hash.includes("method=qlora"));
    }));

  test("a trainer's methods stand beside each other", () =>
    withPage(at(`${TINY}&method=trl-lora`), {}, async (tab) => {
      await tab.locator("#methods[aria-busy=false] tbody tr").first().waitFor({ timeout: 120_000 });
      assert.deepEqual((await rows(tab, "methods")).map((row) => row[1]), ["trl-full", "trl-lora", "trl-qlora", "trl-dora"].map((method) => needed(tiny({ method })).bytes));
    }));
});

describe("on every card", () => {
  test("each row is the command's, by memory", () =>
    withPage(at(TINY), {}, async (tab) => {
      await compared(tab);
      const { cards } = await core();
      const found = await rows(tab, "cards");
      assert.equal(found.length, cards.length);
      const sizes = found.map((row) => Number(row[1].replaceAll(/\D/g, "")));
      assert.deepEqual(sizes, sizes.toSorted((a, b) => a - b));
      for (const gpu of ["rtx-3060-12gb", "t4", "l4", "rtx-4090", "a100-80gb", "h200", "b200"]) {
        const { fits, left, card } = needed(tiny({ gpu }));
        const name = cards.find((one) => one.key === gpu).name;
        const row = found.find((one) => one[0] === name && one[1] === exactly(card.total_bytes));
        assert.deepEqual(row.slice(2), [fits, left], gpu);
      }
      const fitting = found.filter((row) => row[2] === "yes");
      assert.ok((await tab.locator("#cards-summary").textContent()).startsWith(`It fits on ${fitting.length} of ${cards.length} cards, the smallest of them ${fitting[0][0]} `));
    }));

  test("a filter shows some, and a press takes one", () =>
    withPage(at(TINY), {}, async (tab) => {
      await compared(tab);
      await tab.getByRole("searchbox", { name: "Cards whose name has" }).fill("h100 pcie");
      const found = await rows(tab, "cards");
      assert.ok(found.length > 0 && found.every((row) => /H100.*PCIe/i.test(row[0])), JSON.stringify(found));
      await answered(tab, () => tab.locator("#cards").getByRole("button", { name: found[0][0] }).first().click());
      assert.match(await tab.locator("#peak").textContent(), /H100 PCIe/);
    }));

  test("rows come in a page that was opened from a folder", () =>
    withPage(`${pathToFileURL(join(page, "index.html"))}#${TINY}`, {}, async (tab) => {
      await compared(tab);
      assert.match(await tab.locator("#cards-summary").textContent(), /^It fits on/);
    }));
});

test("what does not fit has changes with which it does", () =>
  withPage(at(`${TINY}&batch=64`.replace("batch=8&", "")), {}, async (tab) => {
    await compared(tab);
    const { fits, remedies } = predicted(tiny({ batch: 64 }));
    assert.equal(fits, false);
    assert.equal(await tab.locator("#remedies button").count(), remedies.length);
    await answered(tab, () => tab.locator("#remedies button").first().click());
    assert.match(await tab.locator("#verdict .line").textContent(), /^fits/);
    assert.equal(await tab.locator("#remedies button").count(), 0);
  }));
