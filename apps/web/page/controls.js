// The usual controls, by the keys of a spec.  The others are made of the spec's schema.

export const SLIDERS = [
  { key: "batch", label: "Batch, of each GPU", low: 1, high: 128, step: 1 },
  { key: "seq", label: "Sequence, in tokens (0: 2048, or what the images need)", low: 0, high: 32768, step: 128 },
  { key: "images", label: "Images per sample", low: 0, high: 16, step: 1, isOfImages: true },
  { key: "gpus", label: "GPUs", low: 1, high: 64, step: 1 },
];
export const IMAGE_SIZE = { key: "image_size", label: "Image size, in pixels: 448, or 1080x1920" };
export const CHOICES = [
  { key: "checkpointing", label: "Gradient checkpointing" },
  { key: "dtype", label: "Type of the weights" },
  { key: "autocast", label: "Autocast" },
  { key: "optimizer", label: "Optimizer" },
  { key: "loop", label: "Training loop" },
];
export const MODEL = "Model";
export const CARD = "Card";
export const METHOD = "What is trained";
export const RANK = "Rank of LoRA";
export const STRATEGY = "How GPUs share the work";
export const MARGIN = "Kept free: a margin that measured runs stayed within";

/// Whether a model takes images beside tokens.
export const takesImages = (config) => Boolean(config?.vision_config);
