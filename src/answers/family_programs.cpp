#include "answers/family_programs.h"

#include <algorithm>
#include <compare>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "estimate/generation.h"
#include "estimate/predict.h"
#include "estimate/program.h"
#include "io/program_text.h"
#include "program/config_paths.h"

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
  std::int64_t seq, batch, images, target, generate;
  double audio_seconds;
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
          .target = use.target,
          .generate = spec.generate,
          .audio_seconds = use.audio_seconds,
          .image_size = spec.image_size,
          .head = spec.head,
          .autocast = std::move(use.autocast),
          .shares = use.shares,
          .transformers = std::move(use.transformers),
          .gathers_images = spec.parallel == Parallel::zero3 && spec.images > 0,
          .prepares_images = spec.quantization && spec.quantization->prepare && spec.images > 0,
          .routing_skew = use.context.routing_skew};
}

/// The release in "5.17.0/granite", or in a path that ends so.
std::string_view release_in(std::string_view name) {
  const std::string_view folder = name.substr(0, name.rfind('/'));
  return folder.substr(folder.rfind('/') + 1);
}

/// The section "modules" without classes, sizes and what is not saved: the tree of names, and dtypes of parameters and
/// persistent buffers.
std::vector<std::string_view> modules_in(std::string_view text) {
  std::vector<std::string_view> modules;
  const std::size_t begin = text.find("\nmodules ");
  for (std::size_t at = begin; at != std::string_view::npos && at + 1 < text.size();) {
    const std::size_t next = text.find('\n', at + 1);
    const std::string_view line = text.substr(at + 1, next == std::string_view::npos ? next : next - at - 1);
    if (at != begin && !line.starts_with(' ')) break;
    const std::string_view declared = line.substr(std::min(line.find_first_not_of(' '), line.size()));
    const bool is_tensor = declared.starts_with("param ") || declared.starts_with("buffer ");
    if (!declared.starts_with("attribute ") && !line.ends_with(" transient"))
      modules.push_back(line.substr(0, line.find(is_tensor ? '[' : ':')));
    at = next;
  }
  return modules;
}

/// Throws Error{unsupported} for a release whose tensors are found to differ from the program's.
void check_release(std::string_view asked, const Program& program) {
  const auto differs_on = program.header.find("differs_on");
  const std::string versions = differs_on == program.header.end() ? "" : fmt::format(" {} ", differs_on->second);
  if (!asked.empty() && versions.find(fmt::format(" {} ", asked)) != std::string::npos)
    throw Error(Errc::unsupported,
                fmt::format("the program of {} does not hold on transformers {}, whose tensors differ",
                            program.model_type, asked),
                "transformers", "run the program with tidemark run, or take another release (--transformers)");
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
        const std::string difference = known.refusal ? difference_of(spec, *family.text, known.refusal->message()) : "";
        if (!difference.empty())
          return {{},
                  Error(Errc::unsupported,
                        fmt::format("{} (transformers {} {})", known.refusal->message(), release_in(family.text->name),
                                    difference),
                        known.refusal->where(), known.refusal->hint())};
        return {bound(*family.text, spec, known.refusal), {}};
      } catch (const Error& error) {
        if (error.code() != Errc::unsupported) throw;
        if (!known.refusal) known.refusal = error;
      }
    }
    return known;
  }

  /// Other modules than the release of the spec, or another value of a key in `refusal`: partial_rotary_factor of
  /// GLM-4.1V (transformers 5.17.0, 5.24.0).  Empty without a difference.
  std::string difference_of(const Spec& spec, const FamilyText& family, std::string_view refusal) const {
    const FamilyText& first = *families_.front().text;
    if (spec.transformers.empty() || release_in(first.name) == release_in(family.name)) return "";
    if (modules_in(first.text) != modules_in(family.text)) return "has other modules or tensors";
    const FamilyUse use = family_use_of(spec, model_config_);
    const std::map<std::string, Value> values = io::family_key_values(family.text, family.name, model_config_, use);
    for (const auto& [path, value] : io::family_key_values(first.text, first.name, model_config_, use)) {
      const auto other = values.find(path);
      if (names_path(refusal, path) && (other == values.end() || other->second != value))
        return fmt::format("reads {} otherwise", path);
    }
    return "";
  }

  SharedPrograms bound(const FamilyText& family, const Spec& spec, const std::optional<Error>& passed_over) const {
    const auto read = [&](const Spec& one) {
      return io::read_family_text(family.text, family.name, model_config_, family_use_of(one, model_config_));
    };
    std::vector<Program> programs;
    programs.push_back(read(spec));
    if (spec.generate > 0)
      for (Program& program : decode_programs(spec, model_config_, read)) programs.push_back(std::move(program));
    check_towers(spec, programs.front());
    check_release(spec.transformers, programs.front());
    if (passed_over)
      programs.front().header.emplace(
          "passed_over", fmt::format("{}: {}", release_in(families_.front().text->name), passed_over->message()));
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
