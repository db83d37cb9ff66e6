// Plans of the page's core are the command's, to the byte; and what the page makes of its controls.
import assert from "node:assert/strict";
import { test } from "node:test";

import { pointsOf } from "../../apps/web/page/plan_points.js";
import { answerSpec, asked, merged, planOptions, pricesOf, questionOf, QUESTIONS, withQuestion } from "../../apps/web/page/plan_question.js";
import { core, modelConfig, plannedByCommand, planner } from "./built.mjs";

const granite = { model_type: "granite", hidden_size: 2048, intermediate_size: 8192, num_hidden_layers: 12, num_attention_heads: 32, num_key_value_heads: 8, vocab_size: 49155 };
const text = { batch: 4, seq: 1024 };
const tiny = { model: modelConfig("tinyllama-1.1b-chat-v1.0"), ...text };
const llama = { model: modelConfig("llama-3.1-8b"), ...text };

/// What is kept of a plan in the page, and the training; the command is asked by the options that the page gives to copy.
const questions = {
  "the fastest": [{}, { ...tiny, gpu: "h100-80gb" }],
  "the least memory": [{ goal: "least_memory", answers: 2 }, { ...tiny, gpu: "rtx-4090" }],
  "the smallest change": [{ goal: "smallest_change" }, { ...tiny, batch: 32, gpu: "l4" }],
  "every trade": [{ goal: "pareto" }, { ...tiny, gpu: "rtx-4090" }],
  "a margin kept free": [{ answers: 2 }, { ...tiny, gpu: "rtx-4090" }, "p90"],
  "nothing fits": [{}, { ...llama, gpu: "l40s" }],
  "adapters may be used": [{ allow: ["lora=8|64"] }, { ...llama, gpu: "l40s" }],
  "two GPUs, some of it fixed": [{ gpus: 2, fix: ["optimizer_impl", "allocator"] }, { ...tiny, gpu: "l40s" }],
  "two nodes of another card": [{ card: "a100-80gb", gpus: 2, nodes: 2, fix: ["checkpointing"] }, { ...tiny, gpu: "l40s" }],
  "samples of a step": [{ samples: 24 }, { ...tiny, gpu: "rtx-4090" }],
  "the largest batch": [{ largest: "batch", fix: ["checkpointing", "optimizer_impl"] }, { ...tiny, gpu: "rtx-4090" }],
  "the longest sequence": [{ largest: "seq", fix: ["checkpointing", "attention"] }, { ...tiny, gpu: "rtx-4090" }],
  "layers to checkpoint": [{ checkpointing_under: "18GiB" }, { ...tiny, gpu: "rtx-4090" }],
  "the cheapest card": [{ cheapest: { l40s: 0.9, "rtx-4090": 0.4 }, fix: ["checkpointing"] }, { ...tiny, gpu: "h100-80gb" }],
  "a captured family": [{}, { model: granite, ...text, gpu: "rtx-4090", transformers: "5.17.0" }],
};

const started = core();
const plans = planner();
const planned = async (spec, wishes) => (await plans)(await (await started).questionText(spec, { plan: wishes }));
/// As a shell splits them.
const words = (options) => options.split(" ").filter(Boolean).map((word) => word.replace(/^'(.*)'$/, "$1"));

for (const [name, [plan, training, margin]] of Object.entries(questions)) {
  test(`equal to the command: ${name}`, async () => {
    const [spec, wishes] = asked(plan, training, margin);
    const { cards } = await started;
    const { plan: found, text: printed } = await planned(spec, wishes);
    assert.equal(found, plannedByCommand(spec, wishes.cheapest && pricesOf(wishes.cheapest, cards), ...words(planOptions(wishes))));
    assert.ok(printed.length > 0);
  });
}

test("the keys of an answer are those that the answer was simulated with", async () => {
  const { predict } = await started;
  for (const name of ["the fastest", "adapters may be used", "two GPUs, some of it fixed", "two nodes of another card", "layers to checkpoint"]) {
    const [spec, wishes] = asked(...questions[name]);
    const { answers } = JSON.parse((await planned(spec, wishes)).plan);
    for (const answer of answers) {
      const { peak } = JSON.parse(await predict(answerSpec(spec, answer)));
      const first = (answer.ranks ?? []).find((row) => row.rank === 0) ?? answer.peak;
      assert.deepEqual([peak.allocated_bytes, peak.reserved_bytes], [first.allocated_bytes, first.reserved_bytes], name);
    }
  }
});

test("what is wrong is said in the command's words", async () => {
  const ask = (plan) => planned(...asked(plan, { ...tiny, gpu: "l40s" }));
  await assert.rejects(ask({ goal: "fastst" }), (error) => /fastest/.test(error.hint) && !error.bug);
  await assert.rejects(ask({ allow: ["lor"] }), (error) => /lora/.test(error.hint));
  await assert.rejects(ask({ card: "h100-81gb" }), (error) => /h100-80gb/.test(error.hint));
  await assert.rejects(ask({ checkpointing_under: "much" }), (error) => !error.bug);
});

test("each question is kept, and told from the others", () => {
  for (const { name } of QUESTIONS) assert.equal(questionOf(withQuestion({ goal: "pareto", cheapest: {}, largest: "seq", nodes: 2 }, name)), name);
  assert.deepEqual(withQuestion({ goal: "pareto", nodes: 2 }, "fastest"), { nodes: 2 });
});

test("wishes that a question has no use for are not asked", () => {
  const [spec, wishes] = asked({ checkpointing_under: "card", fix: ["offload"], allow: ["lora"], samples: 8, nodes: 2, gpus: 8 }, { gpu: "l40s", batch: 1 });
  assert.deepEqual([spec, wishes], [{ gpu: "l40sx8", batch: 1 }, { checkpointing_under: "card", nodes: 2 }]);
});

test("null takes a key away, and maps go into maps", () =>
  assert.deepEqual(merged({ lora: { r: 8 }, zero: { stage: 2, a: 1 }, freeze: ["x"] }, { lora: null, zero: { stage: 3 }, freeze: ["y"] }), { zero: { stage: 3, a: 1 }, freeze: ["y"] }));

test("prices are of a card, however many there are", () =>
  assert.deepEqual(pricesOf({ "h100-80gbx8": 2.5, l40s: 0.9 }, [{ key: "l40s" }]), { "h100-80gb": 2.5, l40s: 0.9 }));

test("the plot has what fits and what does not, from little memory to much", async () => {
  const plan = JSON.parse((await planned(...asked(...questions["every trade"]))).plan);
  const points = pointsOf(plan);
  assert.equal(points.length, plan.answers.length + plan.refused.length);
  assert.ok(plan.answers.length > 2);
  assert.deepEqual(points.map((point) => point.bytes), points.map((point) => point.bytes).toSorted((a, b) => a - b));
  const fit = points.filter((point) => point.kind === "fits");
  for (let i = 1; i < fit.length; i++) assert.ok(fit[i].seconds <= fit[i - 1].seconds, "more memory, and no less time");
});
