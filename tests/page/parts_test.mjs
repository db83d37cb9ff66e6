// Parts of the page that need no browser: names of models, words, links.
import assert from "node:assert/strict";
import { test } from "node:test";

import { matching, summary } from "../../apps/web/page/compare_cards.js";
import { parseConfig } from "../../apps/web/page/config_text.js";
import { configOfHub, hubName } from "../../apps/web/page/hub.js";
import { linksOf } from "../../apps/web/page/links.js";
import { methodLabel } from "../../apps/web/page/method_field.js";
import { bundled, families } from "../../apps/web/page/models.js";
import { makeWords } from "../../apps/web/page/words.js";
import { core, models } from "./built.mjs";

test("a name or an address of the hub is a name", () => {
  for (const text of ["Qwen/Qwen3-8B", " https://huggingface.co/Qwen/Qwen3-8B ", "hf.co/Qwen/Qwen3-8B/tree/main", "https://huggingface.co/Qwen/Qwen3-8B/blob/main/config.json?x=1"])
    assert.equal(hubName(text), "Qwen/Qwen3-8B", text);
  assert.equal(hubName("qwen3-8b"), "qwen3-8b");
  for (const text of ["", "two words", "https://example.org/a/b/c", '{"model_type": "llama"}']) assert.equal(hubName(text), null, text);
});

test("the hub's refusals name what to do", async () => {
  const answers = (status, text = "") => async () => new Response(text, { status });
  await assert.rejects(configOfHub("a/b", answers(404)), /has no config.json of a\/b.*paste/s);
  await assert.rejects(configOfHub("a/b", answers(401)), /account holders.*Paste/s);
  await assert.rejects(configOfHub("a/b", answers(500)), /answers 500.*Paste/s);
  await assert.rejects(configOfHub("a/b", answers(200, "<html>")), /not JSON.*Paste/s);
  await assert.rejects(configOfHub("a/b", async () => { throw new TypeError("Failed to fetch"); }), /does not answer. Paste/);
  await assert.rejects(configOfHub("b", answers(200, "{}")), /owner/);
  assert.deepEqual(await configOfHub("a/b", answers(200, '{"model_type": "llama"}')), { model_type: "llama" });
});

test("a bundled model is found by its name in any case", () => {
  assert.equal(bundled(models, "qwen/qwen2.5-vl-7b-instruct").name, "Qwen/Qwen2.5-VL-7B-Instruct");
  assert.equal(bundled(models, "Qwen2.5-VL-7B-Instruct").config.model_type, "qwen2_5_vl");
  assert.equal(bundled(models, "Qwen2.5-VL"), null);
});

test("current families come first, and every name stands once", () => {
  const list = families(models);
  assert.deepEqual(list.slice(0, 6).map(([family]) => family), ["Qwen3-VL", "Qwen3.5", "Qwen2.5-VL", "Gemma 3 and 4", "gpt-oss", "DeepSeek"]);
  const names = list.flatMap(([, some]) => some);
  assert.deepEqual([...names].sort(), models.flatMap((one) => one.names).sort());
  assert.ok(names.indexOf("Qwen/Qwen3-4B") < names.indexOf("Qwen/Qwen3-14B"), "numbers are in order");
});

test("numbers that JSON has not are null in a config.json", () => {
  assert.deepEqual(parseConfig('{"limit": [0.0, Infinity], "low": -Infinity, "name": "NaN, Infinity"}'), { limit: [0, null], low: null, name: "NaN, Infinity" });
  assert.throws(() => parseConfig("no JSON"), SyntaxError);
});

test("errors of the core are in the page's words", async () => {
  const { spec_schema } = await core();
  const words = makeWords(spec_schema);
  assert.equal(words.text("add --images 1, or set --lora-target-modules"), "add “Images per sample” 1, or set “lora: target modules”");
  assert.equal(words.text("set it above 2450, or image_size smaller; --spec and the batch stay"), "set it above 2450, or “Image size” smaller; --spec and the batch stay");
  assert.deepEqual(words.error({ told: { message: "2048 tokens hold no images of 2450", where: "seq", hint: "set it above 2450" } }), { message: "Sequence: 2048 tokens hold no images of 2450", hint: "set it above 2450" });
  assert.equal(words.error({ told: { message: "m", where: "--memory", hint: "" } }).message, "memory: m");
  assert.equal(words.error(new Error("plain")).message, "plain");
  assert.equal(words.change({ checkpointing: "non_reentrant", batch: 2, lora: { r: 8 } }), "Gradient checkpointing non reentrant, Batch 2, Rank of LoRA 8");
});

test("no option of the command is left in what the core refuses", async () => {
  const { predictAlone, spec_schema } = await core();
  const words = makeWords(spec_schema);
  const vision = { model: bundled(models, "Qwen2.5-VL-7B-Instruct").config, gpu: "h100-80gb" };
  const text = { model: bundled(models, "qwen3-0.6b").config, gpu: "h100-80gb" };
  for (const spec of [{ ...vision, images: 2, seq: 512 }, { ...text, images: 1 }, { ...text, batch: 0 }, { ...text, memory: "1MiB" }, { ...text, freeze: ["towerr"] }, { ...text, train_only: "projector" },
    { ...text, gpus: 2, parallel: "zero3", tp: { degree: 2 } }, { ...text, gpus: 2, tp: { degree: 3 } }, { ...text, attn: "flash" }, { ...text, rank: 5 }, { ...text, model: { model_type: "none" } }]) {
    const error = await predictAlone(spec).then(() => null, (one) => one);
    assert.ok(error, JSON.stringify({ ...spec, model: 0 }));
    assert.doesNotMatch(words.line(error), /--[a-z]/, words.line(error));
  }
});

test("every method has a label", async () => {
  const { methods } = await core();
  for (const { name } of methods.filter((one) => one.name !== "none")) assert.match(methodLabel(name), /^(Full|LoRA|QLoRA|DoRA|All but|The projector)/, name);
});

test("cards are found by words, and the smallest that fits is named", () => {
  const cards = [{ key: "l4", name: "NVIDIA L4", total_bytes: 22 * 2 ** 30 }, { key: "h100-80gb", name: "NVIDIA H100 80GB HBM3", total_bytes: 79 * 2 ** 30 }];
  assert.deepEqual(matching(cards, "nvidia h100").map((one) => one.key), ["h100-80gb"]);
  assert.equal(matching(cards, " ").length, 2);
  assert.equal(summary(cards, new Map([["l4", { fits: false }], ["h100-80gb", { fits: true }]])), "It fits on 1 of 2 cards, the smallest of them NVIDIA H100 80GB HBM3 (79.0 GiB).");
  assert.equal(summary(cards, new Map([["l4", { fits: null }]])), "It fits on none of 2 cards.");
});

test("links lead to the documents beside the page, else to those of the repository", () => {
  const repository = "https://example.org/tidemark/blob/main";
  assert.deepEqual(linksOf({ documents: true, repository: "" }), [["Documents", "documents/index.html"]]);
  assert.deepEqual(linksOf({ documents: false, repository }), [["Documents", `${repository}/docs/index.md`], ["Source", `${repository}/README.md`]]);
  assert.deepEqual(linksOf({ documents: false, repository: "" }), []);
});
