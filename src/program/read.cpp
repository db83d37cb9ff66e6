#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/did_you_mean.h"
#include "base/error.h"
#include "base/release.h"
#include "program/line_reader.h"
#include "program/program.h"
#include "program/read_body.h"
#include "program/rows.h"

namespace tidemark {

bool Condition::holds(std::span<const std::int64_t> symbols) const {
  const std::int64_t a = left(symbols), b = right(symbols);
  if (comparison == "==") return a == b;
  if (comparison == "!=") return a != b;
  return comparison == "<" ? a < b : comparison == "<=" ? a <= b : comparison == ">" ? a > b : a >= b;
}

namespace {

/// Outside of quotes, "# " begins a comment.
std::string_view without_comment(std::string_view text) {
  if (text.find('#') == std::string_view::npos) return text;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (!quoted && text.substr(i).starts_with("# ") && (i == 0 || text[i - 1] == ' ')) return text.substr(0, i);
  }
  return text;
}

std::vector<ProgramLine> split_lines(std::string_view text, int first_line) {
  std::vector<ProgramLine> lines;
  for (int number = first_line; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.starts_with("config ")) line = without_comment(line);
    const std::size_t last = line.find_last_not_of(" \r");
    if (last == std::string_view::npos) continue;
    line = line.substr(0, last + 1);
    const std::size_t indent = line.find_first_not_of(' ');
    lines.push_back({number, indent, line.substr(indent)});
  }
  return lines;
}

class ProgramReader {
 public:
  ProgramReader(std::string_view text, const std::string& file, ReadValue read_value, const Binding* binding)
      : lines_(split_lines(text, binding ? binding->first_line : 1)), read_value_(read_value), binding_(binding) {
    program_.file = file;
  }

  Program read() {
    header();
    take_release();
    modules();
    if (binding_) lines_ = written_out(lines_, at_, program_, texts_);
    if (binding_)
      bodies_for(binding_->main);
    else
      all_bodies();
    if (program_.bodies.empty()) fail(0, "it has no class");
    return std::move(program_);
  }

 private:
  void all_bodies() {
    while (at_ < lines_.size()) {
      Body body = read_body(program_, lines_, at_);
      program_.main = body.name;
      add(std::move(body));
    }
  }

  /// "since 5.24.0 %1 = …" and "before 5.24.0 %1 = …": what a release does otherwise than others that it is equal to.
  void take_release() {
    const std::string& release = binding_ ? binding_->release : program_.transformers;
    const auto is_of_others = [&](ProgramLine& line) {
      const bool since = line.text.starts_with("since ");
      if (!since && !line.text.starts_with("before ")) return false;
      LineReader reader(line.text, program_.where(line.number));
      reader.take_word(since ? "since" : "before");
      const std::optional<Release> first = release_of(reader.name("_.-+"));
      if (!first) fail(line.number, "a release is expected", "such as since 5.24.0");
      reader.at_end();
      line.text = reader.rest();
      return since != (release_of(release) >= first);
    };
    lines_.erase(std::remove_if(lines_.begin() + static_cast<std::ptrdiff_t>(at_), lines_.end(), is_of_others),
                 lines_.end());
  }

  void add(Body body) {
    const int line = body.line;
    const std::string name = body.name;
    if (!program_.bodies.emplace(name, std::move(body)).second) fail(line, fmt::format("{} is there twice", name));
  }

  /// Those that the main body needs, from the last line up: a body stands before those that call it.
  void bodies_for(const std::string& main) {
    program_.main = main;
    std::set<std::string> needed{main};
    const auto first = static_cast<std::ptrdiff_t>(at_);
    for (auto head = static_cast<std::ptrdiff_t>(lines_.size()) - 1; head >= first; --head) {
      const ProgramLine& line = lines_[static_cast<std::size_t>(head)];
      if (line.indent > 0) continue;
      const std::size_t name = line.text.find(' ') + 1;
      if (!needed.contains(std::string(line.text.substr(name, line.text.find('(') - name)))) continue;
      at_ = static_cast<std::size_t>(head);
      Body body = read_body(program_, lines_, at_);
      add_called(body.statements, needed);
      add(std::move(body));
    }
    if (!program_.bodies.contains(main)) fail(0, fmt::format("it has no class {}", main));
  }

  static void add_called(const std::vector<Statement>& statements, std::set<std::string>& needed) {
    for (const Statement& statement : statements) {
      if (statement.kind != Statement::Kind::function) needed.insert(statement.name);
      add_called(statement.block, needed);
    }
  }

  [[noreturn]] void fail(int line, const std::string& what, const std::string& hint = {}) const {
    throw Error(Errc::bad_file, what, line > 0 ? program_.where(line) : program_.file, hint);
  }

  const ProgramLine& line() const {
    if (at_ >= lines_.size()) fail(0, "it ends too early");
    return lines_[at_];
  }

  void header() {
    if (lines_.empty() || lines_[0].text != "tidemark-program 1")
      fail(1, "it is no captured program", "its first line is \"tidemark-program 1\"");
    std::vector<const ProgramLine*> inputs;
    const ProgramLine *sizes = nullptr, *conditions = nullptr;
    for (++at_; !line().text.starts_with("modules"); ++at_) {
      const std::size_t blank = line().text.find(' ');
      const std::string key(line().text.substr(0, blank));
      const std::string value(blank == std::string_view::npos ? "" : line().text.substr(blank + 1));
      if (key == "input")
        inputs.push_back(&line());
      else if (key == "sizes")
        sizes = &line();
      else if (key == "holds" && !binding_)
        conditions = &line();
      else if (key == "config")
        program_.config = read_value_(value, program_.where(line().number));
      else
        program_.header[key] = value;
    }
    if (sizes) read_sizes(*sizes);
    program_.sizes = program_.symbols.size();
    if (binding_)
      bind();
    else
      add_numbers_of(program_.config, "");
    for (const ProgramLine* input : inputs) read_input(*input);
    if (conditions) read_conditions(*conditions);
    program_.class_name = required("class");
    program_.transformers = required("transformers");
    program_.torch = required("torch");
    if (program_.config.as_map() || binding_) {
      program_.model_type = required("model_type");
      program_.attention = required("attention");
    } else {  // a module that has no configuration is a type of its own
      program_.is_of_own_module = true;
      program_.model_type = program_.class_name;
      program_.config.set("model_type", program_.model_type);
    }
  }

  void bind() {
    program_.config = binding_->config;
    program_.orders = binding_->orders;
    for (const auto& [name, value] : binding_->sizes)
      if (const auto at = std::find(program_.symbols.begin(), program_.symbols.end(), name);
          at != program_.symbols.end())
        program_.captured_values[static_cast<std::size_t>(at - program_.symbols.begin())] = value;
    for (const auto& [path, value] : binding_->numbers) {
      program_.symbols.push_back(path);
      program_.captured_values.push_back(value);
    }
    for (const auto& [key, value] : binding_->mode) program_.header[key] = value;
  }

  const std::string& required(const std::string& key) const {
    const auto found = program_.header.find(key);
    if (found == program_.header.end()) fail(1, fmt::format("its header has no line \"{} …\"", key));
    return found->second;
  }

  /// "sizes B=2 S=24"
  void read_sizes(const ProgramLine& line) {
    LineReader reader(line.text, program_.where(line.number));
    reader.take_word("sizes");
    while (!reader.at_end()) {
      program_.symbols.push_back(reader.name("_"));
      reader.expect("=");
      program_.captured_values.push_back(reader.number(" ", {})({}));
    }
  }

  /// Whole numbers of the configuration are symbols too, "text_config.hidden_size".
  void add_numbers_of(const Value& config, const std::string& prefix) {
    const Value::Map* map = config.as_map();
    for (std::size_t i = 0; map && i < map->size(); ++i) {
      const auto& [key, value] = (*map)[i];
      if (const std::int64_t* number = value.as_integer()) {
        if (std::count(program_.symbols.begin(), program_.symbols.end(), prefix + key) > 0) continue;
        program_.symbols.push_back(prefix + key);
        program_.captured_values.push_back(*number);
      }
      add_numbers_of(value, prefix + key + ".");
    }
  }

  LineReader::Names sizes_alone() const { return {program_.symbols, {}, {}}; }

  /// "holds S > 32, S <= 4096"
  void read_conditions(const ProgramLine& line) {
    LineReader reader(line.text, program_.where(line.number));
    reader.take_word("holds");
    while (!reader.at_end()) {
      LineReader one(reader.until(","), program_.where(line.number));
      Condition condition;
      condition.text = one.rest();
      condition.left = one.number("<>=!", program_.symbols);
      condition.comparison = one.until("-+( 0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_");
      const std::string_view known[] = {"<", "<=", ">", ">=", "==", "!="};
      if (std::find(std::begin(known), std::end(known), condition.comparison) == std::end(known))
        one.fail(fmt::format("\"{}\" is no comparison", condition.text));
      condition.right = one.number("", program_.symbols);
      program_.conditions.push_back(std::move(condition));
      reader.take(",");
    }
  }

  /// "input input_ids: int64[B, S]"
  void read_input(const ProgramLine& line) {
    LineReader reader(line.text, program_.where(line.number));
    reader.take_word("input");
    program_.count.add(line.text.substr(6));
    InputDeclaration input{reader.name("_"), {}};
    reader.expect(":");
    input.type = reader.type(sizes_alone());
    reader.expect_end();
    program_.inputs.push_back(std::move(input));
  }

  void modules() {
    LineReader reader(line().text, program_.where(line().number));
    reader.take_word("modules");
    program_.root.line = line().number;
    read_class(reader, program_.root);
    ++at_;
    read_inside(program_.root, 0, 0);
  }

  void read_class(LineReader& reader, ModuleDeclaration& module) {
    module.class_name = reader.name("_.()");
    module.checkpointable = reader.take_word("checkpointable");
    reader.expect_end();
  }

  /// Parameters and children of a module, which stand deeper than it.
  void read_inside(ModuleDeclaration& module, std::size_t indent, int depth) {
    constexpr int kDeepest = 60;
    if (at_ >= lines_.size() || lines_[at_].indent <= indent) return;
    const std::size_t inside = lines_[at_].indent;
    if (depth == kDeepest) fail(lines_[at_].number, "modules in too many modules");
    for (; at_ < lines_.size() && lines_[at_].indent > indent;) {
      const ProgramLine& line = lines_[at_];
      if (line.indent != inside) fail(line.number, "it stands deeper than what it belongs to");
      LineReader reader(line.text, program_.where(line.number));
      ++at_;
      const bool is_buffer = reader.take_word("buffer");
      if (is_buffer || reader.take_word("param")) {
        module.parameters.push_back(read_parameter(reader, is_buffer, line.number));
        continue;
      }
      if (reader.take_word("attribute")) {
        read_attribute(reader, module, line.number);
        continue;
      }
      module.children.push_back(read_child(reader, line.number));
      read_inside(module.children.back(), inside, depth + 1);
    }
  }

  ParameterDeclaration read_parameter(LineReader& reader, bool is_buffer, int line) {
    ParameterDeclaration parameter{.name = reader.name("_"), .is_buffer = is_buffer, .line = line};
    if (reader.take("=")) {
      parameter.tied_to = reader.name("_.");
    } else {
      reader.expect(":");
      parameter.type = reader.type(sizes_alone());
    }
    if (parameter.tied_to.empty() && reader.take("=")) {  // of a family: tied, where the configuration says so
      parameter.tied_to = reader.name("_.");
      reader.expect("when");
      bool is_tied = false;
      do {
        const std::string flag = reader.name("_.");
        is_tied |= binding_ && binding_->flags.contains(flag);
      } while (reader.take_word("or"));
      if (!is_tied) parameter.tied_to.clear();
    }
    for (bool found = true; found;) {
      found = reader.take_word("transient");
      if (reader.take_word("frozen")) found = parameter.frozen = true;
    }
    reader.expect_end();
    return parameter;
  }

  /// A tensor that is no buffer: another name of one, or what a forward leaves behind, which is not there at first.
  void read_attribute(LineReader& reader, ModuleDeclaration& module, int line) {
    const std::string name = reader.name("_");
    if (reader.take("=")) {
      module.parameters.push_back({.name = name, .tied_to = reader.name("_."), .is_buffer = true, .line = line});
    } else {
      reader.expect(":");
      reader.type(sizes_alone());
    }
    reader.expect_end();
  }

  /// "q_proj: nn.Linear", "0..1: LlamaDecoderLayer", "0..2 by 4 to 15: Llama4TextDecoderLayer",
  /// "0..layer_types.count - 1 of layer_types "conv": Lfm2DecoderLayer"
  ModuleDeclaration read_child(LineReader& reader, int line) {
    ModuleDeclaration child;
    child.name = reader.until(":");
    child.line = line;
    reader.expect(":");
    if (const std::size_t by = child.name.find(" by "), to = child.name.find(" to ");
        by < to && to != std::string::npos) {
      child.goes_round = child.repeats = true;
      child.step = number_in(child.name.substr(by + 4, to - by - 4), line);
      child.end = number_in(child.name.substr(to + 4), line);
      child.name.resize(by);
    }
    if (const std::size_t of = child.name.find(" of "); of != std::string::npos) {
      LineReader kind(std::string_view(child.name).substr(of + 4), program_.where(line));
      child.order = kind.name("_.");
      kind.expect("\"");
      child.kind = kind.until("\"");
      kind.expect("\"");
      if (!program_.orders.contains(child.order))
        fail(line, fmt::format("{} is no list of layers' kinds", child.order));
      child.name.resize(of);
    }
    if (const std::size_t dots = child.name.find(".."); dots != std::string::npos) {
      child.repeats = true;
      child.first = number_in(child.name.substr(0, dots), line);
      child.last = number_in(child.name.substr(dots + 2), line);
    } else if (child.goes_round) {
      child.first = child.last = number_in(child.name, line);
    }
    read_class(reader, child);
    return child;
  }

  Expression number_in(const std::string& text, int line) const {
    return Expression::parse(text, program_.symbols, program_.where(line));
  }

  Program program_;
  std::vector<ProgramLine> lines_;
  std::deque<std::string> texts_;  // of lines that are not in the file
  std::size_t at_ = 0;
  ReadValue read_value_;
  const Binding* binding_;
};

}  // namespace

Program read_program(std::string_view text, const std::string& file, ReadValue read_value, const Binding* binding) {
  Program program = ProgramReader(text, file, read_value, binding).read();
  resolve_functions(program);
  return program;
}

}  // namespace tidemark
