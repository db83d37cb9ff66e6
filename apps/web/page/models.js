// The models of the list: configurations of data/models, the current families first.

const FAMILIES = [
  ["Qwen3-VL", /^Qwen\/Qwen3-VL/], ["Qwen3.5", /^Qwen\/Qwen3\.5/], ["Qwen2.5-VL", /^Qwen\/Qwen2\.5-VL/], ["Gemma 3 and 4", /^google\/gemma-[34]/],
  ["gpt-oss", /^openai\/gpt-oss/], ["DeepSeek", /^deepseek-ai\//], ["Llama 4", /^meta-llama\/Llama-4/], ["GLM", /^zai-org\//], ["Qwen3", /^Qwen\/Qwen3/],
  ["Mistral", /^mistralai\//], ["Llama 3", /^meta-llama\/(Meta-)?Llama-3/], ["Phi", /^microsoft\/phi/i], ["Nemotron", /^nvidia\//], ["MiniMax", /^MiniMaxAI\//],
  ["Qwen2.5", /^Qwen\/(Qwen2\.5|QwQ)/], ["LLaVA, Qwen2-VL, BLIP", /llava|Qwen2-VL|blip/i], ["OLMo", /^allenai\//], ["SmolLM", /SmolLM/],
];
const OTHERS = "Others";
const naturally = new Intl.Collator("en", { numeric: true }).compare;

const familyOf = (name) => FAMILIES.find(([, pattern]) => pattern.test(name))?.[0] ?? OTHERS;

/// [family, names], in the order of the list.
export function families(models) {
  const names = new Map([...FAMILIES.map(([family]) => [family, []]), [OTHERS, []]]);
  for (const name of models.flatMap((one) => one.names)) names.get(familyOf(name)).push(name);
  return [...names].filter(([, list]) => list.length > 0).map(([family, list]) => [family, list.sort(naturally)]);
}

/// The name on the hub, as it is spelt there, and the configuration of a name with or without its owner; null where it is not bundled.
export function bundled(models, name) {
  const wanted = name.toLowerCase();
  const isIt = (one) => one.toLowerCase() === wanted || one.toLowerCase().split("/")[1] === wanted;
  for (const { names, config } of models) {
    const found = names.find(isIt);
    if (found) return { name: found, config };
  }
  return null;
}
