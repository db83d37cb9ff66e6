#include "program/stack.h"

#include <algorithm>
#include <set>

namespace tidemark {
namespace {

using Kind = Statement::Kind;

/// Every statement in its order, those of blocks once.
template <class Visit>
void visit(const std::vector<Statement>& statements, Visit&& each) {
  for (const Statement& statement : statements) {
    each(statement);
    visit(statement.block, each);
  }
}

/// "layers.{i}" and "layers.3" -> "layers"; empty where it is no place in a list.
std::string list_of(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string::npos) return {};
  const std::string_view last = std::string_view(path).substr(dot + 1);
  const bool is_place = last.front() == '{' || last.find_first_not_of("0123456789") == std::string_view::npos;
  return is_place ? path.substr(0, dot) : std::string();
}

std::string joined(const std::string& above, const std::string& path) {
  if (path.empty() || path == ".") return above;
  return above.empty() ? path : above + "." + path;
}

const ModuleDeclaration* find(const ModuleDeclaration& root, std::string_view path) {
  const ModuleDeclaration* module = &root;
  while (module && !path.empty()) {
    const std::string_view name = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(name.size() + 1, path.size()));
    const auto is_it = [&](const ModuleDeclaration& child) { return !child.repeats && child.name == name; };
    const auto found = std::find_if(module->children.begin(), module->children.end(), is_it);
    module = found == module->children.end() ? nullptr : &*found;
  }
  return module;
}

bool has_parameters(const ModuleDeclaration& module) {
  return std::any_of(module.parameters.begin(), module.parameters.end(),
                     [](const ParameterDeclaration& parameter) { return !parameter.is_buffer; }) ||
         std::any_of(module.children.begin(), module.children.end(), has_parameters);
}

/// Follows calls from the main body to the one that calls the layers.
class StackFinder {
 public:
  explicit StackFinder(const Program& program) : program_(program) {}

  std::optional<StackPaths> found() {
    const auto is_known = [this](const InputDeclaration& input) {
      return input.name == "input_ids" || input.name == "attention_mask" || input.name == "labels" ||
             (sees_ && input.name == "pixel_values");
    };
    // Of others the first output is something else.
    if (!program_.class_name.ends_with("ForCausalLM") && !sees_) return std::nullopt;
    if (!std::all_of(program_.inputs.begin(), program_.inputs.end(), is_known)) return std::nullopt;
    follow(program_.bodies.at(program_.main), "");
    if (sees_) take_towers();
    if (paths_.layers.empty() || !is_alike_) return std::nullopt;
    return paths_;
  }

 private:
  /// Whether the layers are called in it, or in what it calls.
  bool follow(const Body& body, const std::string& at) {
    bool is_behind = false;
    visit(body.statements, [&](const Statement& statement) {
      if (statement.kind == Kind::within) is_alike_ &= !leads_to_layers(program_.bodies.at(statement.name));
      if (statement.kind != Kind::call) return;
      if (statement.path.starts_with('@') || statement.path == "?") return;
      if (const std::string list = list_of(statement.path); is_layer(statement, list)) {
        take_layer(statement, joined(at, list));
        is_behind = true;
      } else if (leads_to_layers(program_.bodies.at(statement.name)) && !is_tower(joined(at, statement.path))) {
        is_behind |= follow(program_.bodies.at(statement.name), joined(at, statement.path));
      } else {
        take_beside(statement, joined(at, statement.path), is_behind);
      }
    });
    return is_behind;
  }

  /// Of a model that sees, what does not lead to its language model.
  bool is_tower(const std::string& path) const {
    return sees_ && !path.starts_with(kLanguage) && !kLanguage.starts_with(path);
  }

  /// A stage without images does not call them, and has none.
  void take_towers() {
    const ModuleDeclaration* model = find(program_.root, kLanguage.substr(0, kLanguage.find('.')));
    for (const ModuleDeclaration& child : model ? model->children : std::vector<ModuleDeclaration>()) {
      const std::string path = kLanguage.substr(0, kLanguage.find('.') + 1) + child.name;
      if (!is_tower(path) || !has_parameters(child)) continue;
      if (std::find(paths_.before.begin(), paths_.before.end(), path) == paths_.before.end())
        paths_.before.push_back(path);
    }
  }

  bool is_layer(const Statement& statement, const std::string& list) const {
    return !list.empty() && program_.bodies.at(statement.name).parameters.size() > 0;
  }

  bool leads_to_layers(const Body& body) const {
    bool leads = false;
    visit(body.statements, [&](const Statement& statement) {
      if (statement.kind != Kind::call && statement.kind != Kind::within) return;
      leads |= !list_of(statement.path).empty() || leads_to_layers(program_.bodies.at(statement.name));
    });
    return leads;
  }

  void take_layer(const Statement& statement, const std::string& list) {
    const bool is_first = paths_.layers.empty();
    if (is_first) paths_.layers = list;
    const Argument* hidden = statement.bound.empty() ? nullptr : statement.bound[0];
    if (is_first) beside_ = places_beside(statement);
    is_alike_ &= paths_.layers == list && beside_ == places_beside(statement) && statement.results.size() == 1 &&
                 hidden && hidden->kind == Argument::Kind::value && statement.results[0].is_typed;
    if (is_alike_ && is_first && !statement.results[0].type.sizes.empty())
      paths_.features = statement.results[0].type.sizes.back()(program_.captured_values);
  }

  /// What a layer is given with the hidden states, but for what it finds in an object ("^0").  A stage counts its
  /// layers anew, and what goes by their number with them.
  std::vector<std::size_t> places_beside(const Statement& statement) const {
    const std::vector<std::string>& parameters = program_.bodies.at(statement.name).parameters;
    std::vector<std::size_t> places;
    for (std::size_t i = 1; i < std::min(statement.bound.size(), parameters.size()); ++i)
      if (parameters[i][0] != '^') places.push_back(statement.bound[i] ? statement.bound[i]->place : std::string::npos);
    return places;
  }

  /// Places of tokens that are learned are added to hidden states, too, where the embedding of tokens is left out.  An
  /// nn.Identity takes one argument, by its position.
  void take_beside(const Statement& statement, const std::string& path, bool is_behind) {
    const ModuleDeclaration* module = find(program_.root, path);
    if (!module || (!has_parameters(*module) && module->class_name != "nn.Dropout")) return;
    is_alike_ &= program_.bodies.at(statement.name).parameters == std::vector<std::string>{"0"};
    const bool embeds = module->class_name.find("Embedding") != std::string::npos;
    is_alike_ &= !embeds || (!is_behind && !has_embedding_);
    has_embedding_ |= embeds;
    (is_behind ? paths_.behind : paths_.before).push_back(path);
  }

  inline static const std::string kLanguage = "model.language_model";
  const Program& program_;
  const bool sees_ = program_.class_name == "LlavaForConditionalGeneration";
  StackPaths paths_;
  std::vector<std::size_t> beside_;
  bool is_alike_ = true, has_embedding_ = false;
};

/// Places of values that arguments name.
void add_places(const std::vector<Argument>& arguments, std::set<std::size_t>& places);
void add_places(const Argument& argument, std::set<std::size_t>& places) {
  if (argument.kind == Argument::Kind::value) places.insert(argument.place);
  add_places(argument.items, places);
}
void add_places(const std::vector<Argument>& arguments, std::set<std::size_t>& places) {
  for (const Argument& argument : arguments) add_places(argument, places);
}

std::set<std::size_t> places_of(const Statement& statement) {
  std::set<std::size_t> places;
  for (const NamedArgument& argument : statement.arguments) add_places(argument.value, places);
  return places;
}

}  // namespace

std::optional<StackPaths> find_stack(const Program& program) { return StackFinder(program).found(); }

std::optional<Body> without_loss(const Program& program) {
  Body body = program.bodies.at(program.main);
  const auto labels = std::find(body.parameters.begin(), body.parameters.end(), "labels");
  if (labels == body.parameters.end()) return std::nullopt;  // its loss is made of something else
  for (NamedArgument& result : body.statements.back().arguments)
    if (result.name == "loss") result.value = Argument{};
  std::set<std::size_t> needed = places_of(body.statements.back());
  std::vector<bool> stays(body.statements.size(), true);
  for (std::size_t i = body.statements.size() - 1; i-- > 0;) {
    const Statement& statement = body.statements[i];
    const bool makes = statement.kind == Kind::function || statement.kind == Kind::apply;
    const auto is_needed = [&](const Result& result) {
      return result.of != Result::Of::value || needed.contains(result.place);
    };
    stays[i] = !makes || statement.results.empty() ||
               std::any_of(statement.results.begin(), statement.results.end(), is_needed);
    if (stays[i] && statement.kind != Kind::drop) needed.merge(places_of(statement));
  }
  if (needed.contains(static_cast<std::size_t>(labels - body.parameters.begin()))) return std::nullopt;
  std::vector<Statement> kept;
  for (std::size_t i = 0; i < stays.size(); ++i)
    if (stays[i]) kept.push_back(std::move(body.statements[i]));
  body.statements = std::move(kept);
  return body;
}

}  // namespace tidemark
