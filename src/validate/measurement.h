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

  static void fields(RunOf& self, const FieldVisitor& visit);
};

/// What was published of another's prediction besides its figure.
struct PublishedVerdict {
  bool out_of_memory = false;    // whether it foretold that
  std::optional<bool> survived;  // in the second round of xMem's protocol: the run, limited to the figure

  static void fields(PublishedVerdict& self, const FieldVisitor& visit);
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

  static void fields(Measurement& self, const FieldVisitor& visit);
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

}  // namespace tidemark
