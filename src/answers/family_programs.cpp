#include "answers/family_programs.h"

#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "base/error.h"
#include "estimate/predict.h"
#include "estimate/program.h"
#include "io/program_text.h"
#include "zoo/model.h"

namespace tidemark::answers {
namespace {

/// What a family's program is bound to (FamilyUse), and whether it has to tell of image towers (check_towers).
using Way = std::tuple<Attention, Checkpointing, std::int64_t, std::vector<std::string>, std::vector<std::string>,
                       std::vector<std::string>, ExpertsImplementation, bool, bool, std::int64_t, std::int64_t,
                       std::int64_t, std::string, std::string, bool, std::int64_t, std::string, bool, bool, double>;

Way way_of(const Spec& spec, const Value& model_config) {
  const FamilyUse use = family_use_of(spec, model_config);
  return {spec.attn,
          spec.checkpointing,
          spec.checkpoint_every,
          spec.checkpoint_layers,
          spec.checkpoint_save,
          spec.checkpoint_save_layers,
          spec.experts_implementation,
          use.context.use_cache,
          spec.padding,
          spec.seq,
          spec.images > 0 || spec.seq == 0 ? use.batch : 0,  // of images, and of samples of these, alone is anything counted
          use.images,
          spec.image_size,
          spec.head,
          use.autocast,
          use.shares,
          use.transformers,
          spec.parallel == Parallel::zero3 && spec.images > 0,
          spec.quantization && spec.quantization->prepare && spec.images > 0,
          use.context.routing_skew};
}

bool is_written(const Value& model_config) {
  const Value* type = model_config.find("model_type");
  const std::string* name = type ? type->as_text() : nullptr;
  return name && is_written_family(*name);
}

class Family {
 public:
  Family(FamilyText text, Value model_config)
      : text_(std::move(text)),
        model_config_(std::move(model_config)),
        stands_for_written_(!text_.is_asked_for && is_written(model_config_)) {}

  SharedPrograms operator()(const Spec& spec) {
    const std::lock_guard lock(mutex_);
    SharedPrograms& known = known_[way_of(spec, model_config_)];
    if (!known) known = bound(spec);
    const bool answers = known->empty() || text_.is_asked_for ||
                         is_answered_by_program(spec, known->front().model_type, known->front().transformers);
    return answers ? known : none_;
  }

 private:
  bool is_taken_as_written(const Spec& spec) const {
    try {
      check_as_written(spec, model_config_);
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  /// None where the program does not hold, and the family as it is written does.
  SharedPrograms bound(const Spec& spec) const {
    if (stands_for_written_ && !is_taken_as_written(spec)) return none_;  // whose refusal is the better one
    try {
      std::vector<Program> programs;
      programs.push_back(io::read_family_text(text_.text, text_.name, model_config_, family_use_of(spec, model_config_)));
      check_towers(spec, programs.front());
      if (stands_for_written_) check_programs(spec, programs);
      return std::make_shared<const std::vector<Program>>(std::move(programs));
    } catch (const Error& error) {
      if (error.code() != Errc::unsupported || !stands_for_written_) throw;
      return none_;
    }
  }

  const FamilyText text_;
  const Value model_config_;
  const bool stands_for_written_;  // answers where the family is in C++, too, if it can
  const SharedPrograms none_ = std::make_shared<const std::vector<Program>>();
  std::mutex mutex_;
  std::map<Way, SharedPrograms> known_;
};

}  // namespace

ProgramsOf programs_of_family(FamilyText text, Value model_config) {
  const auto family = std::make_shared<Family>(std::move(text), std::move(model_config));
  return [family](const Spec& spec) { return (*family)(spec); };
}

ProgramsOf programs_as_they_are(std::vector<Program> programs) {
  const auto all = std::make_shared<const std::vector<Program>>(std::move(programs));
  return [all](const Spec&) { return all; };
}

}  // namespace tidemark::answers
