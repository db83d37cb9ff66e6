// The page in a browser: every control, the keyboard, widths, dark mode, its policy, what people hear instead of see.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { join } from "node:path";

import { modelConfig, installed, page, predictedByCommand } from "./built.mjs";
import { answered, control, launch, open, serve, settled, withPage as withPageOf } from "./served.mjs";

let browser, server;
before(async () => ([browser, server] = await Promise.all([launch(), serve()])));
after(async () => {
  await browser?.close();
  server?.close();
});

const verdict = (tab) => tab.locator("#verdict .line").textContent();
const at = (question) => `${server.url}#${question}`;
const KEPT_FREE = "Kept free: a margin that measured runs stayed within";
const TINY = "model=tinyllama-1.1b-chat-v1.0&gpu=h100-80gb&batch=4&seq=1024";

const withPage = (...rest) => withPageOf(browser, ...rest);

describe("the answer", () => {
  test("is the command's", () =>
    withPage(at(TINY), {}, async (tab) => {
      const report = JSON.parse(predictedByCommand({ model: modelConfig("tinyllama-1.1b-chat-v1.0"), gpu: "h100-80gb", batch: 4, seq: 1024 }));
      assert.equal(await verdict(tab), report.verdict);
      for (const bytes of [report.peak.allocated_bytes, report.peak.reserved_bytes, report.peak.device_bytes])
        assert.ok((await tab.locator("#peak").textContent()).includes(`${bytes.toLocaleString("en-US")} bytes`));
    }));

  test("has the bytes between which addresses put the peak", () =>
    withPage(at("model=bert-base-uncased&gpu=h100-80gb&batch=16&seq=128&torch=2.11.0"), {}, async (tab) => {
      const { interval } = JSON.parse(predictedByCommand({ model: modelConfig("bert-base-uncased"), gpu: "h100-80gb", batch: 16, seq: 128, torch: "2.11.0" }));
      const shown = await tab.locator("#peak").textContent();
      for (const bytes of [...interval.allocated_bytes, ...interval.reserved_bytes]) assert.ok(shown.includes(bytes.toLocaleString("en-US")), shown);
      assert.ok(shown.includes(interval.why));
    }));

  test("opens from a folder, without a server", () =>
    withPage(`${pathToFileURL(join(page, "index.html"))}#${TINY}`, {}, async (tab) => {
      assert.match(await verdict(tab), /^fits: peak/);
      await tab.goto("about:blank");
      await tab.goto(`${pathToFileURL(join(page, "index.html"))}#model=own&config=${encodeURIComponent('{"model_type":"granite"}')}&gpu=h200&batch=1&seq=512`);
      await tab.waitForFunction(() => document.body.dataset.answered);
      assert.match(await verdict(tab), /peak/);
    }));

  test("of what is wrong is the command's error", () =>
    withPage(at("model=tinyllama-1.1b-chat-v1.0&gpu=h100-80gb&batch=4&bathc=3"), {}, async (tab) => {
      assert.match(await tab.locator("#verdict").textContent(), /bathc.*batch/is);
      await answered(tab, () => control(tab, "Model").selectOption("openai-community/gpt2"));
      assert.match(await verdict(tab), /^fits/);
    }));

  test("needs nothing of any other place", async () => {
    server.requests.length = 0;
    await withPage(at(TINY), {}, settled);
    assert.deepEqual([...new Set(server.requests)].sort(), ["/", "/icon.svg", "/page.js", "/programs/5.23.0/llama.js", "/style.css", "/tidemark.js", "/tidemark.wasm", "/uPlot.min.css", "/worker.js"]);
  });
});

describe("controls", () => {
  test("every one changes the question, and the link holds it", () =>
    withPage(at(TINY), {}, async (tab) => {
      const controls = [
        ["Card", (one) => one.selectOption("l40s"), /gpu=l40s/],
        ["What is trained", (one) => one.selectOption("lora"), /method=lora/],
        ["Rank of LoRA", (one) => one.fill("32"), /&lora=.*32/],
        [KEPT_FREE, (one) => one.selectOption("p90"), /margin=p90/],
        ["Batch, of each GPU", (one) => one.fill("7"), /batch=7/],
        ["Sequence, in tokens (0: 2048, or what the images need): number", (one) => one.fill("1500"), /seq=1500/],
        ["Gradient checkpointing", (one) => one.selectOption("reentrant"), /checkpointing=reentrant/],
        ["Type of the weights", (one) => one.selectOption("fp32"), /dtype=fp32/],
        ["Autocast", (one) => one.selectOption("bf16"), /autocast=bf16/],
        ["Optimizer", (one) => one.selectOption("sgd"), /optimizer=sgd/],
        ["Training loop", (one) => one.selectOption("trainer"), /loop=trainer/],
        ["GPUs", (one) => one.fill("4"), /gpus=4.*parallel=ddp|parallel=ddp.*gpus=4/],
        ["How GPUs share the work", (one) => one.selectOption("fsdp2"), /parallel=fsdp2/],
      ];
      for (const [label, act, link] of controls) {
        const verdictBefore = await tab.locator("#verdict").textContent();
        await answered(tab, () => act(control(tab, label)));
        await tab.waitForFunction((pattern) => new RegExp(pattern).test(location.hash), link.source);
        assert.ok(!(await tab.locator("#verdict").getAttribute("class")).includes("error"), `${label}: ${await tab.locator("#verdict").textContent()}`);
        assert.notEqual(verdictBefore, "");
      }
      const [asked, told] = [tab.url(), await tab.locator("#verdict").textContent()];
      const again = await open(browser, asked);
      assert.equal(await again.tab.locator("#verdict").textContent(), told);
      await again.close();
    }));

  test("all other options come of the schema", () =>
    withPage(at(TINY), {}, async (tab) => {
      await tab.getByText("All other options").click();
      await answered(tab, () => control(tab, "attn").selectOption("eager"));
      await answered(tab, () => control(tab, "grad accumulation").fill("2"));
      await answered(tab, async () => {
        const freeze = control(tab.locator("#question"), "freeze");
        await freeze.fill("embed_tokens,lm_head");
        await freeze.press("Enter");
      });
      const report = JSON.parse(predictedByCommand({ model: modelConfig("tinyllama-1.1b-chat-v1.0"), gpu: "h100-80gb", batch: 4, seq: 1024, attn: "eager", grad_accumulation: 2, freeze: ["embed_tokens", "lm_head"] }));
      assert.equal(await verdict(tab), report.verdict);
    }));

  test("a config.json of one's own", () =>
    withPage(at(TINY), {}, async (tab) => {
      const file = (text) => ({ name: "config.json", mimeType: "application/json", buffer: Buffer.from(text) });
      await tab.getByText("or your own config.json", { exact: true }).click();
      const chooser = tab.getByLabel("or its file, chosen or dropped");
      await answered(tab, () => chooser.setInputFiles(file('{"model_type": "llama", "num_hidden_layers": 2}')));
      assert.match(await verdict(tab), /^fits/);
      await tab.waitForFunction(() => location.hash.includes("model=own"));
      await chooser.setInputFiles(file("no JSON"));
      await tab.getByRole("alert").filter({ hasText: "config.json is not JSON" }).waitFor();
    }));

  test("bars of each GPU", () =>
    withPage(at(`model=llama-3.1-8b&gpu=h100-80gb&batch=4&seq=1024&gpus=4&pp=${encodeURIComponent('{"degree":4,"microbatches":4}')}`), {}, async (tab) => {
      await tab.waitForFunction(() => document.querySelectorAll("#ranks tbody tr").length === 4);
      const bytes = await tab.locator("#ranks tbody td[title]").evaluateAll((cells) => cells.map((cell) => cell.title));
      assert.ok(new Set(bytes).size > 1, "stages of a pipeline hold different amounts");
    }));

  test("what there is to copy", () =>
    withPage(at(`${TINY}&checkpointing=reentrant`), { permissions: ["clipboard-read", "clipboard-write"] }, async (tab) => {
      await tab.getByLabel("Copy: Predict it from the model's config.json").click();
      assert.match(await tab.evaluate(() => navigator.clipboard.readText()), /^tidemark predict config\.json .*--checkpointing reentrant/s);
      await tab.getByLabel("Copy: Run your own program on the virtual GPU").click();
      assert.equal(await tab.evaluate(() => navigator.clipboard.readText()), "tidemark run --gpu h100-80gb -- python train.py");
      await control(tab, "A trainer's configuration").selectOption("trainer");
      await tab.locator("pre", { hasText: '"per_device_train_batch_size": 4' }).waitFor();
      await tab.getByRole("button", { name: "Copy a link to this question" }).click();
      assert.equal(await tab.evaluate(() => navigator.clipboard.readText()), tab.url());
    }));
});

describe("pictures", () => {
  test("the treemap goes into modules and out again, by keyboard", () =>
    withPage(at(TINY), {}, async (tab) => {
      await tab.getByRole("button", { name: /^model / }).focus();
      await tab.keyboard.press("Enter");
      await tab.getByRole("button", { name: /^layers / }).focus();
      await tab.keyboard.press("Enter");
      await tab.getByRole("button", { name: /^0 / }).waitFor();
      assert.equal(await tab.locator("#treemap button").count(), 22);
      await tab.locator("#crumbs").getByRole("button", { name: "the whole model" }).press("Enter");
      await tab.getByRole("button", { name: /^model / }).waitFor();
    }));

  test("the timeline tells what is under the pointer, and shows the card's line", () =>
    withPage(at("model=llama-3.1-8b&gpu=rtx-4090&batch=1&seq=1024"), {}, async (tab) => {
      assert.match(await tab.locator("#timeline").getAttribute("aria-label"), /at most .* allocated and .* reserved/);
      await settled(tab);  // the changes that would fit stand above it
      await tab.locator("#timeline .u-over").hover();
      await tab.locator("#reading").filter({ hasText: /step \d, \w+: .* allocated \(.*parameters/ }).waitFor();
      const red = await tab.locator("#timeline canvas").evaluate((canvas) => {
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        let count = 0;
        for (let i = 0; i < data.length; i += 4) count += data[i] === 0xb3 && data[i + 1] === 0x26 && data[i + 2] === 0x1e;
        return count;
      });
      assert.ok(red > 100, "no line of the card");
    }));
});

describe("for everybody", () => {
  for (const width of [320, 768, 1280, 3840])
    test(`${width} pixels wide, nothing is cut off`, () =>
      withPage(at(`${TINY}&gpus=4&parallel=ddp`), { viewport: { width, height: 900 } }, async (tab) => {
        await tab.getByText("All other options").click();
        const wide = await tab.evaluate(() => [document.documentElement.scrollWidth, innerWidth, [...document.querySelectorAll("body *")].filter((one) => !one.closest("#ranks, #treemap, .wide, .rows-box") && one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.outerHTML.slice(0, 80))]);
        assert.ok(wide[0] <= wide[1], JSON.stringify(wide));
        assert.deepEqual(wide[2], []);
      }));

  for (const colorScheme of ["light", "dark"])
    test(`axe finds nothing, ${colorScheme}`, () =>
      withPage(at(`${TINY}&gpus=4&parallel=ddp&lora={"r":8}`), { colorScheme, bypassCSP: true }, async (tab) => {
        await tab.getByText("All other options").click();
        await tab.waitForFunction(() => document.querySelectorAll("#ranks tbody tr").length === 4);
        await settled(tab);
        await tab.addScriptTag({ path: installed.resolve("axe-core") });
        const { violations } = await tab.evaluate(() => globalThis.axe.run());
        assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html).slice(0, 3)]), []);
      }));

  test("dark mode is dark", () =>
    withPage(at(TINY), { colorScheme: "dark" }, async (tab) => {
      assert.equal(await tab.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(19, 26, 33)");
    }));

  test("every control is reached by Tab, in order, and is seen to be", () =>
    withPage(at(TINY), {}, async (tab) => {
      const controls = await tab.locator("#question select:visible, #question input:visible, #question summary:visible").count();
      await tab.locator("#question select").first().focus();
      await tab.keyboard.press("Shift+Tab");
      for (let i = 0; i < controls; i++) {
        await tab.keyboard.press("Tab");
        const focus = await tab.evaluate(() => [document.activeElement.closest("form")?.id, getComputedStyle(document.activeElement).outlineStyle]);
        assert.deepEqual(focus, ["question", "solid"]);
      }
    }));

  test("an arrow moves a slider", () =>
    withPage(at(TINY), {}, async (tab) => {
      await control(tab, "Batch, of each GPU").focus();
      await answered(tab, () => tab.keyboard.press("ArrowRight"));
      assert.equal(await control(tab, "Batch, of each GPU: number").inputValue(), "5");
    }));

  test("its policy lets nothing else run", async () => {
    const { tab, complaints, close } = await open(browser, at(TINY));
    await tab.evaluate(() => {
      document.head.append(Object.assign(document.createElement("script"), { textContent: "globalThis.ran = true" }));
      document.body.append(Object.assign(document.createElement("img"), { src: "http://127.0.0.1:9/elsewhere.png" }));
    });
    await assert.rejects(tab.evaluate(() => fetch("http://127.0.0.1:9/elsewhere")));
    assert.equal(await tab.evaluate(() => globalThis.ran), undefined);
    assert.equal(complaints.filter((one) => /violates the following Content Security Policy/.test(one)).length, 3, complaints.join("\n"));
    await close();
  });
});
