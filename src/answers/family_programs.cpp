#include "answers/family_programs.h"

#include <compare>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "estimate/predict.h"
#include "estimate/program.h"
#include "io/program_text.h"

namespace tidemark::answers {
namespace {

/// All of a spec that decides what a family's program is bound to (FamilyUse), and what it has to tell of image towers
/// (check_towers).
struct Way {
  Attention attn;
  Checkpointing checkpointing;
  std::int64_t checkpoint_every;
  std::vector<std::string> checkpoint_layers, checkpoint_save, checkpoint_save_layers;
  ExpertsImplementation experts;
  bool use_cache, padding;
  std::int64_t seq, batch, images;
  std::string image_size, head, autocast;
  std::int64_t shares;
  std::string transformers;
  bool gathers_images, prepares_images;
  double routing_skew;

  std::partial_ordering operator<=>(const Way&) const = default;
};

Way way_of(const Spec& spec, const Value& model_config) {
  FamilyUse use = family_use_of(spec, model_config);
  const bool counts_samples = spec.images > 0 || spec.seq == 0;  // else nothing is counted of them
  return {.attn = spec.attn,
          .checkpointing = spec.checkpointing,
          .checkpoint_every = spec.checkpoint_every,
          .checkpoint_layers = spec.checkpoint_layers,
          .checkpoint_save = spec.checkpoint_save,
          .checkpoint_save_layers = spec.checkpoint_save_layers,
          .experts = spec.experts_implementation,
          .use_cache = use.context.use_cache,
          .padding = spec.padding,
          .seq = spec.seq,
          .batch = counts_samples ? use.batch : 0,
          .images = use.images,
          .image_size = spec.image_size,
          .head = spec.head,
          .autocast = std::move(use.autocast),
          .shares = use.shares,
          .transformers = std::move(use.transformers),
          .gathers_images = spec.parallel == Parallel::zero3 && spec.images > 0,
          .prepares_images = spec.quantization && spec.quantization->prepare && spec.images > 0,
          .routing_skew = use.context.routing_skew};
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
