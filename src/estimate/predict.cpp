#include "estimate/predict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "base/bytes.h"
#include "base/error.h"
#include "estimate/category_timeline.h"
#include "estimate/communicators.h"
#include "estimate/device.h"
#include "estimate/generation.h"
#include "estimate/interval.h"
#include "estimate/kv_cache.h"
#include "estimate/program.h"
#include "estimate/quantization.h"
#include "estimate/recorder.h"
#include "estimate/reference_config.h"
#include "estimate/releases.h"
#include "estimate/strategies.h"
#include "estimate/verdict.h"
#include "memory/allocator_settings.h"
#include "memory/driver_memory.h"
#include "ops/index.h"
#include "program/model.h"
#include "program/routed.h"
#include "tensor/mismatch.h"
#include "tensor/torch_rules.h"

namespace tidemark {
namespace {

RunConfig run_config(const Spec& spec, const Card& card, const PredictOptions& options) {
  RunConfig config{.card = card,
                   .allocator = {},
                   .on_event = options.on_event,
                   .keeps_history = options.on_event || options.interval || options.late || options.is_read,
                   .ask_cudnn = options.ask_cudnn};
  config.torch = &known_torch_rules(spec.torch);
  config.allocator.rules = config.torch->allocator;
  config.allocator.settings = parse_allocator_settings(spec.allocator, config.allocator.rules);
  config.allocator.device = {.total_bytes = card.wddm ? DriverMemory::kMostBytes : card.total_bytes,
                             .unavailable_bytes = card.driver_reserved_bytes,
                             .context_bytes = taken_at_start_bytes(card)};
  return config;
}

/// The lowest of torch.cuda.get_arch_list() of the wheels for CUDA 13, of torch 2.11.0 to 2.15.0.
void check_card(const Card& card, const std::string& torch) {
  constexpr std::int64_t kLowest = 75;
  const std::int64_t major = card.compute_capability_major, minor = card.compute_capability_minor;
  if (major * 10 + minor < kLowest)
    throw Error(
        Errc::unsupported,
        fmt::format("{} has compute capability {}.{}, for which torch {} with CUDA 13 has no kernels",
                    card.name.empty() ? card.key : card.name, major, minor, torch),
        "gpu",
        "the lowest that it runs on is 7.5, as of t4; torch 2.7.1 and older have kernels for 6.0 and 7.0: tidemark run "
        "follows them, with that torch in the program's environment");
  if (card.total_bytes > DriverMemory::kMostBytes)
    throw Error(Errc::bad_value,
                fmt::format("{} is more than any card that is simulated has", format_bytes(card.total_bytes)), "gpu",
                fmt::format("{} at most", format_bytes(DriverMemory::kMostBytes)));
}

OutOfMemoryReport out_of_memory(const DeviceOutOfMemory& full, const Run& run) {
  const Stage& stage = run.stage;
  return {.requested_bytes = full.requested_bytes,
          .in_use_bytes = full.in_use_bytes,
          .message = full.message,
          .step = stage.step,
          .phase = phase_of(stage),
          .where = full.where,
          .allocated_bytes = run.timeline().last().allocated_bytes};
}

struct Captured {
  const Program& program;
  Context context;
};

/// Of a model that has no sdpa, and where none is asked for, eager attention.
Captured captured_as(const Spec& spec, std::span<const Program> programs) {
  Context context = context_of(spec, programs.front().config);
  const bool has_sdpa = std::any_of(programs.begin(), programs.end(),
                                    [](const Program& program) { return program.attention != "eager"; });
  if (spec.attn == Attention::automatic && !has_sdpa) context.attention = AttentionKind::eager;
  return {program_for(programs, context), context};
}

/// Whether it goes through experts one by one as the tokens of its capture chose them: nothing in it tells how others
/// would.
bool is_of_balanced_experts(const Program& program) {
  if (std::find(program.symbols.begin(), program.symbols.end(), kSkew) != program.symbols.end()) return false;
  const auto asks_where = [](const Statement& statement) {
    return statement.name == "torch.where" && statement.arguments.size() == 1;
  };
  return std::any_of(program.bodies.begin(), program.bodies.end(), [&](const auto& body) {
    return std::any_of(body.second.statements.begin(), body.second.statements.end(), asks_where);
  });
}

/// What a program does not tell, and a strategy has to know.
void check_program(const Spec& spec, const Program& program) {
  if (spec.parallel == Parallel::ep && spec.experts_implementation == ExpertsImplementation::eager)
    throw Error(Errc::unsupported,
                "a captured program does not say how many tokens the experts of one rank get, run one by one",
                "experts_implementation");
  if (parse_routing(spec.moe_routing) > 0 && is_of_balanced_experts(program))
    throw Error(Errc::unsupported, "the program was captured of tokens that go round all experts in turn",
                "moe_routing", "write balanced, or run the program itself with tidemark run");
  const auto known = program.header.find("autocast");
  if (known != program.header.end() &&
      fmt::format(" {} ", known->second).find(fmt::format(" {} ", autocast_of(spec))) == std::string::npos)
    throw Error(Errc::unsupported,
                fmt::format("the model does under autocast what is not told by its program, which is of autocast {}",
                            known->second),
                "autocast", "have it captured so (--autocast), or run the program itself with tidemark run");
  check_towers(spec, program);
}

std::unique_ptr<Model> make_model(const Spec& spec, std::span<const Program> programs) {
  const Captured captured = captured_as(spec, programs);
  check_program(spec, captured.program);
  const bool checks_sizes = !spec.tp && !spec.cp && !spec.pp && spec.parallel != Parallel::ep;
  return make_program_model(captured.program, captured.context, dtype_of(spec.dtype), checks_sizes,
                            computed_dtype_of(spec));
}

/// Of kernels that transformers takes where they are installed (transformers: integrations/hub_kernels.py).
std::vector<std::string> noted_kernels(const Program& program) {
  const auto missing = program.header.find("without_kernels_of");
  if (missing == program.header.end()) return {};
  return {fmt::format(
      "the model runs in plain torch where it would take kernels of {}: with these installed it keeps other tensors",
      missing->second)};
}

/// Another release's program was asked first, and does not hold for this configuration.
std::vector<std::string> noted_release(const Program& program) {
  const auto passed_over = program.header.find("passed_over");
  if (passed_over == program.header.end()) return {};
  return {
      fmt::format("the program of transformers {} answers, as that of {}", program.transformers, passed_over->second)};
}

/// Of what the host draws, and decides by (python/tidemark/capture/chance.py).
std::vector<std::string> noted_chances(const Program& program) {
  const auto drawn = program.header.find("by_chance");
  if (drawn == program.header.end()) return {};
  return {fmt::format(
      "what the model draws by chance ({}) is as it takes the most memory: no layer is left out, and spans that "
      "are masked lie apart",
      drawn->second)};
}

/// Whether a table of that many positions cuts longer samples.  transformers: modeling_bert.py, position_ids
bool has_position_table(const ModuleDeclaration& module, const Program& program, const std::string& key) {
  const auto is_table = [&](const ParameterDeclaration& one) {
    if (one.name != "position_ids" || one.type.sizes.empty()) return false;
    const std::optional<std::size_t> size = one.type.sizes.back().as_symbol();
    return size && (program.symbols[*size] == key || program.symbols[*size] == "text_config." + key);
  };
  return std::any_of(module.parameters.begin(), module.parameters.end(), is_table) ||
         std::any_of(module.children.begin(), module.children.end(),
                     [&](const ModuleDeclaration& child) { return has_position_table(child, program, key); });
}

/// A sample that is longer than a model's table of positions has as many tokens as that; `notes` says so.
Spec within_positions(Spec spec, const Program& program, std::vector<std::string>& notes) {
  const auto most = positions_of(program.config);
  if (!most || most->count < 1 || spec.seq <= most->count) return spec;
  if (!has_position_table(program.root, program, std::string(most->key))) return spec;
  notes.push_back(
      fmt::format("a sample has {} tokens, the limit of the model ({}), not {}", most->count, most->key, spec.seq));
  spec.seq = most->count;
  return spec;
}

/// What a program alone tells of the configuration and the data.
std::vector<std::string> noted(const Spec& spec, const Program& program) {
  std::vector<std::string> keys, assumptions = noted_kernels(program);
  for (std::string& chance : noted_chances(program)) assumptions.push_back(std::move(chance));
  for (std::string& release : noted_release(program)) assumptions.push_back(std::move(release));
  for (const UnreadKey& one : program.unread)
    if (!is_of_every_class(one.key)) keys.push_back(one.path + (one.nearest.empty() ? "" : " (" + one.nearest + "?)"));
  if (!keys.empty())
    assumptions.push_back(
        fmt::format("config.json: transformers does not read {}, so it changes nothing", fmt::join(keys, ", ")));
  if (spec.seq > 0 && !has_size(program, "S"))
    assumptions.push_back("the model takes images alone, so seq changes nothing");
  const std::int64_t tokens = std::max(spec.seq, spec.target_seq);
  if (const auto most = positions_of(program.config); most && tokens > most->count)
    assumptions.push_back(
        fmt::format("{} tokens are more than the {} positions of the model ({}): where these are learned, the "
                    "lookup fails on a real card",
                    tokens, most->count, most->key));
  return assumptions;
}

/// Of what tools/capture/prove.py found.
std::string told_difference(const Program& program) {
  const auto differs = program.header.find("differs");
  if (differs == program.header.end()) return {};
  return fmt::format("; trainings of {} were not equal to what is predicted of it ({})", program.model_type,
                     differs->second);
}

/// Of the release of transformers that answers, `version`.
std::string told_of(const Program& program, std::string_view version) {
  if (program.is_of_own_module)
    return fmt::format("the model is a program, captured of {} with torch {}", program.class_name, program.torch);
  return fmt::format(
      "the model is a program, captured of transformers {} with torch {}{}{}", program.transformers, program.torch,
      version == program.transformers ? ""
                                      : fmt::format("; at the family's default configuration {} is equal", version),
      told_difference(program));
}

bool wraps_layers(const Spec& spec) { return spec.parallel == Parallel::fsdp1 || spec.parallel == Parallel::fsdp2; }

void count_parameters(Module& root, bool trains, Work& work) {
  visit_parameters(
      root, [&](const Module&, const Parameter& parameter) { work.parameter_bytes += parameter.tensor.bytes(); });
  if (!trains) return;
  for (const Tensor& parameter : trainable_parameters(root)) work.trained_bytes += parameter.bytes();
}

KnownRelease transformers_of(const Program& program, std::string_view asked) {
  const auto equal_on = program.header.find("equal_on");
  return captured_transformers(program.transformers, equal_on == program.header.end() ? "" : equal_on->second, asked);
}

/// Whether forward hands num_items_in_batch on to its loss: models of language do.  transformers:
/// modeling_layers.py, GenericForSequenceClassification.forward; models/bert/modeling_bert.py, BertForMaskedLM (5.24.0)
bool takes_items(const Program& program) {
  const auto told = program.header.find("loss_takes_items"), head = program.header.find("head");
  if (told != program.header.end()) return told->second == "true";
  if (head == program.header.end()) return !program.class_name.ends_with("ForSequenceClassification");
  return head->second == "causal_lm" || head->second == "image_text_to_text";
}

TrainingReport training_of(const Spec& spec, const Value& config, Module& root) {
  TrainingReport training{.model_type = model_type_of(config)};
  if (spec.method != Method::none) training.options.set("method", kMethodNames[static_cast<std::size_t>(spec.method)]);
  const Value changes = changes_of(read_spec(training.options), spec);
  for (const Value::Item& item : *changes.as_map())
    if (item.key != "model" && item.key != "generation_config" && item.key != "gpu" && item.key != "torch" &&
        item.key != "transformers")
      training.options.set(item.key, item.value);
  visit_parameters(
      root, [&](const Module&, const Parameter& parameter) { training.parameters += elements_of(parameter.sizes); });
  return training;
}

Report simulate(const Spec& spec, const ReferenceConfig& read, const Card& card, const PredictOptions& options) {
  const Value& model_config = read.config;
  const KnownRelease torch = known_torch(spec.torch);
  const KnownRelease transformers = transformers_of(options.programs.front(), spec.transformers);
  check_card(card, torch.version);
  Report report;
  report.engine = "predict";
  report.versions = {{"torch", torch.version}, {"transformers", transformers.version}};
  if (spec.gpus > 1) report.rank = {spec.rank, spec.gpus, ranks_per_node(spec)};
  Run run(run_config(spec, card, options));
  std::vector<std::unique_ptr<Model>> models;
  for (std::int64_t i = 0; i < (spec.pp ? spec.pp->stages_per_rank : 1); ++i)
    models.push_back(make_model(spec, options.programs));
  if (options.is_read) report.training = training_of(spec, read.config, models.front()->root);
  if (options.is_read) report.kv_cache = kv_cache_of(options.programs.front(), dtype_of(spec.dtype));
  if (has_second_model(spec)) models.push_back(make_model(spec, options.programs));
  Recorder recorder(run);
  for (const std::string& assumption : {torch.assumption, transformers.assumption})
    if (!assumption.empty()) recorder.assume(assumption);
  for (const std::string& assumption : read.first_assumptions) recorder.assume_first(assumption);
  for (const std::string& assumption : read.assumptions) recorder.assume(assumption);
  if (spec.quantization && spec.quantization->load_in_8bit && spec.quantization->threshold > 0)
    recorder.assume(fmt::format(
        "no activation reaches llm_int8_threshold, {:g}: the columns of those that do are kept and multiplied apart, "
        "which takes more",
        spec.quantization->threshold));
  recorder.assume(told_of(captured_as(spec, options.programs).program, transformers.version));
  if (options.programs.front().is_of_own_module && wraps_layers(spec))
    recorder.assume("what is wrapped by itself are the layers of every nn.ModuleList");
  StepOptions steps = step_options(spec);
  steps.repeat_steps = options.repeat_steps && !options.work;
  steps.passes = options.passes;
  run.work = options.work;
  try {
    Spec answered = spec;
    // How weights get there, the Trainer's loop and TRL's loss change with it.
    if (is_made_in_parts(spec) || spec.loop != LoopKind::plain) answered.transformers = transformers.version;
    steps.divided_items = divided_items_of(answered);
    steps.loss_takes_items = takes_items(options.programs.front());
    if (spec.generate > 0)
      run_generation(run, *models.front(), options.programs, answered, model_config, recorder,
                     report.generation.emplace());
    else
      run_program(run, models, answered, model_config, steps, recorder);
  } catch (const DeviceOutOfMemory& full) {
    // Where requests were repeated: the program would have let go of tensors on its way out.
    if (full.in_repetition && !options.on_event) throw NotRepeatable{};
    run.end();
    report.oom = out_of_memory(full, run);
    recorder.end_phase(run.stage.step, report.oom->phase);
  } catch (const EnoughPasses&) {
    run.end();
  } catch (const TensorMismatch& mismatch) {  // a program takes any numbers
    throw Error(Errc::bad_value, fmt::format("with these numbers PyTorch stops at {}", mismatch.what()), "config.json");
  }
  if (options.work) {
    const bool is_loaded = !report.oom || report.oom->phase != Phase::load;
    for (const auto& model : models) {
      const bool is_reference = has_second_model(spec) && model == models.back();
      if (is_loaded) count_parameters(model->root, !is_reference, *options.work);
    }
    options.work->operations = run.beginning.number;
  }
  recorder.fill(report);
  report.host.managed_bytes = run.managed_bytes;
  if (options.loaded) *options.loaded = recorder.loaded();
  if (options.is_read) report.timeline_by_category = categories_over_time(run);
  if (options.late) replay_late(run, *options.late);
  if (options.interval && !report.oom) report.interval = interval_of(run);
  for (Communicator& one : communicators_of(spec)) report.communicators.push_back({std::move(one), {}});
  report.engine_bytes = engine_bytes(spec, card);
  account_for_device(report, card);
  judge(report);
  return report;
}

/// Without repeated steps where they cannot be.
Report simulate_again(const Spec& spec, const ReferenceConfig& read, const Card& card, PredictOptions options) {
  try {
    return simulate(spec, read, card, options);
  } catch (const NotRepeatable&) {
    options.repeat_steps = false;
    return simulate(spec, read, card, options);
  }
}

/// A sample of no given length grows with its images; a given one that is too short is an error.
Spec with_tokens_of_images(Spec spec, const ImagesNeedTokens& few, ReferenceConfig& read) {
  constexpr std::int64_t kTextTokens = 512;
  if (spec.seq > 0)
    throw Error(Errc::bad_value, fmt::format("{} tokens hold no images of {}", few.sample_tokens, few.image_tokens),
                "seq", fmt::format("set it above {}, or image_size smaller", few.image_tokens));
  spec.seq = few.image_tokens + kTextTokens;
  read.first_assumptions.push_back(
      fmt::format("a sample has {} tokens, {} of images and {} of text, as --seq is missing", spec.seq,
                  few.image_tokens, kTextTokens));
  return spec;
}

}  // namespace

Report predict(const Spec& asked, const Value& model_config, const Card& card, const PredictOptions& options) {
  if (options.programs.empty()) throw no_program_of(model_type_of(model_config), {});
  ReferenceConfig read = as_transformers_reads(model_config);
  const Program& program = options.programs.front();
  Spec spec = read.quantization.is_null() ? asked : with_quantization_of(asked, read.quantization);
  if (spec.parallel == Parallel::none && spec.gpus > ranks_of_one_copy(spec)) {
    spec.parallel = Parallel::ddp;
    read.first_assumptions.push_back(
        "each GPU has a copy of the model (DistributedDataParallel), as nothing says how they share it (--parallel)");
  }
  spec = within_positions(std::move(spec), program, read.assumptions);
  std::vector<std::string> known = noted(spec, program);
  std::move(known.begin(), known.end(), std::back_inserter(read.assumptions));
  read.config = program.config;
  try {
    return simulate_again(spec, read, card, options);
  } catch (const ImagesNeedTokens& few) {
    return simulate_again(with_tokens_of_images(spec, few, read), read, card, options);
  }
}

void check_towers(const Spec& spec, const Program& program) {
  if (spec.images == 0) return;
  if (spec.parallel == Parallel::zero3 && !program.header.contains("looks"))
    throw Error(
        Errc::unsupported,
        fmt::format("the program of {} does not say which weights are read without being used, as image towers do "
                    "for their type, and ZeRO 3 gathers them",
                    program.model_type),
        "parallel");
  if (spec.quantization && spec.quantization->prepare && !program.header.contains("half_images"))
    throw Error(
        Errc::unsupported,
        fmt::format("the program of {} does not say which values follow the type of a tower's weights, which are "
                    "float32 while those of the rest are not",
                    program.model_type),
        "quantization.prepare", "leave it out, or run the program itself with tidemark run");
}

std::vector<OpInfo> known_ops() {
  std::vector<OpInfo> ops;
  for (const OpEntry& entry : op_entries()) ops.push_back({entry.name, entry.mirrors});
  return ops;
}

}  // namespace tidemark
