// Which model: the list, a name or an address of the hub, one's own config.json; and what there is to set of images.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { modelConfig, predictedByCommand } from "./built.mjs";
import { answered, control, launch, open, serve, withPage as withPageOf } from "./served.mjs";

let browser, server;
before(async () => ([browser, server] = await Promise.all([launch(), serve()])));
after(async () => {
  await browser?.close();
  server?.close();
});

const withPage = (...rest) => withPageOf(browser, ...rest);
const at = (question) => `${server.url}#${question}`;
const TINY = "model=tinyllama-1.1b-chat-v1.0&gpu=h100-80gb&batch=4&seq=1024";
const HUB = "or its name or address on the hub";
const line = (tab) => tab.locator("#verdict .line").textContent();

async function say(tab, text) {
  await control(tab, HUB).fill(text);
  await control(tab, HUB).press("Enter");
}

/// Answers for the hub, and keeps what it was asked.
async function asHub(tab, answer) {
  const asked = [];
  await tab.route("https://huggingface.co/**", (route) => {
    asked.push(new URL(route.request().url()).pathname);
    return answer(route);
  });
  return asked;
}

describe("the list", () => {
  test("begins with current models, of which the first is asked first", () =>
    withPage(server.url, {}, async (tab) => {
      const names = await control(tab, "Model").locator("option").evaluateAll((all) => all.map((one) => one.value).filter(Boolean));
      assert.equal(names.length, new Set(names).size);
      assert.match(names[0], /^Qwen\/Qwen3-VL/);
      for (const name of ["Qwen/Qwen2.5-VL-7B-Instruct", "google/gemma-3-4b-it", "openai/gpt-oss-20b", "deepseek-ai/DeepSeek-V3", "Qwen/Qwen3-8B"]) assert.ok(names.indexOf(name) < names.indexOf("openai-community/gpt2"), name);
      assert.match(await control(tab, "Model").inputValue(), /^Qwen\/Qwen3-VL/);
      assert.match(await line(tab), /^fits/);
      await answered(tab, () => control(tab, "Model").selectOption("Qwen/Qwen3-8B"));
      await tab.waitForFunction(() => location.hash.includes("model=Qwen%2FQwen3-8B"));
    }));
});

describe("a name of the hub", () => {
  test("that is bundled is not asked for", () =>
    withPage(at(TINY), {}, async (tab) => {
      const asked = await asHub(tab, (route) => route.abort());
      await answered(tab, () => say(tab, "https://huggingface.co/Qwen/Qwen2.5-VL-7B-Instruct/tree/main"));
      assert.equal(await control(tab, "Model").inputValue(), "Qwen/Qwen2.5-VL-7B-Instruct");
      await answered(tab, () => say(tab, "qwen3-0.6b"));
      assert.equal(await control(tab, "Model").inputValue(), "Qwen/Qwen3-0.6B");
      assert.deepEqual(asked, []);
    }));

  test("that is not bundled is fetched, and the link holds it", () =>
    withPage(at(TINY), {}, async (tab) => {
      const config = { ...modelConfig("qwen3-0.6b"), num_hidden_layers: 3 };
      const asked = await asHub(tab, (route) => route.fulfill({ json: config, headers: { "access-control-allow-origin": "*" } }));
      await answered(tab, () => say(tab, "some-owner/some-model"));
      assert.deepEqual(asked, ["/some-owner/some-model/resolve/main/config.json"]);
      const report = JSON.parse(predictedByCommand({ model: config, gpu: "h100-80gb", method: "lora", batch: 1, checkpointing: "non_reentrant", seq: 2048 }));
      assert.equal(await line(tab), report.verdict);
      await tab.waitForFunction(() => location.hash.includes("some-owner%2Fsome-model") && location.hash.includes("config="));
      const again = await open(browser, tab.url());
      assert.equal(await line(again.tab), report.verdict);
      assert.equal(await control(again.tab, HUB).inputValue(), "some-owner/some-model");
      await again.close();
    }));

  test("that the hub does not answer for is refused with what to do", async () => {
    const { tab, close } = await open(browser, at(TINY));
    const before = await line(tab);
    let answer = (route) => route.abort();
    await asHub(tab, (route) => answer(route));
    const refusal = tab.getByRole("alert");
    await say(tab, "some-owner/some-model");
    await refusal.filter({ hasText: "The hub does not answer. Paste its config.json" }).waitFor();
    answer = (route) => route.fulfill({ status: 401, headers: { "access-control-allow-origin": "*" } });
    await say(tab, "some-owner/gated-model");
    await refusal.filter({ hasText: "account holders" }).waitFor();
    await say(tab, "no address at all");
    await refusal.filter({ hasText: "is no name and no address" }).waitFor();
    assert.equal(await line(tab), before);
    await close();
  });
});

describe("a link to a name that is not bundled", () => {
  const NAME = "some-owner/some-model";
  const LINK = `model=${NAME}&gpu=l4&batch=2&seq=512`;
  const follow = (tab, link) => tab.evaluate((hash) => Object.assign(location, { hash }), link);

  test("is answered by the hub's configuration", () =>
    withPage(at(TINY), {}, async (tab) => {
      const config = { ...modelConfig("qwen3-0.6b"), num_hidden_layers: 3 };
      const asked = await asHub(tab, (route) => route.fulfill({ json: config, headers: { "access-control-allow-origin": "*" } }));
      const { verdict } = JSON.parse(predictedByCommand({ model: config, gpu: "l4", batch: 2, seq: 512 }));
      await answered(tab, () => follow(tab, LINK));
      assert.equal(await line(tab), verdict);
      await tab.goto("about:blank");
      await tab.goto(at(LINK));
      await tab.waitForFunction(() => document.body.dataset.answered);
      assert.equal(await line(tab), verdict);
      assert.equal(await control(tab, HUB).inputValue(), NAME);
      assert.deepEqual(asked, Array(2).fill(`/${NAME}/resolve/main/config.json`));
    }));

  test("has the hub's refusal as its answer, and no other", async () => {
    const { tab, close } = await open(browser, at(TINY));
    await asHub(tab, (route) => route.fulfill({ status: 404, headers: { "access-control-allow-origin": "*" } }));
    const refusal = tab.locator("#verdict.error", { hasText: `The hub has no config.json of ${NAME}.` });
    await follow(tab, LINK);
    await refusal.waitFor();
    await tab.goto("about:blank");
    await tab.goto(at(LINK));
    await refusal.waitFor();
    await answered(tab, () => control(tab, "Batch, of each GPU").fill("4"));
    assert.ok(await refusal.isVisible());
    assert.equal(await control(tab, HUB).inputValue(), NAME);
    await answered(tab, () => control(tab, "Model").selectOption("Qwen/Qwen3-0.6B"));
    assert.match(await line(tab), /^fits/);
    await close();
  });
});

test("a config.json can be pasted", () =>
  withPage(at(TINY), {}, async (tab) => {
    await tab.getByText("or your own config.json", { exact: true }).click();
    const text = control(tab, "Its text");
    await text.fill("[1]");
    await text.blur();
    await tab.getByRole("alert").filter({ hasText: "What was pasted is not a config.json" }).waitFor();
    await answered(tab, async () => {
      await text.fill('{"model_type": "llama", "num_hidden_layers": 2, "scale": Infinity}');
      await text.blur();
    });
    assert.match(await line(tab), /^fits/);
    assert.equal(await tab.locator("#question .refusal").textContent(), "");
    await tab.waitForFunction(() => location.hash.includes("model=own"));
  }));

describe("images", () => {
  test("their number and size are in front where the model takes them", () =>
    withPage(server.url, {}, async (tab) => {
      await answered(tab, () => control(tab, "Model").selectOption("Qwen/Qwen2.5-VL-7B-Instruct"));
      const size = tab.getByLabel(/^Image size/);
      assert.ok(await size.isVisible());
      assert.ok(!(await tab.getByText("All other options").evaluate((one) => one.parentElement.open)));
      await answered(tab, async () => {
        await size.fill("448x672");
        await size.press("Enter");
      });
      const spec = { model: modelConfig("Qwen2.5-VL-7B-Instruct"), gpu: "h100-80gb", method: "lora", batch: 1, checkpointing: "non_reentrant", images: 1, image_size: "448x672" };
      assert.equal(await line(tab), JSON.parse(predictedByCommand(spec)).verdict);
      await answered(tab, () => control(tab, "Model").selectOption("Qwen/Qwen3-8B"));
      assert.ok(!(await size.isVisible()) && !(await control(tab, "Images per sample").isVisible()));
    }));

  test("too few tokens for them are refused by the page's labels", () =>
    withPage(at("model=Qwen2.5-VL-7B-Instruct&gpu=h100-80gb&images=2&seq=512&method=lora"), {}, async (tab) => {
      const said = await tab.locator("#verdict.error").textContent();
      assert.match(said, /^Sequence: 512 tokens hold no images of \d+.*“Image size” smaller/);
    }));
});

test("a map that may be missing is there by its check", () =>
  withPage(at(`${TINY}&method=lora`), {}, async (tab) => {
    await tab.getByText("All other options").click();
    const check = control(tab.locator("#question"), "quantization");
    assert.ok(!(await control(tab, "quant type").isVisible()));
    await answered(tab, () => check.check());
    assert.equal(await control(tab, "quant type").inputValue(), "fp4");
    const spec = { model: modelConfig("tinyllama-1.1b-chat-v1.0"), gpu: "h100-80gb", batch: 4, seq: 1024, method: "lora" };
    assert.equal(await line(tab), JSON.parse(predictedByCommand({ ...spec, quantization: {} })).verdict);
    await answered(tab, () => control(tab.locator("#question"), "lora").uncheck());
    assert.match(await tab.locator("#verdict").textContent(), /quantiz|nothing|adapters/i);
    await answered(tab, () => check.uncheck());
    assert.equal(await line(tab), JSON.parse(predictedByCommand({ ...spec, lora: null })).verdict);
  }));
