// The core as WebAssembly answers as the command does, to the byte.
import assert from "node:assert/strict";
import { test } from "node:test";

import { duration, size } from "../../apps/web/page/format.js";
import { firstSpec } from "../../apps/web/page/question.js";
import { core, modelConfig, models, planner, predictedByCommand } from "./built.mjs";

const granite = { model_type: "granite", hidden_size: 2048, intermediate_size: 8192, num_hidden_layers: 24, num_attention_heads: 32, num_key_value_heads: 8, vocab_size: 49155 };
const text = { seq: 1024, gpu: "h100-80gb" };
const llama = { model: modelConfig("llama-3.1-8b"), ...text };
const tiny = { model: modelConfig("tinyllama-1.1b-chat-v1.0"), ...text };
const llava = { model: modelConfig("llava-1.5-7b-hf"), ...text, images: 1 };

const questions = {
  "a Llama of 8 billion": { ...llama, batch: 1 },
  "checkpointed": { ...llama, batch: 8, checkpointing: "non_reentrant" },
  "checkpointed the old way, every other layer": { ...llama, batch: 4, checkpointing: "reentrant", checkpoint_every: 2 },
  "LoRA": { ...llama, batch: 4, lora: { r: 16, alpha: 32, dropout: 0.05 } },
  "LoRA on all linear layers, in fp32 adapters": { ...llama, batch: 2, lora: { r: 64, target_modules: "all-linear", adapter_dtype: "fp32" } },
  "LoRA by a pattern": { ...llama, batch: 2, lora: { r: 8, target_modules: ".*self_attn\\.(q|v)_proj" } },
  "eager attention": { ...tiny, batch: 2, attn: "eager" },
  "autocast with a scaler": { ...tiny, batch: 4, dtype: "fp32", autocast: "fp16", grad_scaler: true },
  "the Trainer's loop": { ...tiny, batch: 4, loop: "trainer", grad_accumulation: 4, max_grad_norm: 1 },
  "SGD": { ...tiny, batch: 4, optimizer: "sgd", momentum: 0.9 },
  "Adafactor": { ...tiny, batch: 4, optimizer: "adafactor" },
  "fused AdamW on an A100": { ...tiny, gpu: "a100-80gb", batch: 4, optimizer_impl: "fused" },
  "more than the card has": { ...llama, gpu: "rtx-4090", batch: 8 },
  "a card of another size": { ...tiny, gpu: "l40s", memory: "30GiB", batch: 8 },
  "expandable segments": { ...tiny, batch: 8, allocator: "expandable_segments:True" },
  "LLaVA whole": { ...llava, batch: 2 },
  "LLaVA's projector": { ...llava, batch: 16, train_only: ["multi_modal_projector"] },
  "LLaVA with a frozen tower": { ...llava, batch: 4, freeze: ["vision_tower"], checkpointing: "non_reentrant" },
  "Qwen2-VL with large images": { model: modelConfig("qwen2-vl-2b-instruct"), ...text, seq: 6144, images: 2, image_size: "1064x1904", lora: { target_modules: "all-linear" } },
  "experts": { model: { ...modelConfig("qwen3-235b-a22b"), num_hidden_layers: 4 }, ...text, gpu: "h200", batch: 1 },
  "ViT": { model: modelConfig("vit-base-patch16-224"), gpu: "rtx-3060-12gb", batch: 32 },
  "BERT": { model: modelConfig("bert-base-uncased"), gpu: "t4", batch: 16, seq: 128, dtype: "fp32" },
  "GPT-2": { model: modelConfig("gpt2"), ...text, gpu: "rtx-4090", batch: 8, torch: "2.12.0", dtype: "fp16" },
  "Gemma 2": { model: modelConfig("gemma-2-9b"), ...text, batch: 1, lora: {} },
  "a captured family": { model: granite, ...text, batch: 2, transformers: "5.17.0" },
  "a captured family, checkpointed": { model: granite, ...text, batch: 4, checkpointing: "non_reentrant" },
  "a program of another release, where the nearest does not hold": { model: modelConfig("gpt2"), ...text, batch: 2, gpus: 2, parallel: "fsdp2", cp: { degree: 2 }, transformers: "5.23.0" },
  "DDP": { ...tiny, batch: 4, gpus: 8, parallel: "ddp" },
  "ZeRO-2": { ...llama, batch: 2, gpus: 8, parallel: "zero2", rank: 3 },
  "FSDP 2": { ...llama, batch: 2, gpus: 4, parallel: "fsdp2" },
  "tensor parallelism": { ...llama, batch: 2, gpus: 4, tp: { degree: 4 } },
  "another release of torch": { ...tiny, batch: 2, torch: "2.15.0" },
};

const started = core();

/// In which order a call lets go of its arguments while an exception passes is the compiler's, so what follows on an error of
/// memory is not compared: the timeline's points after its highest.
function upToTheError(text) {
  const report = JSON.parse(text);
  if (!report.oom) return text;
  const last = report.timeline.findIndex((point) => point.allocated_bytes === report.peak.allocated_bytes);
  const parts = report.timeline_by_category.map(({ name, bytes }) => ({ name, bytes: bytes.slice(0, last + 1) })).filter((one) => one.bytes.some((bytes) => bytes > 0));
  return { ...report, timeline: report.timeline.slice(0, last + 1), timeline_by_category: parts };
}

for (const [name, spec] of Object.entries(questions)) {
  test(`equal to the command: ${name}`, async () => {
    const text = await (await started).predict(spec);
    assert.deepEqual(upToTheError(text), upToTheError(predictedByCommand(spec)));
    const { timeline, timeline_by_category: categories, peak } = JSON.parse(text);
    for (const bytes of ["allocated_bytes", "reserved_bytes"]) assert.equal(Math.max(...timeline.map((point) => point[bytes])), peak[bytes], `the timeline has the peak of ${bytes}`);
    assert.deepEqual(timeline.map((_, i) => categories.reduce((sum, one) => sum + one.bytes[i], 0)), timeline.map((point) => point.allocated_bytes));
  });
}

test("there are thirty questions", () => assert.ok(Object.keys(questions).length >= 30));

test("equal to the command: all ranks of a pipeline", async () => {
  const spec = { ...llama, batch: 4, gpus: 4, pp: { degree: 4, microbatches: 4 } };
  const report = await (await started).predictRanks(spec);
  assert.equal(report, predictedByCommand(spec, "--all-ranks"));
  assert.equal(JSON.parse(report).ranks.length, 4);
});

test("equal to the command: what is kept free", async () => {
  const spec = { ...llava, batch: 2 };
  const report = await (await started).predict(spec, "p90");
  assert.equal(report, predictedByCommand(spec, "--margin", "p90"));
  assert.ok(JSON.parse(report).margin.bytes > 0);
  await assert.rejects((await started).predict(spec, "p100"), /p1 to p99|quantile/);
});

test("every model of the list has an answer to what is first asked of it", async () => {
  const refused = {};
  for (const { names: [name], config: model } of models) {
    const report = await (await started).predictAlone({ ...firstSpec(model, "h100-80gb"), model }).catch((error) => void (refused[name] = error.message));
    if (report) assert.ok(JSON.parse(report).verdict);
  }
  // The command captures these, which takes a Python.
  assert.deepEqual(Object.keys(refused), ["openlm-research/open_llama_3b", "microsoft/phi-2", "microsoft/wavlm-base-plus"], JSON.stringify(refused));
  for (const why of Object.values(refused)) assert.match(why, /the program of \w+ holds for .* alone/);
});

test("what is wrong is said in the command's words", async () => {
  const ask = async (spec) => (await started).predict({ ...tiny, ...spec });
  await assert.rejects(ask({ gpu: "h100-81gb" }), (error) => /h100-80gb/.test(error.hint) && !error.bug);
  await assert.rejects(ask({ batch: 0 }), /batch/);
  await assert.rejects(ask({ model: { model_type: "none-such" } }), (error) => !error.bug);
  await assert.rejects(ask({ bathc: 1 }), (error) => /batch/.test(error.hint));
  await assert.rejects(ask({ lora: { target_modules: "(" } }), /regular expression/);
});

test("a question of which no program has been handed over", async () => {
  const plan = await planner();
  assert.throws(() => plan(JSON.stringify({ spec: { ...questions["a captured family"] }, plan: {} })), /5.17.0\/granite: the program has not been handed over/);
});

test("it tells what there is to choose from", async () => {
  const { cards, programs, decisions, spec_schema: schema } = await started;
  assert.ok(cards.some((card) => card.key === "h100-80gb" && card.total_bytes === 85028896768));
  assert.ok(programs.includes("5.17.0/granite") && programs.includes("5.17.0/llava"));
  assert.deepEqual(["lora", "checkpointing"].map((name) => decisions.find((one) => one.name === name).same_training), [false, true]);
  assert.deepEqual(schema.properties.checkpointing.enum.filter((name) => name !== null), ["none", "non_reentrant", "reentrant"]);
});

test("what a trainer is told, and options of the command", async () => {
  const files = await (await started).write({ ...tiny, batch: 4, loop: "trainer" }, "trainer", "train.json");
  assert.match(files[0].text, /"per_device_train_batch_size": 4,/);
  assert.equal((await started).options({ batch: 4, lora: { r: 8 } }).trim(), "--batch 4 --lora-r 8");
});

test("bytes and seconds are written as the command writes them", () => {
  assert.deepEqual([0, 1023, 1024, 1002 * 2 ** 20, 9.996 * 2 ** 30, 23.66 * 2 ** 30, 1023.6 * 2 ** 20].map(size), ["0 B", "1023 B", "1.00 KiB", "1002 MiB", "10.0 GiB", "23.7 GiB", "1.00 GiB"]);
  assert.deepEqual([0, 0.0796, 0.105, 0.1311, 2.5, 12.345, 1234.5].map(duration), ["-", "80 ms", "0.105 s", "0.131 s", "2.5 s", "12.3 s", "1235 s"]);
});
