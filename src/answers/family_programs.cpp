#include "answers/family_programs.h"

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>

#include "base/error.h"
#include "estimate/predict.h"
#include "estimate/program.h"
#include "io/program_text.h"

namespace tidemark::answers {
namespace {

/// What a family's program is bound to (FamilyUse), and whether it has to tell of image towers (check_towers).
using Way =
    std::tuple<Attention, Checkpointing, std::int64_t, std::vector<std::string>, std::vector<std::string>,
               std::vector<std::string>, ExpertsImplementation, bool, bool, std::int64_t, std::int64_t, std::int64_t,
               std::string, std::string, std::string, std::int64_t, std::string, bool, bool, double>;

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
          spec.images > 0 || spec.seq == 0 ? use.batch
                                           : 0,  // of images, and of samples of these, alone is anything counted
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

class Families {
 public:
  Families(std::vector<TextOf> texts, Value model_config) : model_config_(std::move(model_config)) {
    for (TextOf& text : texts) families_.push_back({std::move(text), {}});
  }

  SharedPrograms operator()(const Spec& spec) {
    const std::lock_guard lock(mutex_);
    Known& known = known_[way_of(spec, model_config_)];
    if (!known.programs && !known.refusal) known = first_that_holds(spec);
    if (known.refusal) throw Error(*known.refusal);
    return known.programs;
  }

 private:
  struct Family {
    TextOf of;
    std::optional<FamilyText> text;  // when it has been needed
  };
  struct Known {
    SharedPrograms programs;
    std::optional<Error> refusal;
  };

  Known first_that_holds(const Spec& spec) {
    Known known;
    for (Family& family : families_) {
      if (!family.text) family.text = family.of();
      try {
        return {bound(*family.text, spec), {}};
      } catch (const Error& error) {
        if (error.code() != Errc::unsupported) throw;
        if (!known.refusal) known.refusal = error;
      }
    }
    return known;
  }

  SharedPrograms bound(const FamilyText& family, const Spec& spec) const {
    std::vector<Program> programs;
    programs.push_back(
        io::read_family_text(family.text, family.name, model_config_, family_use_of(spec, model_config_)));
    check_towers(spec, programs.front());
    return std::make_shared<const std::vector<Program>>(std::move(programs));
  }

  std::vector<Family> families_;
  const Value model_config_;
  std::mutex mutex_;
  std::map<Way, Known> known_;
};

}  // namespace

ProgramsOf programs_of_families(std::vector<TextOf> texts, Value model_config) {
  const auto families = std::make_shared<Families>(std::move(texts), std::move(model_config));
  return [families](const Spec& spec) { return (*families)(spec); };
}

ProgramsOf programs_as_they_are(std::vector<Program> programs) {
  const auto all = std::make_shared<const std::vector<Program>>(std::move(programs));
  return [all](const Spec&) { return all; };
}

}  // namespace tidemark::answers
