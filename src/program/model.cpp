#include "program/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>

#include "base/did_you_mean.h"
#include "base/error.h"
#include "nn/embeddings.h"
#include "nn/fused_head.h"
#include "nn/layers.h"
#include "program/interpreter.h"
#include "program/module_tree.h"
#include "program/sample_lengths.h"
#include "program/stack.h"

namespace tidemark {
namespace {

/// What a batch has a member for, by the name of the model's argument.
struct BatchMember {
  const char* name;
  Tensor Batch::* tensor;
  std::optional<Dims> BatchSizes::* sizes;
};
constexpr BatchMember kMembers[] = {
    {"input_ids", &Batch::input_ids, &BatchSizes::input_ids},
    {"attention_mask", &Batch::attention_mask, &BatchSizes::attention_mask},
    {"labels", &Batch::labels, &BatchSizes::labels},
    {"pixel_values", &Batch::pixel_values, &BatchSizes::pixel_values},
    {"image_grid_thw", &Batch::image_grid_thw, &BatchSizes::image_grid_thw},
    {"mm_token_type_ids", &Batch::mm_token_type_ids, &BatchSizes::mm_token_type_ids},
};
/// Made by who cuts the batch.
constexpr BatchMember kOfSharing[] = {{"position_ids", &Batch::position_ids, nullptr},
                                      {"shift_labels", &Batch::shift_labels, nullptr}};

bool takes_positions(const Program& program) {
  const auto found = program.header.find("positions");
  return found != program.header.end() && found->second == "true";
}

/// One of them, or the place among the others.
struct BatchEntry {
  const BatchMember* member = nullptr;
  std::size_t other = 0;

  Tensor of(const Batch& batch) const { return member ? batch.*member->tensor : batch.others[other]; }
};

std::vector<BatchEntry> entries_of(const Program& program) {
  std::vector<BatchEntry> entries;
  std::size_t others = 0;
  for (const InputDeclaration& input : program.inputs) {
    const auto is_it = [&](const BatchMember& member) { return member.name == input.name; };
    const auto* const found = std::find_if(std::begin(kMembers), std::end(kMembers), is_it);
    const auto* const shared = std::find_if(std::begin(kOfSharing), std::end(kOfSharing), is_it);
    if (found != std::end(kMembers))
      entries.push_back({.member = found});
    else if (shared != std::end(kOfSharing) && (takes_positions(program) || generates(program)))
      entries.push_back({.member = shared});
    else
      entries.push_back({.other = others++});
  }
  return entries;
}

/// Of the part that sees, which may say it of both sides; 0 where none does.
std::int64_t side_in(const Value& config, const char* key) {
  const Value* part = config.find("vision_config");
  const Value* size = (part ? *part : config).find(key);
  const Value::List* sides = size ? size->as_list() : nullptr;
  if (sides && !sides->empty()) size = &sides->front();
  return size && size->as_integer() ? *size->as_integer() : 0;
}

std::int64_t patch_size(const Value& config) { return side_in(config, "patch_size"); }

/// What is called on the modules that are there.
struct Calls {
  Calls(const Program& program, Module& root, const CheckpointableLayers& layers, const Context& context, Dtype weights,
        bool checks_sizes, const Body* unlabelled, const Module* cut)
      : routines(program, root, layers, cut),
        shorter(routines.main()),
        whole(program, routines.main(), context, weights, checks_sizes),
        without_labels(program, shorter, context, weights, checks_sizes) {
    if (unlabelled) shorter.body = unlabelled;
  }

  const Routines routines;
  Routine shorter;
  const Interpreter whole, without_labels;
};

/// A program with all that belongs to running it on the modules of one model.
struct ProgramModel {
  /// Of the weights, as they are loaded and as they are when it runs.
  struct Types {
    Dtype loaded, computed;
  };

  /// `has_modules`: the root has them already, of another program of the same model.
  ProgramModel(const Program& of, Module& root, const Context& in, Types types, bool checks_sizes,
               bool has_modules = false)
      : program(of),
        context(in),
        stack(find_stack(of)),
        unlabelled(without_loss(of)),
        computed(types.computed),
        checks(checks_sizes),
        symbols(of.captured_values),
        entries(entries_of(of)) {
    if (of.is_of_own_module && in.checkpointing != CheckpointKind::none && layers.empty())
      throw Error(Errc::unsupported, fmt::format("{} has no layers that transformers would checkpoint", of.class_name),
                  "checkpointing", "what its own forward checkpoints is known to `tidemark run` alone");
    if (!has_modules) build_modules(of, root, types.loaded, layers);
    bind(root, nullptr);
    for (const std::string& parameter : calls->routines.main().body->parameters) {
      const auto is_it = [&](const InputDeclaration& input) { return input.name == parameter; };
      const auto found = std::find_if(of.inputs.begin(), of.inputs.end(), is_it);
      if (found == of.inputs.end())
        throw Error(Errc::bad_file, fmt::format("no input {} in its header", parameter), of.file);
      inputs.push_back(entries[static_cast<std::size_t>(found - of.inputs.begin())]);
    }
  }

  void bind(Module& root, const Module* cut) {
    calls.emplace(program, root, layers, context, computed, checks, unlabelled ? &*unlabelled : nullptr, cut);
  }

  BatchSizes batch_sizes(const Data& data) {
    set("B", data.batch);
    set("images", data.images * data.batch);
    const AskedLengths asked{data.seq, data.target, data.audio_seconds};
    const SampleLengths lengths = sample_lengths(program.count, program.config, asked);
    set("S", lengths.seq);
    set("target", lengths.target);
    BatchSizes sizes;
    const bool takes_any_size = set_grid(data, sizes.assumptions);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      Dims dims;
      for (const Expression& size : program.inputs[i].type.sizes) dims.push_back(size(symbols));
      const TensorType& type = program.inputs[i].type;
      if (entries[i].member && entries[i].member->sizes)
        sizes.*entries[i].member->sizes = dims;
      else if (!entries[i].member)
        sizes.others.push_back({dims, type.of_weights ? std::nullopt : std::optional(type.dtype)});
    }
    sizes.pixels_first = sizes.pixel_values && !sizes.input_ids;
    if (!takes_any_size && sizes.pixel_values) check_image_size(data, sizes);
    if (const std::int64_t height = captured("image_h"); height && data.image_height == 0)
      sizes.assumptions.push_back(
          fmt::format("images are of {} x {} pixels, as nobody said (--image-size)", height, captured("image_w")));
    if (const bool of_masks = is_trained_for("masks"); of_masks || is_trained_for("features"))
      sizes.assumptions.push_back(fmt::format("{} makes no loss of its own: that is the mean of {}", program.class_name,
                                              of_masks ? "the masks that it predicts" : "its last hidden state"));
    if (const auto whole = program.header.find("of_whole"); whole != program.header.end())
      sizes.assumptions.push_back(fmt::format("of a {} only {} is there, which is the part that is trained",
                                              whole->second, program.class_name));
    check(data, lengths, sizes);
    sizes.first_assumptions = assumed_lengths(program.count, asked, lengths);
    if (std::string note = note_of_audio(program, symbols, data.audio_seconds); !note.empty())
      sizes.assumptions.push_back(std::move(note));
    return sizes;
  }

  bool is_trained_for(std::string_view head) const {
    const auto said = program.header.find("head");
    return said != program.header.end() && said->second == head;
  }

  /// Whether it is a size of this program.
  bool set(std::string_view name, std::int64_t value) {
    const auto end = program.symbols.begin() + static_cast<std::ptrdiff_t>(program.sizes);
    const auto found = std::find(program.symbols.begin(), end, name);
    if (found == end) return false;
    symbols[static_cast<std::size_t>(found - program.symbols.begin())] = value;
    return true;
  }

  /// Whole patches down and across, of models that take images of any size; those of its capture where nobody says.
  bool set_grid(const Data& data, std::vector<std::string>& assumptions) {
    const std::int64_t patch = patch_size(program.config);
    if (patch <= 0 || captured("grid_h") == 0) return false;
    if (data.image_height == 0) {
      assumptions.push_back(fmt::format("images are of {} x {} pixels, as nobody said (--image-size)",
                                        captured("grid_h") * patch, captured("grid_w") * patch));
      return false;
    }
    const std::int64_t down = std::max<std::int64_t>(data.image_height / patch, 1);
    const std::int64_t across = std::max<std::int64_t>(data.image_width / patch, 1);
    if (down * patch != data.image_height || across * patch != data.image_width)
      assumptions.push_back(fmt::format("images of {} x {} pixels are taken as {} x {}, which are whole patches",
                                        data.image_height, data.image_width, down * patch, across * patch));
    return set("grid_h", down) && set("grid_w", across);
  }

  /// The captured value of a size; 0 where the program has none of that name.
  std::int64_t captured(std::string_view name) const {
    const auto end = program.symbols.begin() + static_cast<std::ptrdiff_t>(program.sizes);
    const auto found = std::find(program.symbols.begin(), end, name);
    return found == end ? 0 : program.captured_values[static_cast<std::size_t>(found - program.symbols.begin())];
  }

  /// Of images that are cut into tiles, what they were before that; else as large as they are given to the model.
  void check_image_size(const Data& data, const BatchSizes& sizes) const {
    if (data.image_height == 0) return;
    const Dims own = sizes.pixel_values.value_or(Dims());
    const int last = own.count() - 1;
    const std::int64_t height = captured("image_h"), width = captured("image_w");
    if (height ? height == data.image_height && width == data.image_width
               : last >= 1 && own[last - 1] == data.image_height && own[last] == data.image_width)
      return;
    throw Error(Errc::unsupported,
                height ? fmt::format("the program of {} is of images of {} x {}", program.model_type, height, width)
                       : fmt::format("{} takes images of one size", program.model_type),
                program.file, "leave image_size out");
  }

  /// A program whose sizes were not solved holds for those of its capture alone.
  void check(const Data& data, const SampleLengths& lengths, const BatchSizes& sizes) const {
    for (const Condition& condition : program.conditions)
      if (!condition.holds(symbols))
        throw Error(Errc::unsupported, fmt::format("the program holds for {} alone", condition.text), program.file,
                    "capture one at this length");
    if (sizes.input_ids && *sizes.input_ids != Dims{data.batch, lengths.seq})
      throw Error(Errc::unsupported,
                  fmt::format("the program holds for batches of {} alone", fmt::join(*sizes.input_ids, " x ")),
                  program.file);
    if (sizes.labels ? !data.labels : data.labels && !makes_loss())
      throw Error(Errc::unsupported,
                  fmt::format("the program was captured {} labels", data.labels ? "without" : "with"), "labels");
    const bool is_images = sizes.pixel_values && !has_images();  // a sample is one, or has one
    if (is_images) check_of_images(data);
    if (data.images == 0 && data.image_tokens && !is_images)
      throw Error(Errc::bad_value, "there are no images to have tokens", "image_tokens", "set images");
    if (data.images > 0 && !has_images() && !is_images && !program.config.find("vision_config"))
      throw Error(Errc::bad_value, fmt::format("{} takes none", program.model_type), "images");
    if ((data.images > 0) != has_images() && !is_images)
      throw Error(Errc::unsupported,
                  fmt::format("the program was captured {} images", data.images > 0 ? "without" : "with"),
                  program.file);
  }

  /// Where it takes no labels, of something else: of the pairs of images and captions, of what a robot does.
  bool makes_loss() const {
    const std::vector<NamedArgument>& returned = program.bodies.at(program.main).statements.back().arguments;
    return std::any_of(returned.begin(), returned.end(), [](const NamedArgument& one) { return one.name == "loss"; });
  }

  /// A model whose sample is an image, or has one beside its text.
  static void check_of_images(const Data& data) {
    if (data.images > 1)
      throw Error(Errc::bad_value, fmt::format("the model takes one image per sample, not {}", data.images), "images",
                  "write 1");
    if (data.image_tokens)
      throw Error(Errc::bad_value, "no image stands among the tokens of this model", "image_tokens", "leave it out");
  }

  /// Images or sounds, as many as are asked for: not those that a sample itself is.
  bool has_images() const { return has_size(program, "images"); }

  /// The sizes of a batch, which may be a part of the one that was asked for.
  std::vector<std::int64_t> sizes_of(const Batch& batch) const {
    std::vector<std::int64_t> values = symbols;
    for (std::size_t i = 0; i < entries.size(); ++i) take_sizes(entries[i].of(batch), program.inputs[i], values);
    for (const auto& [expression, value] : program.counted)
      if (expression(values) != value)
        throw Error(Errc::unsupported, "the program is written out for batches of other sizes", program.file);
    return values;
  }

  Tensors tensors_of(const Batch& batch) const {
    Tensors tensors;
    for (const BatchEntry& entry : inputs) tensors.push_back(entry.of(batch));
    return tensors;
  }

  /// `cache`: of the pass before this one, where the program is of one more token.
  ModelOutputs forward(const Batch& batch, std::vector<Tensor> cache = {}) const {
    std::vector<std::int64_t> values = sizes_of(batch);
    Tensors tensors = tensors_of(batch);
    Run& run = tensors[0].run();
    const bool is_whole = batch.labels || !unlabelled;
    const Interpreter& interpreter = is_whole ? calls->whole : calls->without_labels;
    return interpreter.forward(run, std::move(tensors), std::move(values), std::move(cache));
  }

  /// Whether the main body begins with the call of all but its head, and there is one: as transformers writes it,
  /// outputs = self.model(...).
  bool begins_with_backbone() const {
    const Statement& first = program.bodies.at(program.main).statements.front();
    return first.kind == Statement::Kind::call && !first.results.empty() && first.results[0].is_typed &&
           first.results[0].of == Result::Of::value && first.results[0].type.sizes.size() == 3;
  }

  ModelOutputs fused_forward(const Batch& batch, const ScoreKinds& kinds, Module& root, Module& head) const {
    std::vector<std::int64_t> values = sizes_of(batch);
    Tensors tensors = tensors_of(batch);
    Run& run = tensors[0].run();
    const InModule scope(run, root);
    Tensors outputs = calls->whole.backbone(run, std::move(tensors), std::move(values));
    return fused_head(head, std::move(outputs), batch.labels, batch.scored_tokens, kinds);
  }

  /// A strategy may have cut the batch: a dimension that is one symbol tells its value.
  static void take_sizes(const Tensor& tensor, const InputDeclaration& input, std::vector<std::int64_t>& values) {
    if (!tensor) return;
    for (std::size_t d = 0; d < input.type.sizes.size(); ++d)
      if (const auto symbol = input.type.sizes[d].as_symbol())
        values[*symbol] = tensor.whole_sizes()[static_cast<int>(d)];
  }

  const Program& program;
  const Context context;
  CheckpointableLayers layers;
  const std::optional<StackPaths> stack;
  const std::optional<Body> unlabelled;  // the main body without the loss, where that can be
  const Dtype computed;
  const bool checks;
  std::optional<Calls> calls;
  std::vector<std::int64_t> symbols;      // of the batch that was asked for
  const std::vector<BatchEntry> entries;  // in the order of the header
  std::vector<BatchEntry> inputs;         // of the main body
};

/// get_output_embeddings(); nullptr where there is none.
Module* output_embedding(Module& module) {
  if (is_output_embedding(module) && module.has_parameter("weight")) return &module;
  for (const std::unique_ptr<Module>& child : module.children())
    if (Module* const found = output_embedding(*child)) return found;
  return nullptr;
}

Stack stack_at(const StackPaths& paths, Module& root) {
  const auto modules = [&](const std::vector<std::string>& all) {
    std::vector<Module*> found;
    for (const std::string& path : all) found.push_back(find_module(root, path));
    return found;
  };
  return {modules(paths.before), find_module(root, paths.layers), modules(paths.behind), paths.features};
}

/// How a program was captured, by the keys of its header that say so; what a header leaves out goes with anything.
std::vector<std::pair<std::string, std::string>> mode_of(const Context& context) {
  const auto truth = [](bool holds) { return holds ? "true" : "false"; };
  constexpr const char* kExperts[] = {"grouped_mm", "batched_mm", "eager"};
  return {{"attention", context.attention == AttentionKind::eager ? "eager" : "sdpa"},
          {"cache", truth(context.use_cache)},
          {"experts", kExperts[static_cast<int>(context.experts)]},
          {"padding", truth(context.padding)}};
}

/// What transformers' configurations call how many tokens a model takes.
constexpr std::array kPositions{"max_position_embeddings", "n_positions", "max_target_positions", "max_seq_len"};

/// Of the attention, that of the text: "sdpa vision_config=eager" is what is made when sdpa is asked for.
bool was_captured_so(const Program& program, const Context& context) {
  for (const auto& [key, asked] : mode_of(context)) {
    const auto found = program.header.find(key);
    if (found != program.header.end() && found->second.substr(0, found->second.find(' ')) != asked) return false;
  }
  return true;
}

}  // namespace

bool has_size(const Program& program, std::string_view name) {
  const auto end = program.symbols.begin() + static_cast<std::ptrdiff_t>(program.sizes);
  return std::find(program.symbols.begin(), end, name) != end;
}

ImagePatches image_patches_of(const Value& config) {
  const std::int64_t side = patch_size(config);
  return {side > 0 ? side : side_in(config, "spatial_patch_size"), side_in(config, "spatial_merge_size")};
}

std::optional<Positions> positions_of(const Value& config) {
  const Value* text = config.find("text_config");
  for (const Value* part : {&config, text})
    for (const char* key : kPositions)
      if (const Value* longest = part ? part->find(key) : nullptr; longest && longest->as_integer())
        return Positions{key, *longest->as_integer()};
  return std::nullopt;
}

std::int64_t text_length(const Value& config, std::int64_t asked) {
  if (asked > 0) return asked;
  const std::optional<Positions> most = positions_of(config);
  return most ? std::min(most->count, kUsualTokens) : kUsualTokens;
}

const Program& program_for(std::span<const Program> programs, const Context& context) {
  for (const Program& program : programs)
    if (was_captured_so(program, context)) return program;
  std::vector<std::string> asked;
  for (const auto& [key, value] : mode_of(context)) asked.push_back(key + " " + value);
  throw Error(Errc::unsupported, fmt::format("no program was captured with {}", fmt::join(asked, ", ")),
              programs.front().file);
}

std::unique_ptr<Model> make_program_model(const Program& program, const Context& context, Dtype weights,
                                          bool checks_sizes, std::optional<Dtype> computed) {
  auto model = std::make_unique<Model>();
  const ProgramModel::Types types{weights, computed.value_or(weights)};
  const auto shared = std::make_shared<ProgramModel>(program, model->root, context, types, checks_sizes);
  model->forward = [shared](const Batch& batch) { return shared->forward(batch); };
  model->batch_sizes = [shared](const Data& data) { return shared->batch_sizes(data); };
  Module* const head = output_embedding(model->root);
  if (head && shared->begins_with_backbone())
    model->fused_forward = [shared, head, &root = model->root](const Batch& batch, const ScoreKinds& kinds) {
      return shared->fused_forward(batch, kinds, root, *head);
    };
  model->takes_positions =
      takes_positions(program) && std::any_of(program.inputs.begin(), program.inputs.end(),
                                              [](const InputDeclaration& input) { return is_of_sharing(input.name); });
  if (!shared->stack || !shared->unlabelled) return model;
  model->stack = stack_at(*shared->stack, model->root);
  model->was_cut = [shared, layers = model->stack->layers, &root = model->root] { shared->bind(root, layers); };
  return model;
}

void add_decode(Model& model, std::span<const Program> programs, const Context& context, Dtype weights) {
  std::map<std::int64_t, std::shared_ptr<ProgramModel>> from;
  for (const Program& program : programs) {
    const auto phase =
        std::make_shared<ProgramModel>(program, model.root, context, ProgramModel::Types{weights, weights}, true, true);
    from.emplace(phase->captured("S"), phase);
  }
  model.decode = [from = std::move(from)](const Batch& batch, std::int64_t tokens, std::vector<Tensor> cache) {
    ProgramModel& phase = *std::prev(from.upper_bound(tokens))->second;
    phase.set("S", tokens);
    return phase.forward(batch, std::move(cache));
  };
}

}  // namespace tidemark
