// One measured training: what was seen, by which setting, how an engine can be asked the same, and who else has
// estimated it.  The names of the fields are the keys of a row of a corpus (docs/reference/measurements.md).
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"

namespace tidemark {

inline constexpr std::array<std::string_view, 5> kMetricNames{"allocated", "active", "reserved", "device",
                                                              "device_over_start"};
enum class Metric { allocated, active, reserved, device, device_over_start };

/// How `tidemark run` repeats it.
struct RunOf {
  std::string script;  // a path, from the folder of the corpus
  std::vector<std::string> arguments;
  std::vector<std::string> start_arguments;  // with which it ends where the measuring began
  std::string environment;  // what has to be installed, by the name that the corpus gives it; empty: the default
  std::vector<std::string> options;  // of `tidemark run`, besides the card and the rank

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit);
};

/// What was published of another's prediction besides its figure.
struct PublishedVerdict {
  bool out_of_memory = false;    // whether it foretold that
  std::optional<bool> survived;  // in the second round of xMem's protocol: the run, limited to the figure

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit);
};

struct Measurement {
  std::string id, source;
  std::string model, family, modality, method;
  std::string gpu;
  std::optional<std::int64_t> memory_bytes;
  std::int64_t n_gpus = 1, rank = 0;
  std::optional<Metric> metric;
  std::optional<std::int64_t> measured_bytes;
  std::int64_t rounding_bytes = 0;
  std::optional<bool> out_of_memory;
  std::map<std::string, std::string> versions;
  Value predict;  // a spec, or null
  std::string predict_reason;
  std::optional<RunOf> run;
  std::string run_reason;
  std::optional<std::string> left_out;
  std::map<std::string, std::string> setting;
  std::map<std::string, std::int64_t> estimates;
  std::map<std::string, PublishedVerdict> verdicts;

  std::string where;  // file and line, for messages; no field

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit);

 private:
  template <class Self, class Visit>
  static void fields_of_engines(Self& self, Visit&& visit);
};

/// null stands for what is not known, as if the key were not there.  Throws Error{bad_value} and, for a key that does
/// not exist, Error{unknown_name}; `where` is file and line.
Measurement read_measurement(const Value& value, const std::string& where);

/// What `--by` and the `where` of a bar may name.
std::vector<std::string> group_fields();

/// Throws Error{unknown_name} naming the nearest unless `name` is one of them; `where` is the option or the key.
void check_group_field(const std::string& name, const std::string& where);

/// The value of one of them as a text; empty where it is not known.
std::string group_value(const Measurement& row, const std::string& corpus, const std::string& name);

/// "text", as a message quotes it, with the row's place.
std::string name_of_row(const Measurement& row);

template <class Self, class Visit>
void RunOf::fields(Self& self, Visit&& visit) {
  visit("script", self.script, FieldInfo{.help = "The program, a path from the corpus's folder"});
  visit("arguments", self.arguments, FieldInfo{.help = "Its arguments"});
  visit("start_arguments", self.start_arguments,
        FieldInfo{.help = "Those with which it ends where the measuring began: what it has then, device_over_start "
                          "leaves out (empty: the measuring began before it had anything)"});
  visit("environment", self.environment,
        FieldInfo{.help = "What must be installed, by the name that corpus.json gives it (empty: the default Python)"});
  visit("options", self.options, FieldInfo{.help = "Options of tidemark run, besides the card and the rank"});
}

template <class Self, class Visit>
void PublishedVerdict::fields(Self& self, Visit&& visit) {
  visit("out_of_memory", self.out_of_memory, FieldInfo{.help = "Whether it foretold that"});
  visit("survived", self.survived,
        FieldInfo{.help = "Whether the run survived when it was limited to the estimate (null: not tried)"});
}

template <class Self, class Visit>
void Measurement::fields(Self& self, Visit&& visit) {
  constexpr double kMostBytes = 1e15;
  visit("id", self.id, FieldInfo{.help = "Unique in its corpus", .group = "What"});
  visit("source", self.source, FieldInfo{.help = "repo@commit file, and where in it", .group = "What"});
  visit("model", self.model, FieldInfo{.help = "As the source names it", .group = "What"});
  visit("family", self.family, FieldInfo{.help = "model_type or architecture", .group = "What"});
  visit("modality", self.modality, FieldInfo{.help = "text, image, multimodal, audio, ...", .group = "What"});
  visit("method", self.method, FieldInfo{.help = "full, lora, qlora, zero2, fsdp2, ...", .group = "What"});
  visit("gpu", self.gpu, FieldInfo{.help = "A name that --gpu knows", .group = "What"});
  visit("memory_bytes", self.memory_bytes,
        FieldInfo{.help = "Another size of that card", .group = "What", .low = 1, .high = kMostBytes});
  visit("n_gpus", self.n_gpus,
        FieldInfo{.help = "GPUs that trained together", .group = "What", .low = 1, .high = 65536});
  visit("rank", self.rank, FieldInfo{.help = "The one that was measured", .group = "What", .low = 0, .high = 65535});
  visit("metric", self.metric,
        FieldInfo{.help = "The peak of what (device_over_start: of the device's memory above what was in use, the "
                          "context included, when the measuring began)",
                  .group = "Measured",
                  .names = kMetricNames});
  visit("measured_bytes", self.measured_bytes,
        FieldInfo{.help = "null: not known", .group = "Measured", .low = 1, .high = kMostBytes});
  visit("rounding_bytes", self.rounding_bytes,
        FieldInfo{.help = "Half a unit of what was published: a prediction so near has no error",
                  .group = "Measured",
                  .low = 0,
                  .high = kMostBytes});
  visit("out_of_memory", self.out_of_memory,
        FieldInfo{.help = "Whether the run ended so; measured_bytes is then no peak and is not compared",
                  .group = "Measured"});
  visit("versions", self.versions, FieldInfo{.help = "As the source states them", .group = "Measured"});
  fields_of_engines(self, visit);
}

template <class Self, class Visit>
void Measurement::fields_of_engines(Self& self, Visit&& visit) {
  constexpr double kMostBytes = 1e15;
  visit("predict", self.predict, FieldInfo{.help = "The spec that tidemark predict is asked", .group = "Engines"});
  visit("predict_reason", self.predict_reason, FieldInfo{.help = "Why there is none", .group = "Engines"});
  visit("run", self.run, FieldInfo{.help = "The program that tidemark run is given", .group = "Engines"});
  visit("run_reason", self.run_reason, FieldInfo{.help = "Why there is none", .group = "Engines"});
  visit("left_out", self.left_out,
        FieldInfo{.help = "Why no engine can be asked: what the source does not say", .group = "Engines"});
  visit("setting", self.setting,
        FieldInfo{.help = "How each thing is known that the figure depends on", .group = "Evidence"});
  visit("estimates", self.estimates,
        FieldInfo{
            .help = "What others predicted for the run, in bytes", .group = "Evidence", .low = 0, .high = kMostBytes});
  visit("verdicts", self.verdicts,
        FieldInfo{.help = "What they foretold, where it is more than whether the estimate is above the card's memory",
                  .group = "Evidence"});
}

}  // namespace tidemark
