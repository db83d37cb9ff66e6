// A captured program as a model that can be trained.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "nn/context.h"
#include "nn/model.h"
#include "program/program.h"

namespace tidemark {

/// How many tokens a model was made for, and the key that says it.
struct Positions {
  std::string key;
  std::int64_t count = 0;
};
std::optional<Positions> positions_of(const Value& config);

/// Pixels of a patch's side, and patches of a token's side; 0 where the configuration does not say.
/// transformers: Qwen2VLVisionConfig, patch_size, spatial_patch_size, spatial_merge_size (5.24.0)
struct ImagePatches {
  std::int64_t side = 0, merged = 0;
};
ImagePatches image_patches_of(const Value& config);

/// Whether the program has a size of that name, such as S.
bool has_size(const Program& program, std::string_view name);

/// How long texts are: as asked, else kUsualTokens, or what the configuration says that the model takes at most if that
/// is less.
std::int64_t text_length(const Value& config, std::int64_t asked);

/// Thrown by a forward pass whose samples have fewer tokens than their images take.
struct ImagesNeedTokens {
  std::int64_t sample_tokens = 0, image_tokens = 0;
};

/// The first that was captured in the way that `context` asks for.  Throws Error{unsupported}.
const Program& program_for(std::span<const Program> programs, const Context& context);

/// `program` outlives the model.  `checks_sizes`: no strategy cuts its tensors.  `computed`: what the weights' type is
/// when it runs, where they are cast before; else it is `weights`.
std::unique_ptr<Model> make_program_model(const Program& program, const Context& context, Dtype weights,
                                          bool checks_sizes, std::optional<Dtype> computed = {});

/// Lets a model of a prompt's program generate tokens by `programs`, which outlive it: each from as many tokens on as
/// its size S was bound to.
void add_decode(Model& model, std::span<const Program> programs, const Context& context, Dtype weights);

}  // namespace tidemark
