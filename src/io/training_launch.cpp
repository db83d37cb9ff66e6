#include "io/training_launch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "io/training_towers.h"

namespace tidemark::io {
namespace {

/// Variables of logging, networks and processors, which no allocation of a GPU depends on.
KeyNames neutral_variables() {
  return {"WANDB_*",        "HF_*",
          "HUGGING*",       "TOKENIZERS_*",
          "OMP_*",          "MKL_*",
          "NCCL_*",         "GLOO_*",
          "RANK",           "MASTER_*",
          "NODE_*",         "LOCAL_RANK",
          "USE_HF",         "MODELSCOPE_*",
          "PYTHON*",        "LOG*",
          "SWANLAB_*",      "NNODES",
          "FORCE_TORCHRUN", "PATH",
          "TMPDIR",         "DISABLE_VERSION_CHECK"};
}

/// The launchers that start one process for each GPU that is visible, unless a number says otherwise.  accelerate
/// (1.15.0): commands/launch.py; deepspeed (0.19.8): launcher/runner.py; llamafactory (0.9.5): launcher.py
bool starts_on_each_gpu(std::string_view launcher) {
  constexpr std::array<std::string_view, 5> kNames{"accelerate", "deepspeed", "llamafactory-cli", "trl", "axolotl"};
  return std::find(kNames.begin(), kNames.end(), launcher) != kNames.end();
}

/// "0,1,2,3"; nothing for a name that was not replaced.
std::int64_t count_visible(const std::string& list) {
  if (list.empty() || list.find('$') != std::string::npos) return 0;
  return std::count(list.begin(), list.end(), ',') + 1;
}

/// The options that accelerate's own file has as keys, over that file.  accelerate: commands/launch.py (1.15.0)
void read_accelerate_launch(TrainingKeys& launcher, TrainingArguments& arguments, TrainingDraft& draft) {
  Value config = Value::Map();
  std::string where = "accelerate launch";
  if (const auto file = launcher.text("config_file"); file && draft.files.read) {
    config = draft.files.read(*file);
    where = *file;
  }
  for (const char* key : {"num_processes", "num_machines", "mixed_precision"})
    if (const Value* said = launcher.find(key)) config.set(key, *said);
  if (launcher.boolean("use_deepspeed").value_or(false)) config.set("distributed_type", "DEEPSPEED");
  if (launcher.boolean("use_fsdp").value_or(false)) config.set("distributed_type", "FSDP");
  for (const char* key : {"deepspeed_config_file", "zero_stage"})
    if (const Value* said = launcher.find(key)) {
      Value deepspeed = config.find("deepspeed_config") ? *config.find("deepspeed_config") : Value(Value::Map());
      deepspeed.set(key, *said);
      config.set("deepspeed_config", deepspeed);
    }
  launcher.pass_over({"main_process_*", "machine_rank", "multi_gpu", "num_cpu_threads_per_process", "same_network",
                      "rdzv_*", "role", "module"});
  if (!draft.files.accelerate) read_accelerate(config, arguments, where, draft);
  if (!config.find("num_processes")) arguments.processes = 0;
}

void read_launcher(TrainingKeys& keys, TrainingArguments& arguments, TrainingDraft& draft) {
  TrainingKeys launcher = keys.map("launcher");
  const std::string name = launcher.text("name").value_or("");
  launcher.must_be("command", {"sft", "pt", "train", "dpo", "kto", "reward", "grpo"});
  if (name == "accelerate") read_accelerate_launch(launcher, arguments, draft);
  const auto each = launcher.integer("nproc_per_node");
  if (const auto all = launcher.integer("num_gpus")) arguments.processes = *all;
  if (each) arguments.processes = *each * launcher.integer("nnodes").value_or(1);
  launcher.pass_over(
      {"master_*", "node_rank", "rdzv_*", "standalone", "no_python", "include", "hostfile", "m", "program"});
  draft.note_unread(launcher, "launcher");
}

/// Several visible GPUs, of which no launcher makes a process each.
void read_visible(TrainingKeys& keys, TrainingKeys& environment, TrainingArguments& arguments, TrainingDraft& draft) {
  const auto list = environment.text("CUDA_VISIBLE_DEVICES");
  const std::int64_t visible = list ? count_visible(*list) : 0;
  if (visible == 0 || arguments.processes > 0 || draft.files.gpus > 0) return;
  const std::string launcher = keys.map("launcher").text("name").value_or("");
  if (starts_on_each_gpu(launcher) || visible == 1) {
    arguments.processes = visible;
  } else if (launcher != "torchrun") {
    environment.refuse(
        "CUDA_VISIBLE_DEVICES",
        fmt::format("one process on {} GPUs, which splits the model's layers or copies the model, is not "
                    "predicted",
                    visible),
        {"one GPU, or NPROC_PER_NODE", Takes::either});
    arguments.processes = 1;
  }
}

void read_processes(TrainingKeys& environment, TrainingArguments& arguments) {
  const auto each = environment.integer("NPROC_PER_NODE");
  if (each && arguments.processes == 0) arguments.processes = *each * environment.integer("NNODES").value_or(1);
}

}  // namespace

void read_launch(TrainingKeys& keys, TrainingArguments& arguments, TrainingDraft& draft) {
  TrainingKeys environment = keys.map("env");
  keys.find("config");  // the file that these keys were read from, too
  read_launcher(keys, arguments, draft);
  read_processes(environment, arguments);
  read_visible(keys, environment, arguments, draft);
  for (const char* key : {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"})
    if (const auto settings = environment.text(key)) draft.spec.allocator = *settings;
  if (draft.reads_image_limits) {
    if (const auto pixels = environment.integer("MAX_PIXELS")) take_image_limit("MAX_PIXELS", *pixels, draft);
    if (const auto tokens = environment.integer("IMAGE_MAX_TOKEN_NUM"))
      take_image_limit("IMAGE_MAX_TOKEN_NUM", *tokens * pixels_of_token(draft.model_config()), draft);
  }
  environment.pass_over(neutral_variables());
  const std::vector<std::string> unread = environment.unread();
  if (!unread.empty())
    draft.assume(fmt::format("variables of the environment that are not read: {}", fmt::join(unread, ", ")));
}

}  // namespace tidemark::io
