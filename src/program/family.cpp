#include "program/family.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/release.h"
#include "base/value_reader.h"
#include "program/config_paths.h"
#include "program/family_key.h"
#include "program/family_texts.h"
#include "program/layer_lists.h"
#include "program/line_reader.h"
#include "program/model.h"
#include "program/reads.h"
#include "program/routed.h"
#include "program/sample_lengths.h"
#include "program/scores.h"

namespace tidemark {
namespace {

/// Of the largest squares that Qwen2VLImageProcessor leaves as they are, where a checkpoint says no other size
/// (transformers 5.23.0: max_pixels = 28 * 28 * 1280).
constexpr std::int64_t kUsualTokensAcross = 35;

std::optional<double> real_of(const Value& value) {
  if (const double* real = value.as_real()) return *real;
  if (const std::int64_t* whole = value.as_integer()) return static_cast<double>(*whole);
  return std::nullopt;
}

bool compare(double a, std::string_view comparison, double b) {
  if (comparison == "==") return a == b;
  if (comparison == "!=") return a != b;
  return comparison == "<" ? a < b : comparison == "<=" ? a <= b : comparison == ">" ? a > b : a >= b;
}

constexpr std::int64_t kMostListed = 1 << 16;  // layers, of a list that names some

class FamilyReader {
 public:
  FamilyReader(const FamilyText& text, const std::string& file, ReadValue read_value, const Value& config,
               const FamilyUse& use)
      : text_(text.text), file_(file), read_value_(read_value), use_(use) {
    binding_.config = use.is_scored ? with_one_score(config) : config;
    binding_.first_line = text.line;
  }

  Program read() {
    header();
    std::vector<UnreadKey> unread = unread_keys(binding_.config, reads_, used_paths());
    check_keys_of_all();
    check_maps();
    check_class();
    count_labels();
    if (counts_images_ && count_.takes_text && use_.images == 0)  // its rows are as many as there are images
      throw Error(Errc::unsupported, fmt::format("the program of {} was captured with images (--images)", model_type_),
                  file_);
    if (count_.takes_text && use_.seq > 0 && use_.images > use_.seq)  // before any of them is written out
      throw Error(Errc::bad_value,
                  fmt::format("{} images are more than the {} tokens of a sample", use_.images, use_.seq), "images");
    bind();
    constexpr const char* kExperts[] = {"grouped_mm", "batched_mm", "eager"};
    mode_ = {{"experts", kExperts[static_cast<int>(use_.context.experts)]},
             {"padding", use_.context.padding},
             {"autocast", use_.autocast == "false" ? Value(false) : Value(use_.autocast)},
             {"checkpointing", use_.checkpointing},
             {"positions", use_.shares > 1}};
    for (const auto& [line, text] : holds_) {
      at_ = line;
      if ((!use_.is_scored || text != "num_labels > 1") && !is_so(text)) refuse(text);
    }
    choose_main();
    for (const Key& key : keys_) {
      if (!find_path(binding_.config, key.path)) set_path(binding_.config, key.path, key.value);
      if (const bool* flag = key.value.as_bool(); flag && *flag) binding_.flags.insert(key.path);
    }
    Program program = read_program(text_, file_, read_value_, &binding_);
    program.unread = std::move(unread);
    if (use_.shares == 1)  // other ways may take them
      std::erase_if(program.inputs, [](const InputDeclaration& input) { return is_of_sharing(input.name); });
    return program;
  }

  void add_key_values(std::map<std::string, Value>& values) {
    header();
    bind();
    for (const Key& key : keys_)
      if (key.is_known) values.emplace(key.path, key.value);
  }

 private:
  using Line = std::pair<int, std::string_view>;

  /// What transformers asks every configuration for, whether or not its class knows of it: a cache (5.17.0:
  /// cache_utils.py, DynamicCache) and PreTrainedModel (4.57.6: modeling_utils.py, post_init).  A program whose class
  /// does not was captured without.
  void check_keys_of_all() const {
    const std::vector<std::string> used = used_paths();
    for (const std::string& key : {std::string("attention_chunk_size"), std::string("gradient_checkpointing")}) {
      const Value* value = binding_.config.find(key);
      const bool is_known = std::find(used.begin(), used.end(), key) != used.end();
      if (value && !is_known && !value->is_null() && *value != Value(false))
        throw Error(
            Errc::unsupported,
            fmt::format("the program of {} was captured without {}, which is {}", model_type_, key, told(*value)),
            file_);
    }
  }

  /// What has a key within it is a map, or a list.
  void check_maps() const {
    for (const Key& key : keys_) {
      const std::string above = key.path.substr(0, key.path.rfind('.'));
      const Value* value = above == key.path ? nullptr : find_path(binding_.config, above);
      if (value && !value->is_null() && !value->as_map() && !value->as_list())
        fail_expected("a map", *value, {"config.json", above});
    }
  }

  LineReader reader_of(std::string_view text) const { return {text, file_ + ":" + std::to_string(at_)}; }

  void header() {
    std::string_view rest = text_;
    for (at_ = binding_.first_line; !rest.empty() && !rest.starts_with("modules "); ++at_) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      LineReader reader = reader_of(line);
      if (reader.take_word("key"))
        keys_.push_back(read_key(reader, read_value_, file_));
      else if (reader.take_word("part"))
        add_part(reader);
      else if (reader.take_word("holds"))
        holds_.emplace_back(at_, line.substr(6));
      else if (reader.take_word("main"))
        mains_.emplace_back(at_, line.substr(5));
      else if (reader.take_word("model_type"))
        model_type_ = reader.name("_.-");
      else if (reader.take_word("transformers"))
        binding_.release = reader.name("_.-+");
      else if (reader.take_word("equal_on"))
        binding_.release = nearest_captured(binding_.release, line.substr(9), use_.transformers);
      else if (reader.take_word("class"))
        class_ = reader.name("_");
      else if (reader.take_word("head"))
        head_ = reader.name("_");
      else if (reader.take_word("instead"))
        while (!reader.at_end()) instead_.insert(reader.name("_"));
      else if (reader.take_word("sizes"))
        read_sizes(reader);
      else if (reader.take_word("input"))
        count_.add(line.substr(6));
      else if (reader.take_word("reads"))
        reads_.push_back(read_reads(reader));
    }
  }

  void read_sizes(LineReader& reader) {
    while (!reader.at_end()) {
      const std::string name = reader.name("_");
      reader.expect("=");
      const std::int64_t value = reader.number(" ", {})({});
      counts_images_ |= name == "images";
      if (name.starts_with("grid_")) grid_.emplace_back(name, value);
    }
  }

  /// Patches down and across of images whose size is said, or that tokens are made of; else those of the capture.
  void count_patches() {
    const auto of_vision = [&](const char* key, std::int64_t usual) {
      const Value* value = value_of(fmt::format("vision_config.{}", key));
      return value && value->as_integer() ? *value->as_integer() : usual;
    };
    const std::int64_t patch = of_vision("patch_size", 0), merged = of_vision("spatial_merge_size", 1);
    const std::int64_t usual = kUsualTokensAcross * merged;
    if (patch <= 0 || merged <= 0 || (use_.image_height == 0 && merged == 1)) return;
    const auto patches = [&](std::int64_t pixels) {
      return use_.image_height > 0 ? std::max<std::int64_t>(pixels / patch, 1) : usual;
    };
    for (auto& [name, value] : grid_) value = patches(name == "grid_h" ? use_.image_height : use_.image_width);
  }

  /// A configuration may name another class of the family that is trained.
  void check_class() const {
    if (use_.head == head_) return;  // whatever the file was written by
    if (use_.head != "auto")
      throw Error(Errc::unsupported, fmt::format("the program of {} is trained for {}", model_type_, head_), file_);
    const Value* named = binding_.config.find("architectures");
    const Value::List* classes = named ? named->as_list() : nullptr;
    for (std::size_t i = 0; classes && i < classes->size(); ++i)
      if (const std::string* name = (*classes)[i].as_text(); name && instead_.contains(*name))
        throw Error(Errc::unsupported, fmt::format("the program of {} is of {}, not of {}", model_type_, class_, *name),
                    file_);
  }

  /// Classes are counted by what the configuration calls them, if it does (PreTrainedConfig.num_labels, 5.23.0); two
  /// where nobody says.
  void count_labels() {
    if (!head_.ends_with("classification")) return;
    const Value *names = binding_.config.find("id2label"), *count = binding_.config.find("num_labels");
    std::int64_t labels = 2;
    if (names && names->as_map() && count && count->as_integer() &&
        *count->as_integer() != std::ssize(*names->as_map()))
      throw Error(Errc::bad_value,
                  fmt::format("it says {}, and id2label names {}", *count->as_integer(), names->as_map()->size()),
                  "config.json: num_labels", "leave one of them out");
    if (names && names->as_map())
      labels = std::ssize(*names->as_map());
    else if (count && count->as_integer())
      labels = *count->as_integer();
    if (std::ranges::any_of(keys_, [](const Key& key) { return key.path == "num_labels"; }))
      set_path(binding_.config, "num_labels", labels);
    else if (labels != 2)
      throw Error(Errc::unsupported,
                  fmt::format("the program of {} tells two classes apart, not {}", model_type_, labels), file_);
    const Value* problem = binding_.config.find("problem_type");
    if (problem && problem->as_text() && *problem->as_text() != "single_label_classification")
      throw Error(Errc::unsupported, fmt::format("the program of {} is of single_label_classification", model_type_),
                  file_);
  }

  std::vector<std::string> used_paths() const {
    std::vector<std::string> paths;
    for (const Key& key : keys_) {
      paths.push_back(key.path);
      paths.insert(paths.end(), key.others.begin(), key.others.end());
      for (const auto& [word, letters] : key.words) paths.push_back(word);
    }
    return paths;
  }

  /// "part vision_config = {…}": what the class takes where there is none, which may not be the part's own defaults.
  void add_part(LineReader& reader) {
    const std::string name = reader.name("_");
    reader.expect("=");
    parts_.emplace(name, list(reader));
  }

  void take_from_part(Key& key) const {
    const std::size_t dot = key.path.find('.');
    const auto part = parts_.find(key.path.substr(0, dot));
    if (dot == std::string::npos || part == parts_.end()) return;
    const Value* own = binding_.config.find(part->first);
    const Value* found = own && !own->is_null() ? nullptr : find_path(part->second, key.path.substr(dot + 1));
    if (!found) return;
    key.value = *found;
    key.is_known = true;
  }

  /// Values, then defaults that are numbers or words, then those that are made of others.
  void bind() {
    for (Key& key : keys_) {
      find_value(key, binding_.config);
      if (!key.is_known) take_from_part(key);
      if (key.is_known || !is_literal(key.fallback)) continue;
      key.value = read_value_(key.fallback, file_);
      key.is_known = true;
    }
    count_patches();
    collect();
    for (std::size_t round = 0; round < keys_.size(); ++round)
      for (Key& key : keys_) {
        if (key.is_known) continue;
        try {
          key.value = Expression::parse(key.fallback, names_, file_)(values_);
        } catch (const Error&) {
          continue;  // of a key whose own default is not known yet
        }
        key.is_known = true;
        collect();
      }
    for (const Key& key : keys_) {
      for (auto& number : numbers_of(key)) binding_.numbers.push_back(std::move(number));
      if (std::vector<std::string> words = words_of(key.value); !words.empty())
        binding_.orders.emplace(key.path, std::move(words));
    }
  }

  /// Of a list its whole numbers: "indexes.0" is the first, "indexes.count" how many there are.
  static std::vector<std::pair<std::string, std::int64_t>> numbers_of(const Key& key) {
    std::vector<std::pair<std::string, std::int64_t>> numbers;
    if (!key.is_known) return numbers;
    if (const std::int64_t* number = key.value.as_integer()) numbers.emplace_back(key.path, *number);
    const Value::List* entries = key.value.as_list();
    for (std::size_t i = 0; entries && i < entries->size(); ++i)
      if (const std::int64_t* number = (*entries)[i].as_integer())
        numbers.emplace_back(fmt::format("{}.{}", key.path, i), *number);
    if (entries) numbers.emplace_back(key.path + ".count", std::ssize(*entries));
    return numbers;
  }

  void collect() {
    const SampleLengths lengths = bounded_lengths();
    binding_.sizes = {{"S", lengths.seq / use_.shares},
                      {"target", lengths.target},
                      {"B", use_.batch},
                      {"images", use_.batch * use_.images},
                      {std::string(kSkew), std::llround(use_.context.routing_skew * static_cast<double>(kSkewOfAll))}};
    binding_.sizes.insert(binding_.sizes.end(), grid_.begin(), grid_.end());
    names_.clear();
    values_.clear();
    const auto name = [&](const std::vector<std::pair<std::string, std::int64_t>>& numbers) {
      for (const auto& [path, number] : numbers) {
        names_.push_back(path);
        values_.push_back(number);
      }
    };
    name(binding_.sizes);
    for (const Key& key : keys_) name(numbers_of(key));
  }

  /// Tokens of a sample: no more than there are positions, where the program holds for those alone.
  SampleLengths bounded_lengths() const {
    constexpr std::string_view limit = "S <= ";
    SampleLengths lengths = sample_lengths(count_, with_positions(), {use_.seq, use_.target, use_.audio_seconds});
    for (const auto& [line, text] : holds_) {
      const Value* most = text.starts_with(limit) ? value_of(std::string(text.substr(limit.size()))) : nullptr;
      if (most && most->as_integer()) lengths.seq = std::min(lengths.seq, *most->as_integer());
    }
    return lengths;
  }

  /// Of a configuration that leaves out how many tokens there may be, what the class has.
  Value with_positions() const {
    Value config = binding_.config;
    for (const Key& key : keys_)
      if (key.is_known && key.value.as_integer() && key.path.ends_with("max_position_embeddings") &&
          !find_path(config, key.path))
        set_path(config, key.path, key.value);
    return config;
  }

  const Value* value_of(const std::string& path) const {
    for (const auto& [name, value] : mode_)
      if (name == path) return &value;
    for (const Key& key : keys_)
      if (key.path == path && key.is_known) return &key.value;
    return nullptr;
  }

  /// "hidden_act == "silu"", "rope_type in ["default"]", "layer_types cycles ["a", "b"]", "moe_layers numbers layers in
  /// [true]", "S <= sliding_window"
  bool is_so(std::string_view text) const {
    LineReader reader = reader_of(text);
    LineReader named = reader;
    if (!reader.rest().empty() && reader.rest().find_first_of("_abcdefghijklmnopqrstuvwxyz") == 0) {
      const std::string path = named.name("_.");
      const Value* value = value_of(path);
      if (value && named.take_word("spells")) return spells(path, *value, named);
      if (value && named.take_word("in")) return is_one_of(*value, list(named));
      if (value && named.take_word("cycles")) return cycles(*value, named);
      if (value && named.take_word("numbers")) return numbers(*value, named);
      if (value && named.take_word("rises")) return rises(*value, named);
      if (value && named.take_word("of")) return is_of_kinds(*value, named);
      if (value && !value->as_integer()) return is_literal_so(*value, named);
    }
    return is_number_so(reader);
  }

  Value list(LineReader& reader) const {
    reader.at_end();
    return read_value_(reader.rest(), file_);
  }

  static bool is_one_of(const Value& value, const Value& options) {
    const Value::List* list = options.as_list();
    return list && std::find(list->begin(), list->end(), value) != list->end();
  }

  /// Two lists with a word between, of which there may be but the first.
  std::pair<Value, Value> two_lists(LineReader& reader, std::string_view between) const {
    reader.at_end();
    const std::string_view text = reader.rest();
    const std::size_t at = text.find(between);
    return {read_value_(text.substr(0, at), file_),
            at == std::string_view::npos ? Value(Value::List()) : read_value_(text.substr(at + between.size()), file_)};
  }

  /// `["b"] after ["a"]`: one a, and then b round and round.
  bool cycles(const Value& value, LineReader& reader) const {
    if (value.is_null()) return true;
    const auto [cycle, before] = two_lists(reader, " after ");
    return goes_round(value, cycle, before);
  }

  /// `layers in [false, true]`: the numbers of those of so many whose entry, round and round, is true.
  bool numbers(const Value& value, LineReader& reader) const {
    if (value.is_null()) return true;
    const Value* count = value_of(reader.name("_."));
    const std::int64_t* layers = count ? count->as_integer() : nullptr;
    const Value::List* listed = value.as_list();
    if (!listed || !layers || *layers > kMostListed || !reader.take_word("in")) return false;
    Value::List among(static_cast<std::size_t>(std::max<std::int64_t>(*layers, 0)), Value(false));
    for (const Value& entry : *listed) {
      const std::int64_t* number = entry.as_integer();
      if (!number || *number < 0 || *number >= *layers) return false;
      among[static_cast<std::size_t>(*number)] = Value(true);
    }
    return cycles(Value(std::move(among)), reader);
  }

  /// `["a", "b"] with ["b"]`: layers of these kinds in any order, and of some kinds at least one.
  bool is_of_kinds(const Value& value, LineReader& reader) const {
    const auto [kinds, needed] = two_lists(reader, " with ");
    return are_of_kinds(value, kinds, needed);
  }

  /// `layers of ["a", "b"]`: [[kinds, how often], …] comes to so many layers, each of these kinds.
  bool spells(const std::string& path, const Value& value, LineReader& reader) const {
    const std::int64_t layers = reader.number(" ", names_)(values_);
    reader.expect("of ");
    const std::optional<double> spelled = layers_spelled(value, list(reader));
    if (spelled && *spelled != static_cast<double>(layers))
      throw Error(Errc::bad_value, fmt::format("it names {} layers, and there are {}", *spelled, layers),
                  "config.json: " + path);
    return spelled.has_value();
  }

  /// "rises 3 below depth": so many numbers of layers, in their order.
  bool rises(const Value& value, LineReader& reader) const {
    const std::int64_t count = reader.number(" ", {})({});
    reader.expect("below ");
    const std::int64_t layers = Expression::parse(reader.rest(), names_, file_)(values_);
    return are_rising(value, count, layers);
  }

  bool is_literal_so(const Value& value, LineReader& reader) const {
    const std::string comparison(comparison_of(reader));
    const Value wanted = list(reader);
    const std::optional<double> a = real_of(value), b = real_of(wanted);
    if (a && b) return compare(*a, comparison, *b);
    return comparison == (value == wanted ? "==" : "!=");
  }

  std::string comparison_of(LineReader& reader) const {
    for (const char* known : {"==", "!=", "<=", ">=", "<", ">"})
      if (reader.take(known)) return known;
    reader.fail(fmt::format("expected a comparison, found \"{}\"", reader.rest()));
  }

  /// A number that the configuration says is none is in no relation to others.
  bool names_null(std::string_view text) const {
    return std::any_of(keys_.begin(), keys_.end(), [&](const Key& key) {
      return key.is_known && key.value.is_null() && names_path(text, key.path);
    });
  }

  bool is_number_so(LineReader& reader) const {
    if (names_null(reader.rest())) return false;
    const std::string_view left = reader.until("<>=!");
    const std::string comparison = comparison_of(reader);
    reader.at_end();
    const std::string where = file_ + ":" + std::to_string(at_);
    const auto number = [&](std::string_view text) {
      return static_cast<double>(Expression::parse(text, names_, where)(values_));
    };
    if (is_literal(reader.rest()) && reader.rest().find_first_not_of("-0123456789") != std::string_view::npos) {
      const std::optional<double> real = real_of(list(reader));  // 0 is 0.0; else a number where it holds for a word
      return real && compare(number(left), comparison, *real);
    }
    return compare(number(left), comparison, number(reader.rest()));
  }

  static bool is_key_of_spec(std::string_view path) {
    return path == "padding" || path == "autocast" || path == "checkpointing";
  }

  /// What the two kinds of autocast are, which a question does not name.
  static const char* hint_of(std::string_view path) {
    if (path != "autocast") return "";
    return "\"own\" is autocast to the dtype of the weights, \"other\" to another than theirs (--dtype); a Python environment "
           "with torch and transformers answers for both";
  }

  [[noreturn]] void refuse(std::string_view condition) const {
    const std::string path = reader_of(condition).name("_.");
    const Value* value = value_of(path);
    throw Error(Errc::unsupported,
                fmt::format("the program of {} holds for {} alone{}", model_type_, condition,
                            value ? fmt::format(", and {} is {}", path, told(*value)) : ""),
                is_key_of_spec(path) ? path : file_, hint_of(path));
  }

  /// What can be asked for otherwise, and is named before what cannot.
  bool is_of_spec(std::string_view condition) const { return is_key_of_spec(reader_of(condition).name("_.")); }

  /// The first body whose conditions hold.
  void choose_main() {
    const std::size_t said = mode_.size();
    const bool either = use_.any_attention && use_.context.attention == AttentionKind::sdpa;
    for (const char* attention : {"sdpa", "eager"}) {
      const bool is_asked =
          (use_.context.attention == AttentionKind::eager) == (std::string_view(attention) == "eager");
      if (!either && !is_asked) continue;
      mode_.resize(said);
      mode_.emplace_back("attention", attention);
      mode_.emplace_back("cache", use_.context.use_cache);
      for (const auto& [line, text] : mains_)
        if (takes(line, text)) return;
    }
    const auto is_of_key = [&](const Key& key) { return key.path == reader_of(nearest_.condition).name("_."); };
    if (!nearest_.condition.empty() &&
        (is_of_spec(nearest_.condition) || std::any_of(keys_.begin(), keys_.end(), is_of_key)))
      refuse(nearest_.condition);
    if (use_.shares > 1)
      throw Error(Errc::unsupported,
                  fmt::format("the program of {} does not hold for a part of the tokens of each sample", model_type_),
                  "cp");
    throw Error(Errc::unsupported,
                fmt::format("the program of {} does not hold for attention {}, cache {}, {} tokens", model_type_,
                            use_.context.attention == AttentionKind::eager ? "eager" : "sdpa", use_.context.use_cache,
                            values_[0]),
                file_);
  }

  /// "LlamaForCausalLM#1 when attention == "sdpa", S <= sliding_window"
  bool takes(int line, std::string_view text) {
    at_ = line;
    if (use_.shares > 1 && text.find("positions == true") == std::string_view::npos) return false;
    LineReader reader = reader_of(text);
    const std::string name = reader.name("_.#");
    if (reader.take_word("when"))
      for (int held = 0; !reader.at_end(); ++held) {
        const std::string_view condition = reader.until(",");
        if (!is_so(condition)) {
          if (held > nearest_.held || (held == nearest_.held && is_of_spec(condition))) nearest_ = {held, condition};
          return false;
        }
        reader.take(",");
      }
    binding_.main = name;
    for (const auto& [key, value] : mode_) binding_.mode[key] = value.as_text() ? *value.as_text() : told(value);
    return true;
  }

  std::string_view text_;
  const std::string& file_;
  ReadValue read_value_;
  const FamilyUse& use_;
  Binding binding_;
  std::string model_type_ = "the family", class_, head_;
  std::set<std::string> instead_;  // classes that are trained where a configuration names them
  std::vector<Key> keys_;
  std::map<std::string, Value> parts_;
  std::vector<std::pair<std::string, std::int64_t>> grid_;  // patches of an image, where it may be of any size
  bool counts_images_ = false;
  SampleCount count_;
  std::vector<Reads> reads_;
  std::vector<Line> holds_, mains_;
  struct {
    int held = -1;
    std::string_view condition = {};
  } nearest_;  // to holding, of the bodies that do not: how many of its conditions do, and which is the first that does
               // not
  std::vector<std::pair<std::string, Value>> mode_;
  std::vector<std::string> names_;
  std::vector<std::int64_t> values_;
  int at_ = 0;
};

}  // namespace

bool is_family(std::string_view text) {
  const std::size_t modules = text.find("\nmodules ");
  return text.substr(0, modules).find("\nmain ") != std::string_view::npos;
}

Program read_family(std::string_view text, const std::string& file, ReadValue read_value, const Value& config,
                    const FamilyUse& use) {
  const std::vector<FamilyText> texts = family_texts(text, use.images > 0);
  if (texts.size() == 1) return FamilyReader(texts[0], file, read_value, config, use).read();
  std::string refusals;
  for (const FamilyText& one : texts) {
    try {
      return FamilyReader(one, file, read_value, config, use).read();
    } catch (const Error& error) {
      if (error.code() != Errc::unsupported) throw;
      const std::string again = refusals.empty() ? "" : "; ";
      if (refusals.find(error.message()) == std::string::npos) refusals += again + error.message();
    }
  }
  throw Error(Errc::unsupported, refusals, file);
}

std::map<std::string, Value> family_key_values(std::string_view text, const std::string& file, ReadValue read_value,
                                               const Value& config, const FamilyUse& use) {
  std::map<std::string, Value> values;
  for (const FamilyText& one : family_texts(text, use.images > 0))
    FamilyReader(one, file, read_value, config, use).add_key_values(values);
  return values;
}

}  // namespace tidemark
