// What is asked: a model, and keys of a spec file.  The address holds it behind the #, so that a link is a question.
import { takesImages } from "./controls.js";
import { AXES } from "./growth_points.js";
import { bundled } from "./models.js";

/// {model: name on the hub, or "own"; config: config.json where the list has none of that name, or null; spec: keys; margin: what is kept free, "p90", or null;
/// growth: {along, lines}, what memory is drawn against (growth.js), or null; plan: what is planned (plan_question.js), or null}
export function toFragment({ model, config, spec, margin, growth, plan }) {
  const pairs = new URLSearchParams({ model });
  if (config) pairs.set("config", JSON.stringify(config));
  for (const [key, value] of Object.entries(spec)) pairs.set(key, typeof value === "string" ? value : JSON.stringify(value));
  if (margin) pairs.set("margin", margin);
  if (growth) pairs.set("growth", JSON.stringify(growth));
  if (plan) pairs.set("plan", JSON.stringify(plan));
  return pairs.toString();
}

function valueOf(text, schema) {
  const types = (schema?.anyOf ?? [schema ?? {}]).flatMap((one) => one.type ?? []);
  if (schema?.enum || (types.length > 0 && types.every((type) => type === "string" || type === "null"))) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/// Whatever else stands there is none.
function mapOf(text) {
  const map = valueOf(text, {});
  return map && typeof map === "object" && !Array.isArray(map) ? map : null;
}

function growthOf(text) {
  const { along, lines } = mapOf(text) ?? {};
  if (!Object.hasOwn(AXES, along)) return null;
  return Object.hasOwn(AXES, lines) && lines !== along ? { along, lines } : { along };
}

/// What stands in the address beside the keys of the spec.
const BESIDE = { config: (text) => valueOf(text, {}), margin: String, growth: growthOf, plan: mapOf };

/// Null where the address asks nothing, or nothing that can be read.
export function fromFragment(fragment, schema) {
  const pairs = new URLSearchParams(fragment.replace(/^#/, ""));
  const model = pairs.get("model");
  if (!model) return null;
  const question = { model, config: null, spec: {}, margin: null, growth: null, plan: null };
  for (const [key, text] of pairs) {
    if (key === "model") continue;
    if (Object.hasOwn(BESIDE, key)) question[key] = BESIDE[key](text);
    else question.spec[key] = valueOf(text, schema.properties[key]);
  }
  return typeof question.config !== "object" || (model === "own" && !question.config) ? null : question;
}

// Adapters of the experts' stacked parameters, which all-linear would make, are refused (nn/lora.cpp, check_experts).
const ATTENTION = ["q_proj", "k_proj", "v_proj", "o_proj"];

/// The question that a model is first shown with.
export function firstSpec(config, gpu) {
  const text = config.text_config ?? config;
  const tokens = text.max_position_embeddings ?? text.n_positions ?? 2048;
  const spec = { gpu, method: "lora", batch: 1, checkpointing: "non_reentrant" };
  if (config.num_experts || config.num_local_experts) spec.lora = { target_modules: ATTENTION };
  if (takesImages(config)) return { ...spec, images: 1 };
  return text.vocab_size === undefined && !text.n_positions ? { gpu, batch: 32 } : { ...spec, seq: Math.min(2048, tokens) };
}

/// The model's config.json: what the question brings, or that of the list.
export const configOf = ({ model, config }, models) => config ?? bundled(models, model)?.config;

/// What is asked of the core.
export const specOf = (question, models) => ({ ...question.spec, model: configOf(question, models) });
