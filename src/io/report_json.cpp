#include "io/report_json.h"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "base/did_you_mean.h"
#include "base/error.h"
#include "estimate/verdict.h"
#include "io/json_reader.h"
#include "io/serving_json.h"
#include "io/timeline_json.h"
#include "io/value_json.h"

namespace tidemark::io {
namespace {

Phase read_phase(ObjectReader& reader) {
  const std::string name = reader.text("phase");
  std::vector<std::string> names;
  for (Phase phase :
       {Phase::load, Phase::forward, Phase::backward, Phase::optimizer, Phase::prefill, Phase::decode, Phase::other}) {
    if (name == name_of(phase)) return phase;
    names.emplace_back(name_of(phase));
  }
  throw Error(Errc::bad_file, fmt::format("\"{}\" is not a phase", name), reader.path("phase"),
              did_you_mean(name, names));
}

// Reads each element of the list with `read`, which gets an ObjectReader for it.
template <class Item, class Read>
std::vector<Item> read_list(ObjectReader& parent, const char* key, Read read) {
  std::vector<Item> items;
  const Json* list = parent.optional(key);
  if (!list) return items;
  if (!list->is_array()) parent.fail(key, "a list", *list);
  items.reserve(list->size());
  for (const Json& element : *list) {
    ObjectReader reader(element, fmt::format("{}[{}]", parent.path(key), items.size()));
    items.push_back(read(reader));
    reader.finish();
  }
  return items;
}

ReportCard read_report_card(ObjectReader reader) {
  ReportCard card;
  card.key = reader.text("key");
  card.name = reader.text("name");
  card.total_bytes = reader.number("total_bytes");
  card.driver_reserved_bytes = reader.number("driver_reserved_bytes");
  card.context_bytes = reader.number("context_bytes");
  if (reader.optional("wddm")) card.wddm = reader.boolean("wddm");
  reader.finish();
  return card;
}

Peak read_peak(ObjectReader reader) {
  Peak peak;
  peak.allocated_bytes = reader.number("allocated_bytes");
  peak.reserved_bytes = reader.number("reserved_bytes");
  if (reader.optional("device_bytes")) peak.device_bytes = reader.number("device_bytes");
  if (reader.optional("requested_bytes")) peak.requested_bytes = reader.number("requested_bytes");
  if (reader.optional("physical_bytes")) peak.physical_bytes = reader.number("physical_bytes");
  peak.step = reader.number("step");
  peak.phase = read_phase(reader);
  reader.finish();
  return peak;
}

BytesRange read_bytes_range(ObjectReader& reader) {
  return {reader.number("low_bytes"), reader.number("typical_bytes"), reader.number("high_bytes")};
}

DeviceItem read_device_item(ObjectReader& reader) {
  return {reader.text("name"), read_bytes_range(reader), reader.text("what")};
}

/// A process in the run does not know the bytes.
CommunicatorReport read_communicator(ObjectReader& reader) {
  CommunicatorReport one;
  one.communicator.name = reader.text("name");
  for (const Json& rank : reader.array("ranks"))
    one.communicator.ranks.push_back(whole_number(rank, reader.path("ranks")));
  if (one.communicator.ranks.empty()) reader.fail("ranks", "one rank at least", reader.any("ranks"));
  one.communicator.across_nodes = reader.boolean("across_nodes");
  one.communicator.collective = reader.boolean("collective");
  one.communicator.peers = reader.number("peers");
  if (reader.optional("typical_bytes")) one.bytes = read_bytes_range(reader);
  return one;
}

std::vector<std::int64_t> read_shape(ObjectReader& reader, const char* key) {
  std::vector<std::int64_t> shape;
  for (const Json& size : reader.array(key)) shape.push_back(whole_number(size, reader.path(key)));
  return shape;
}

VaryingInput read_varying_input(ObjectReader& reader) {
  return {reader.text("name"), reader.number("shapes"), read_shape(reader, "smallest"), read_shape(reader, "largest")};
}

DrawnInput read_drawn_input(ObjectReader& reader) {
  return {reader.text("name"),          reader.number("shapes"),   read_shape(reader, "smallest"),
          read_shape(reader, "median"), read_shape(reader, "p90"), read_shape(reader, "largest")};
}

StageReport read_stage(ObjectReader& reader) {
  return {reader.text("name"), reader.number("peak_allocated_bytes"), reader.number("kept_bytes")};
}

DataReport read_data(ObjectReader reader) {
  DataReport data;
  data.batches = reader.number("batches");
  data.trained_batches = reader.number("trained_batches");
  data.batches_per_step = reader.number("batches_per_step");
  data.whole = reader.boolean("whole");
  if (!data.whole) data.why = reader.text("why");
  data.largest_trained = reader.boolean("largest_trained");
  data.inputs = read_list<DrawnInput>(reader, "inputs", read_drawn_input);
  reader.finish();
  return data;
}

CompilingReport read_compiling(ObjectReader reader) {
  CompilingReport compiling{reader.number("graphs"), reader.number("peak_allocated_bytes"),
                            reader.number("peak_reserved_bytes")};
  reader.finish();
  return compiling;
}

Margin read_margin(ObjectReader reader) {
  Margin margin{reader.text("quantile"), reader.text("of"), reader.number("residuals"), reader.real("share"),
                reader.number("bytes")};
  reader.finish();
  return margin;
}

std::array<std::int64_t, 2> read_bounds(ObjectReader& reader, const char* key) {
  const Json& value = reader.array(key);
  if (value.size() != 2) reader.fail(key, "[low, high]", value);
  const std::array<std::int64_t, 2> bounds{whole_number(value[0], reader.path(key)),
                                           whole_number(value[1], reader.path(key))};
  if (bounds[0] > bounds[1]) throw Error(Errc::bad_file, "the lower bound is above the upper one", reader.path(key));
  return bounds;
}

Interval read_interval(ObjectReader reader) {
  Interval interval;
  const auto allocated = read_bounds(reader, "allocated_bytes"), reserved = read_bounds(reader, "reserved_bytes");
  interval.allocated_low_bytes = allocated[0], interval.allocated_high_bytes = allocated[1];
  interval.reserved_low_bytes = reserved[0], interval.reserved_high_bytes = reserved[1];
  interval.why = reader.text("why");
  reader.finish();
  return interval;
}

PhaseReport read_phase_report(ObjectReader& reader) {
  return {read_phase(reader), reader.number("peak_allocated_bytes"), reader.number("peak_reserved_bytes"),
          reader.number("end_allocated_bytes")};
}

StepReport read_step(ObjectReader& reader) {
  StepReport step;
  step.step = reader.number("step");
  step.peak_allocated_bytes = reader.number("peak_allocated_bytes");
  step.peak_reserved_bytes = reader.number("peak_reserved_bytes");
  step.end_allocated_bytes = reader.number("end_allocated_bytes");
  step.phases = read_list<PhaseReport>(reader, "phases", read_phase_report);
  return step;
}

AtPeak read_at_peak(ObjectReader reader) {
  const auto named = [](ObjectReader& r) { return NamedBytes{r.text("name"), r.number("bytes")}; };
  AtPeak at_peak;
  at_peak.by_category = read_list<NamedBytes>(reader, "by_category", named);
  at_peak.by_module = read_list<NamedBytes>(reader, "by_module", named);
  at_peak.by_line = read_list<NamedBytes>(reader, "by_line", named);
  at_peak.by_operation = read_list<NamedBytes>(reader, "by_operation", named);
  reader.finish();
  return at_peak;
}

TimelinePoint read_timeline_point(ObjectReader& reader) {
  return {reader.number("event"), reader.number("allocated_bytes"), reader.number("reserved_bytes"),
          reader.number("step"), read_phase(reader)};
}

CategoryOverTime read_category_over_time(ObjectReader& reader, std::size_t points) {
  CategoryOverTime one{.name = reader.text("name"), .bytes = {}};
  const Json& numbers = reader.array("bytes");
  if (numbers.size() != points)
    reader.fail("bytes", fmt::format("{} numbers, as the timeline has points", points), numbers.size());
  for (const Json& bytes : numbers) one.bytes.push_back(whole_number(bytes, reader.path("bytes")));
  return one;
}

OutOfMemoryReport read_oom(ObjectReader reader) {
  OutOfMemoryReport oom;
  oom.requested_bytes = reader.number("requested_bytes");
  if (reader.optional("in_use_bytes")) oom.in_use_bytes = reader.number("in_use_bytes");
  oom.message = reader.text("message");
  oom.step = reader.number("step");
  oom.phase = read_phase(reader);
  oom.where = reader.text("where");
  reader.finish();
  return oom;
}

GenerationReport read_generation(ObjectReader reader) {
  GenerationReport generation{.batch = reader.number("batch"),
                              .prompt_tokens = reader.number("prompt_tokens"),
                              .new_tokens = reader.number("new_tokens"),
                              .cache_bytes = reader.number("cache_bytes"),
                              .cached_tokens = reader.number("cached_tokens")};
  reader.finish();
  return generation;
}

KvCacheReport read_kv_cache(ObjectReader reader) {
  KvCacheReport cache{.layers = reader.number("layers"), .bytes_per_token = reader.number("bytes_per_token")};
  if (reader.optional("window")) {
    ObjectReader window = reader.object("window");
    cache.window_layers = window.number("layers");
    cache.window_bytes_per_token = window.number("bytes_per_token");
    cache.window_tokens = window.number("tokens");
    window.finish();
  }
  if (reader.optional("state_layers")) cache.state_layers = reader.number("state_layers");
  reader.finish();
  return cache;
}

Json to_json(const KvCacheReport& cache) {
  Json json{{"layers", cache.layers}, {"bytes_per_token", cache.bytes_per_token}};
  if (cache.window_layers > 0)
    json["window"] = {{"layers", cache.window_layers},
                      {"bytes_per_token", cache.window_bytes_per_token},
                      {"tokens", cache.window_tokens}};
  if (cache.state_layers > 0) json["state_layers"] = cache.state_layers;
  return json;
}

TrainingReport read_training(ObjectReader reader) {
  TrainingReport training;
  training.model_type = reader.text("model_type");
  training.options = value_from_json(reader.any("options").dump(), "training.options");
  training.parameters = reader.number("parameters");
  if (reader.optional("trained_parameters")) training.trained_parameters = reader.number("trained_parameters");
  reader.finish();
  return training;
}

ScriptInfo read_script(ObjectReader reader) {
  ScriptInfo script;
  for (const Json& word : reader.array("command")) {
    if (!word.is_string()) reader.fail("command", "a list of texts", word);
    script.command.push_back(word.get<std::string>());
  }
  const Json& code = reader.any("exit_code");
  if (!code.is_number_integer() && !code.is_null()) reader.fail("exit_code", "a whole number", code);
  script.exit_code = code.is_null() ? 0 : code.get<std::int64_t>();
  if (reader.optional("stopped_after_steps")) script.stopped_after_steps = reader.number("stopped_after_steps");
  reader.finish();
  return script;
}

RankOf read_rank(ObjectReader reader) {
  const RankOf rank{reader.number("rank"), reader.number("ranks"), reader.number("ranks_per_node")};
  reader.finish();
  return rank;
}

void read_texts(const char* key, ObjectReader& reader, std::map<std::string, std::string>& texts) {
  const Json* found = reader.optional(key);
  if (!found) return;
  if (!found->is_object()) reader.fail(key, "an object", *found);
  for (const auto& item : found->items()) {
    if (!item.value().is_string()) reader.fail(key, "texts", item.value());
    texts[item.key()] = item.value().get<std::string>();
  }
}

void read_optional_parts(ObjectReader& reader, Report& report) {
  if (reader.optional("card")) report.card = read_report_card(reader.object("card"));
  if (reader.optional("consistent")) report.consistent = reader.boolean("consistent");
  if (reader.optional("fits")) report.fits = reader.boolean("fits");
  if (reader.optional("verdict")) report.verdict = reader.text("verdict");
  if (reader.optional("margin")) report.margin = read_margin(reader.object("margin"));
  if (reader.optional("interval")) report.interval = read_interval(reader.object("interval"));
  if (reader.optional("at_peak")) report.at_peak = read_at_peak(reader.object("at_peak"));
  if (reader.optional("stages")) report.stages = read_list<StageReport>(reader, "stages", read_stage);
  if (reader.optional("data")) report.data = read_data(reader.object("data"));
  if (reader.optional("compiling")) report.compiling = read_compiling(reader.object("compiling"));
  if (reader.optional("serving")) report.serving = read_serving(reader.object("serving"));
  if (reader.optional("oom")) report.oom = read_oom(reader.object("oom"));
  if (reader.optional("training")) report.training = read_training(reader.object("training"));
  if (reader.optional("generation")) report.generation = read_generation(reader.object("generation"));
  if (reader.optional("kv_cache")) report.kv_cache = read_kv_cache(reader.object("kv_cache"));
  if (reader.optional("script")) report.script = read_script(reader.object("script"));
  read_texts("versions", reader, report.versions);
  read_texts("sources", reader, report.sources);
  if (reader.optional("host")) {
    ObjectReader host = reader.object("host");
    report.host.peak_rss_bytes = host.number("peak_rss_bytes");
    report.host.seconds = host.real("seconds");
    if (host.optional("pageable_bytes")) report.host.pageable_bytes = host.number("pageable_bytes");
    if (host.optional("pinned_bytes")) report.host.pinned_bytes = host.number("pinned_bytes");
    if (host.optional("managed_bytes")) report.host.managed_bytes = host.number("managed_bytes");
    host.finish();
  }
  if (reader.optional("rank")) report.rank = read_rank(reader.object("rank"));
}

RankReport read_rank_report(ObjectReader& reader) {
  RankReport row;
  row.rank = reader.number("rank");
  row.peak = read_peak(reader.object("peak"));
  if (reader.optional("pageable_bytes")) row.pageable_bytes = reader.number("pageable_bytes");
  if (reader.optional("pinned_bytes")) row.pinned_bytes = reader.number("pinned_bytes");
  if (reader.optional("fits")) row.fits = reader.boolean("fits");
  return row;
}

Json to_json(const std::vector<NamedBytes>& rows) {
  Json list = Json::array();
  for (const NamedBytes& row : rows) list.push_back({{"name", row.name}, {"bytes", row.bytes}});
  return list;
}

template <class Part>  // StepReport and PhaseReport
void put_peaks(Json& json, const Part& part) {
  json["peak_allocated_bytes"] = part.peak_allocated_bytes;
  json["peak_reserved_bytes"] = part.peak_reserved_bytes;
  json["end_allocated_bytes"] = part.end_allocated_bytes;
}

Json to_json(const Peak& peak) {
  Json json{{"allocated_bytes", peak.allocated_bytes},
            {"reserved_bytes", peak.reserved_bytes},
            {"device_bytes", peak.device_bytes},
            {"step", peak.step},
            {"phase", name_of(peak.phase)},
            {"requested_bytes", peak.requested_bytes}};
  if (peak.physical_bytes) json["physical_bytes"] = *peak.physical_bytes;
  return json;
}

void put_range(Json& json, const BytesRange& bytes) {
  json["low_bytes"] = bytes.low;
  json["typical_bytes"] = bytes.typical;
  json["high_bytes"] = bytes.high;
}

Json to_json(const DeviceItem& item) {
  Json json{{"name", item.name}};
  put_range(json, item.bytes);
  json["what"] = item.what;
  return json;
}

Json to_json(const CommunicatorReport& one) {
  Json json{{"name", one.communicator.name},
            {"ranks", one.communicator.ranks},
            {"across_nodes", one.communicator.across_nodes},
            {"collective", one.communicator.collective},
            {"peers", one.communicator.peers}};
  put_range(json, one.bytes);
  return json;
}

Json to_json(const StepReport& step) {
  Json json{{"step", step.step}};
  put_peaks(json, step);
  json["phases"] = Json::array();
  for (const PhaseReport& phase : step.phases) {
    Json row{{"phase", name_of(phase.phase)}};
    put_peaks(row, phase);
    json["phases"].push_back(std::move(row));
  }
  return json;
}

Json to_json(const VaryingInput& input) {
  return {{"name", input.name}, {"shapes", input.shapes}, {"smallest", input.smallest}, {"largest", input.largest}};
}

Json to_json(const DrawnInput& input) {
  return {{"name", input.name},     {"shapes", input.shapes}, {"smallest", input.smallest},
          {"median", input.median}, {"p90", input.p90},       {"largest", input.largest}};
}

Json to_json(const DataReport& data) {
  Json inputs = Json::array();
  for (const DrawnInput& input : data.inputs) inputs.push_back(to_json(input));
  Json json{
      {"batches", data.batches}, {"trained_batches", data.trained_batches}, {"batches_per_step", data.batches_per_step},
      {"whole", data.whole},     {"largest_trained", data.largest_trained}, {"inputs", std::move(inputs)}};
  if (!data.whole) json["why"] = data.why;
  return json;
}

Json to_json(const TrainingReport& training) {
  Json json = {{"model_type", training.model_type},
               {"options", Json::parse(value_to_json(training.options))},
               {"parameters", training.parameters}};
  if (training.trained_parameters) json["trained_parameters"] = *training.trained_parameters;
  return json;
}

Json to_json(const Interval& interval) {
  return {{"allocated_bytes", {interval.allocated_low_bytes, interval.allocated_high_bytes}},
          {"reserved_bytes", {interval.reserved_low_bytes, interval.reserved_high_bytes}},
          {"why", interval.why}};
}

Json to_json(const StageReport& stage) {
  return {{"name", stage.name}, {"peak_allocated_bytes", stage.peak_allocated_bytes}, {"kept_bytes", stage.kept_bytes}};
}

Json to_json(const CompilingReport& compiling) {
  return {{"graphs", compiling.graphs},
          {"peak_allocated_bytes", compiling.peak_allocated_bytes},
          {"peak_reserved_bytes", compiling.peak_reserved_bytes}};
}

Json to_json(const OutOfMemoryReport& oom) {
  Json json{{"requested_bytes", oom.requested_bytes}};
  if (oom.in_use_bytes) json["in_use_bytes"] = *oom.in_use_bytes;
  json["message"] = oom.message;
  json["step"] = oom.step;
  json["phase"] = name_of(oom.phase);
  json["where"] = oom.where;
  return json;
}

template <class T>
Json or_null(const std::optional<T>& value) {
  if constexpr (std::is_arithmetic_v<T>)
    return value ? Json(*value) : Json(nullptr);
  else
    return value ? to_json(*value) : Json(nullptr);
}

Json to_json(const RankReport& row) {
  Json json{{"rank", row.rank}, {"peak", to_json(row.peak)}, {"fits", or_null(row.fits)}};
  if (row.pageable_bytes) json["pageable_bytes"] = *row.pageable_bytes;
  if (row.pinned_bytes) json["pinned_bytes"] = *row.pinned_bytes;
  return json;
}

template <class T>
Json list_of(const std::vector<T>& items) {
  Json list = Json::array();
  for (const T& item : items) list.push_back(to_json(item));
  return list;
}

/// The lines between the braces of an object that is not empty.  Names can come from anywhere in a user's program;
/// bytes that are not UTF-8 are replaced, not fatal.
std::string members(const Json& object) {
  const std::string text = object.dump(1, ' ', false, Json::error_handler_t::replace);
  return text.substr(2, text.size() - 4);
}

}  // namespace

Report read_report(std::string_view text, const std::string& where) {
  const Json json = parse_json(text, where);
  ObjectReader reader(json, where);
  reader.schema(kReportSchema);
  Report report;
  report.engine = reader.text("engine");
  report.peak = read_peak(reader.object("peak"));
  report.device = read_list<DeviceItem>(reader, "device", read_device_item);
  report.communicators = read_list<CommunicatorReport>(reader, "communicators", read_communicator);
  report.steps = read_list<StepReport>(reader, "steps", read_step);
  report.varying_inputs = read_list<VaryingInput>(reader, "varying_inputs", read_varying_input);
  report.timeline = read_list<TimelinePoint>(reader, "timeline", read_timeline_point);
  report.timeline_by_category = read_list<CategoryOverTime>(reader, "timeline_by_category", [&](ObjectReader& r) {
    return read_category_over_time(r, report.timeline.size());
  });
  report.assumptions = read_list<Assumption>(reader, "assumptions", [](ObjectReader& r) {
    return Assumption{r.text("what"), r.text("where"), r.number("count")};
  });
  report.ranks = read_list<RankReport>(reader, "ranks", read_rank_report);
  if (reader.optional("remedies"))
    report.remedies = read_list<Remedy>(reader, "remedies", [](ObjectReader& r) {
      return Remedy{value_from_json(r.any("change").dump(), r.path("change")), r.number("device_bytes")};
    });
  read_optional_parts(reader, report);
  reader.finish();
  return report;
}

std::string write_report(const Report& report) {
  Json json{{"schema", kReportSchema}, {"engine", report.engine}};
  json["fits"] = or_null(report.fits);
  json["verdict"] = report.verdict;
  json["card"] = {{"key", report.card.key},
                  {"name", report.card.name},
                  {"total_bytes", report.card.total_bytes},
                  {"driver_reserved_bytes", report.card.driver_reserved_bytes},
                  {"context_bytes", report.card.context_bytes}};
  if (report.card.wddm) json["card"]["wddm"] = true;
  json["peak"] = to_json(report.peak);
  if (!report.device.empty()) json["device"] = list_of(report.device);
  if (!report.communicators.empty()) json["communicators"] = list_of(report.communicators);
  if (const auto& margin = report.margin)
    json["margin"] = {{"quantile", margin->quantile},
                      {"of", margin->of},
                      {"residuals", margin->residuals},
                      {"share", margin->share},
                      {"bytes", margin->bytes}};
  json["interval"] = or_null(report.interval);
  json["steps"] = list_of(report.steps);
  if (!report.stages.empty()) json["stages"] = list_of(report.stages);
  if (!report.varying_inputs.empty()) json["varying_inputs"] = list_of(report.varying_inputs);
  if (report.data) json["data"] = to_json(*report.data);
  if (report.compiling) json["compiling"] = to_json(*report.compiling);
  if (report.serving) json["serving"] = serving_to_json(*report.serving);
  json["at_peak"] = {{"by_category", to_json(report.at_peak.by_category)},
                     {"by_module", to_json(report.at_peak.by_module)},
                     {"by_line", to_json(report.at_peak.by_line)},
                     {"by_operation", to_json(report.at_peak.by_operation)}};
  // The timeline is most of a report: it is written by itself.
  const std::string before = members(json) + ",\n" + timeline_members(report);
  json = Json::object();
  json["oom"] = or_null(report.oom);
  for (const Remedy& one : report.remedies)
    json["remedies"].push_back(
        {{"change", Json::parse(value_to_json(one.change))}, {"device_bytes", one.device_bytes}});
  json["assumptions"] = Json::array();
  for (const Assumption& one : ranked_assumptions(report))
    json["assumptions"].push_back({{"what", one.what}, {"where", one.where}, {"count", one.count}});
  if (report.training) json["training"] = to_json(*report.training);
  if (report.generation)
    json["generation"] = {{"batch", report.generation->batch},
                          {"prompt_tokens", report.generation->prompt_tokens},
                          {"new_tokens", report.generation->new_tokens},
                          {"cache_bytes", report.generation->cache_bytes},
                          {"cached_tokens", report.generation->cached_tokens}};
  if (report.kv_cache) json["kv_cache"] = to_json(*report.kv_cache);
  json["versions"] = report.versions;
  if (!report.sources.empty()) json["sources"] = report.sources;
  json["script"] = {{"command", report.script.command},
                    {"exit_code", report.script.exit_code},
                    {"stopped_after_steps", or_null(report.script.stopped_after_steps)}};
  json["host"] = {{"peak_rss_bytes", report.host.peak_rss_bytes}, {"seconds", report.host.seconds}};
  if (report.host.pageable_bytes) json["host"]["pageable_bytes"] = *report.host.pageable_bytes;
  if (report.host.pinned_bytes) json["host"]["pinned_bytes"] = *report.host.pinned_bytes;
  if (report.host.managed_bytes > 0) json["host"]["managed_bytes"] = report.host.managed_bytes;
  if (report.rank)
    json["rank"] = {
        {"rank", report.rank->rank}, {"ranks", report.rank->ranks}, {"ranks_per_node", report.rank->ranks_per_node}};
  if (!report.ranks.empty()) json["ranks"] = list_of(report.ranks);
  if (report.consistent) json["consistent"] = *report.consistent;
  return "{\n" + before + ",\n" + members(json) + "\n}\n";
}

}  // namespace tidemark::io
