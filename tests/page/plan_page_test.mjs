// Planning in the page: every control, what is shown and copied, that nothing waits for it, and for whom it is.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";

import { modelConfig, installed, page, plannedByCommand } from "./built.mjs";
import { answered, control, launch, open, serve, settled, withPage as withPageOf } from "./served.mjs";

let browser, server;
before(async () => ([browser, server] = await Promise.all([launch(), serve()])));
after(async () => {
  await browser?.close();
  server?.close();
});

const withPage = (...rest) => withPageOf(browser, ...rest);
const TINY = "model=tinyllama-1.1b-chat-v1.0&gpu=l40s&batch=4&seq=1024";
const tiny = (more) => ({ model: modelConfig("tinyllama-1.1b-chat-v1.0"), gpu: "l40s", batch: 4, seq: 1024, ...more });
const at = (question, plan) => `${server.url}#${question}${plan ? `&plan=${encodeURIComponent(JSON.stringify(plan))}` : ""}`;
/// One that takes the command half a minute on a core.
const LONG = "model=llama-3.1-8b&gpu=h100-80gb&batch=4&seq=1024";

const press = (tab, name) => tab.getByRole("button", { name, exact: true }).click();
const status = (tab) => tab.locator("#plan-status").textContent();
const rows = (tab) => tab.locator("#plan-found tbody tr").evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.title || cell.textContent)));
const exactly = (bytes) => `${bytes.toLocaleString("en-US")} bytes`;
const plansSoFar = (tab) => tab.evaluate(() => Number(document.body.dataset.planned ?? 0));

/// Does something, and waits for the plan that comes of it.
async function planned(tab, act) {
  const before = await plansSoFar(tab);
  await act();
  await tab.waitForFunction((number) => Number(document.body.dataset.planned ?? 0) > number && document.getElementById("plan-answer").getAttribute("aria-busy") === "false", before, { timeout: 120_000 });
}

describe("a plan", () => {
  test("is the command's", () =>
    withPage(at(TINY), {}, async (tab) => {
      await planned(tab, () => press(tab, "Plan"));
      assert.match(await status(tab), /^fastest that fits: NVIDIA L40S/);
      const { answers } = JSON.parse(plannedByCommand(tiny()));
      assert.deepEqual((await rows(tab)).slice(0, 3).map((row) => row.slice(2, 5)), answers.map(({ peak }) => [peak.device_bytes, peak.reserved_bytes, peak.allocated_bytes].map(exactly)));
    }));

  test("is made in a page that was opened from a folder", () =>
    withPage(`${pathToFileURL(join(page, "index.html"))}#${TINY}`, {}, async (tab) => {
      await planned(tab, () => press(tab, "Plan"));
      assert.match(await status(tab), /^fastest that fits/);
    }));

  test("tells why better ones are refused, and draws them", () =>
    withPage(at("model=tinyllama-1.1b-chat-v1.0&gpu=l4&batch=16&seq=1024", {}), {}, async (tab) => {
      await planned(tab, async () => {});
      const { refused, answers } = JSON.parse(plannedByCommand(tiny({ gpu: "l4", batch: 16 })));
      assert.ok(refused.length > 0);
      const told = (await rows(tab)).slice(answers.length);
      assert.deepEqual(told.map((row) => row[0]), refused.map(({ peak }) => exactly(peak.device_bytes)));
      assert.match(told[0][1], /(GiB|MiB) more than the card has|order of addresses/);
      assert.match(await tab.locator("#pareto").getAttribute("aria-label"), new RegExp(`${answers.length} that fit, ${refused.length} that would be better`));
      const painted = await tab.locator("#pareto canvas").evaluate((canvas) => {
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        const count = (r, g, b) => data.reduce((sum, value, i) => sum + (i % 4 === 0 && value === r && data[i + 1] === g && data[i + 2] === b), 0);
        return { good: count(0x1a, 0x7f, 0x4b), bad: count(0xb3, 0x26, 0x1e) };
      });
      assert.ok(painted.good > 20 && painted.bad > 100, JSON.stringify(painted));
      const plot = tab.locator("#pareto .u-over");
      await plot.hover({ position: { x: (await plot.boundingBox()).width - 5, y: 100 } });
      assert.match(await tab.locator("#pareto-reading").textContent(), /on the device, .* a step .*does not fit/);
    }));

  test("of what nothing fits says the least that would do", () =>
    withPage(at("model=llama-3.1-8b&gpu=l40s&batch=4&seq=1024", {}), {}, async (tab) => {
      await planned(tab, async () => {});
      assert.match(await status(tab), /^nothing fits/);
      assert.match((await tab.locator("#plan-found caption").allTextContents()).join(), /first the least that would do/);
      await planned(tab, () => control(tab, "lora").check());
      assert.match(await status(tab), /^fastest that fits/);
    }));

  test("of what is wrong is the command's error", () =>
    withPage(at(TINY, { goal: "fastst" }), {}, async (tab) => {
      await planned(tab, async () => {});
      assert.match(await status(tab), /fastst.*is not known.*fastest/);
      await planned(tab, () => control(tab, "What is looked for").selectOption("fastest"));
      assert.match(await status(tab), /^fastest that fits/);
    }));
});

describe("controls", () => {
  test("every one changes what is planned, and the link holds it", () =>
    withPage(at(TINY), {}, async (tab) => {
      await planned(tab, () => press(tab, "Plan"));
      const controls = [
        ["Answers", (one) => one.fill("2"), { answers: 2 }],
        ["What is looked for", (one) => one.selectOption("least_memory"), { goal: "least_memory" }],
        ["What is looked for", (one) => one.selectOption("smallest_change"), { goal: "smallest_change" }],
        ["checkpointing", (one) => one.check(), { fix: ["checkpointing"] }],
        ["allocator", (one) => one.check(), { fix: ["checkpointing", "allocator"] }],
        ["allocator", (one) => one.uncheck(), { fix: ["checkpointing"] }],
        ["Card to plan for", (one) => one.selectOption("rtx-4090"), { card: "rtx-4090" }],
        ["Samples of a step, over all GPUs (0: as many as now)", (one) => one.fill("8"), { samples: 8 }],
        ["optimizer", (one) => one.check(), { allow: ["optimizer"] }],
        ["Values of lora", async (one) => { await one.fill("8|32"); await one.press("Enter"); }, { allow: ["optimizer", "lora=8|32"] }],
        ["optimizer", (one) => one.uncheck(), { allow: ["lora=8|32"] }],
        ["GPUs of a node", (one) => one.fill("2"), { gpus: 2 }],
        ["Nodes", (one) => one.fill("2"), { nodes: 2 }],
        ["Nodes", (one) => one.fill("1"), { nodes: 1 }],
        ["GPUs of a node", (one) => one.fill("1"), { gpus: 1 }],
        ["What is looked for", (one) => one.selectOption("batch"), { largest: "batch" }],
        ["What is looked for", (one) => one.selectOption("checkpointing"), { checkpointing_under: "card" }],
        ["Peak to stay within, such as 24GiB (card: all that it has)", async (one) => { await one.fill("18GiB"); await one.press("Enter"); }, { checkpointing_under: "18GiB" }],
        ["What is looked for", (one) => one.selectOption("pareto"), { goal: "pareto" }],
      ];
      const form = tab.locator("#plan-question");
      for (const [label, act, held] of controls) {
        await planned(tab, () => act(control(form, label)));
        await tab.waitForFunction((wanted) => {
          const plan = JSON.parse(new URLSearchParams(location.hash.slice(1)).get("plan"));
          return Object.entries(wanted).every(([key, value]) => JSON.stringify(plan[key]) === JSON.stringify(value));
        }, held);
        assert.match(await status(tab), /^(fastest that fits|least memory|smallest change|largest batch|least recomputation|every trade)/, label);
      }
      const [address, told] = [tab.url(), await rows(tab)];
      const again = await open(browser, address);
      await planned(again.tab, async () => {});
      assert.deepEqual(await rows(again.tab), told);
      await again.close();
    }));

  test("cards are compared by what they cost", () =>
    withPage(at(TINY, { fix: ["checkpointing"] }), {}, async (tab) => {
      await control(tab, "What is looked for").selectOption("cheapest");
      await tab.locator("#plan-status", { hasText: "add the cards" }).waitFor();
      const form = tab.locator("#plan-question");
      await press(tab, "Add a card");
      await planned(tab, () => control(form, "Card 1").selectOption("l40s"));
      await press(tab, "Add a card");
      await planned(tab, () => control(form, "Card 2").selectOption("rtx-4090"));
      await planned(tab, async () => {
        await control(form, "Price of a GPU for an hour 2").fill("0.4");
        await control(form, "Price of a GPU for an hour 2").press("Enter");
      });
      const priced = JSON.parse(plannedByCommand(tiny(), { l40s: 1, "rtx-4090": 0.4 }, "--cheapest", "l40s,rtx-4090", "--prices", "prices.json", "--fix", "checkpointing"));
      assert.deepEqual((await rows(tab)).map((row) => row.slice(1, 3)), priced.map((one) => [one.place, one.price_per_1000_steps.toFixed(2)]));
      await planned(tab, () => press(tab, "Remove card 1"));
      assert.equal((await rows(tab)).length, 1);
    }));

  test("an answer is shown above, and to copy", () =>
    withPage(at("model=tinyllama-1.1b-chat-v1.0&gpu=l4&batch=16&seq=1024", {}), { permissions: ["clipboard-read", "clipboard-write"] }, async (tab) => {
      await planned(tab, async () => {});
      const { answers } = JSON.parse(plannedByCommand(tiny({ gpu: "l4", batch: 16 })));
      const copied = async (name) => {
        await tab.getByLabel(`Copy: ${name}`).click();
        return tab.evaluate(() => navigator.clipboard.readText());
      };
      await control(tab, "Answer 2").check();
      assert.match(await copied("Predict it from the model's config.json, answer 2"), /^tidemark predict config\.json .*--optimizer-impl /s);
      assert.equal(await copied("Run your own program on the virtual GPU, answer 2"), "tidemark run --gpu l4 --allocator expandable_segments:True -- python train.py");
      assert.match(await copied("Plan it from the model's config.json"), /^tidemark plan config\.json .*--batch 16/s);
      await control(tab, "A trainer's configuration, answer 2").selectOption("trainer");
      await tab.locator("#plan-copy", { hasText: "expandable_segments:True\" cannot be said in it" }).waitFor();
      await answered(tab, () => press(tab, "Show answer 2 above"));
      assert.ok((await tab.locator("#peak").textContent()).includes(exactly(answers[1].peak.device_bytes)));
      await control(tab, "Answer 1").check();
      await tab.locator("#plan-copy pre", { hasText: `"per_device_train_batch_size": ${answers[0].spec.batch}` }).waitFor();
      assert.equal(await status(tab).then((text) => text.split(":")[0]), "fastest that fits");
    }));
});

describe("in the background", () => {
  test("the sliders go on, and a newer question ends the older", () =>
    withPage(at(LONG, { gpus: 8, goal: "pareto" }), {}, async (tab) => {
      await tab.locator("#plan-answer[aria-busy=true]").waitFor({ state: "attached" });
      const moves = [];
      for (const batch of [2, 3, 5, 6]) {
        await answered(tab, () => control(tab, "Batch, of each GPU").fill(String(batch)));
        moves.push(await tab.evaluate(() => Number(document.body.dataset.answeredMs)));
        await tab.waitForTimeout(700);  // long enough for the plan of it to have begun
      }
      assert.ok(Math.max(...moves) < 2000, moves.join());
      assert.equal(await tab.evaluate(() => document.body.dataset.planned), undefined);
      await planned(tab, async () => {
        await control(tab, "What is looked for").selectOption("fastest");
        await control(tab, "GPUs of a node").fill("1");
        await control(tab, "Model").selectOption("gpt2");
      });
      assert.match(await status(tab), /^fastest that fits/);
    }));

  test("stops when it is told to, and no longer follows", () =>
    withPage(at(LONG, { gpus: 8, goal: "pareto" }), {}, async (tab) => {
      await tab.locator("#plan-answer[aria-busy=true]").waitFor({ state: "attached" });
      await press(tab, "Stop planning");
      assert.equal(await status(tab), "stopped");
      await answered(tab, () => control(tab, "Batch, of each GPU").fill("2"));
      await tab.waitForFunction(() => location.hash.includes("batch=2") && !location.hash.includes("plan="));
      assert.equal(await status(tab), "stopped");
    }));

  test("a plan follows the question above", () =>
    withPage(at(TINY, {}), {}, async (tab) => {
      await planned(tab, async () => {});
      await planned(tab, () => control(tab, "Batch, of each GPU").fill("6"));
      assert.match(await status(tab), /6 samples a step/);
    }));
});

describe("for everybody", () => {
  for (const width of [320, 768, 3840])
    test(`${width} pixels wide, nothing is cut off`, () =>
      withPage(at(TINY, {}), { viewport: { width, height: 900 } }, async (tab) => {
        await planned(tab, async () => {});
        await control(tab, "What is looked for").selectOption("cheapest");
        await press(tab, "Add a card");
        const wide = await tab.evaluate(() => [document.documentElement.scrollWidth, innerWidth, [...document.querySelectorAll("#plan *")].filter((one) => !one.closest(".wide") && one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.outerHTML.slice(0, 80))]);
        assert.ok(wide[0] <= wide[1], JSON.stringify(wide));
        assert.deepEqual(wide[2], []);
      }));

  for (const colorScheme of ["light", "dark"])
    test(`axe finds nothing, ${colorScheme}`, () =>
      withPage(at("model=tinyllama-1.1b-chat-v1.0&gpu=l4&batch=16&seq=1024", {}), { colorScheme, bypassCSP: true }, async (tab) => {
        await planned(tab, async () => {});
        await tab.getByText("As the command prints it").click();
        await settled(tab);
        await tab.addScriptTag({ path: installed.resolve("axe-core") });
        const { violations } = await tab.evaluate(() => globalThis.axe.run());
        assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html).slice(0, 3)]), []);
      }));

  test("by keyboard alone", () =>
    withPage(at(TINY), {}, async (tab) => {
      const first = control(tab, "What is looked for");
      await first.focus();
      const controls = await tab.locator("#plan-question select:visible, #plan-question input:visible").count();
      for (let i = 1; i < controls; i++) {
        await tab.keyboard.press("Tab");
        const focus = await tab.evaluate(() => [document.activeElement.closest("form")?.id, getComputedStyle(document.activeElement).outlineStyle]);
        assert.deepEqual(focus, ["plan-question", "solid"]);
      }
      await tab.keyboard.press("Tab");
      await planned(tab, () => tab.keyboard.press("Enter"));
      await control(tab, "Answer 1").focus();
      await tab.keyboard.press("ArrowDown");
      await tab.getByRole("button", { name: "Show answer 2 above" }).waitFor();
    }));
});
