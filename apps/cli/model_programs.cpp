#include "model_programs.h"

#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "shipped_program.h"

namespace tidemark::cli {
namespace {

/// What a family's program is bound to (FamilyUse).
using Way = std::tuple<Attention, Checkpointing, std::int64_t, std::vector<std::string>, std::vector<std::string>,
                       std::vector<std::string>, ExpertsImplementation, UseCache, bool, std::int64_t, std::int64_t,
                       std::int64_t, std::string>;

class Family {
 public:
  Family(std::string file, Value model_config) : file_(std::move(file)), model_config_(std::move(model_config)) {}

  Programs operator()(const Spec& spec) {
    const Way way{
        spec.attn,
        spec.checkpointing,
        spec.checkpoint_every,
        spec.checkpoint_layers,
        spec.checkpoint_save,
        spec.checkpoint_save_layers,
        spec.experts_implementation,
        spec.use_cache,
        spec.padding,
        spec.seq,
        spec.images > 0 ? spec.batch : 0,  // of images alone is anything counted
        spec.images,
        spec.head};
    const std::lock_guard lock(mutex_);
    Programs& known = known_[way];
    if (!known) {
      std::vector<Program> programs;
      programs.push_back(program_of_family(file_, spec, model_config_));
      known = std::make_shared<const std::vector<Program>>(std::move(programs));
    }
    return known;
  }

 private:
  const std::string file_;
  const Value model_config_;
  std::mutex mutex_;
  std::map<Way, Programs> known_;
};

}  // namespace

std::function<Programs(const Spec&)> programs_of(Asked& asked) {
  capture_unknown(asked);
  if (!asked.family_file.empty()) {
    const auto family = std::make_shared<Family>(asked.family_file, asked.family_config);
    return [family](const Spec& spec) { return (*family)(spec); };
  }
  const auto all = std::make_shared<const std::vector<Program>>(std::move(asked.programs));
  return [all](const Spec&) { return all; };
}

}  // namespace tidemark::cli
