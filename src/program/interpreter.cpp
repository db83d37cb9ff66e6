#include "program/interpreter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "nn/checkpoint.h"
#include "nn/lora.h"
#include "program/function.h"
#include "tensor/mismatch.h"
#include "tensor/parameter_hooks.h"

namespace tidemark {

/// One pass through the model.
struct Interpreter::Pass {
  Run& run;
  std::vector<std::int64_t> symbols;
  std::vector<Tensor> held = {};  // by objects that outlive the bodies, as a cache
  bool hooks_keep = true;         // what goes out of a body by a hook: not of a layer that runs again
  struct Left {
    const Routine* routine;
    std::size_t result;
    const TensorImpl* value;
  };
  std::vector<Left> left = {};
  DictRef dict = {};               // of a layer that runs again
  std::vector<Tensor> cache = {};  // of the pass before this one
  std::size_t taken = 0;           // of that
};

/// What layers put into a dict that all layers of a body are given, and others take out of it (transformers 5.23.0:
/// modeling_gemma3n.py, shared_kv_states), by where it was left.  Checkpoints hold the dict, and a layer that runs
/// again puts what it makes then in the place of what was there.
struct Interpreter::Dict {
  std::map<std::pair<const Routine*, std::size_t>, Tensor> values = {};
};

/// One call of a body.
struct Interpreter::Frame {
  Frame(const Routine& of, const PassRef& in)
      : run(in->run),
        routine(of),
        pass(in),
        had_grad(run.grad_enabled),
        had_autocast(run.autocast.enabled),
        grad(run.grad_enabled, had_grad),
        autocast(run.autocast.enabled, had_autocast),
        left_before(in->left.size()) {}

  Run& run;
  const Routine& routine;
  const PassRef& pass;
  const bool had_grad, had_autocast;
  const Setting<bool> grad, autocast;  // scopes end with the body at the latest, by an exception too
  const std::size_t left_before;       // of what other bodies have left
  Values values = {};
  Tensors returned = {};
  DictRef dict = {};  // that the layers which it calls are given
};

void Interpreter::fail(const Statement& statement, const std::string& what) const {
  throw Error(Errc::bad_file, what, program_.where(statement.line));
}

Interpreter::~Interpreter() {
  for (const std::weak_ptr<Dict>& one : dicts_)
    if (const DictRef dict = one.lock()) dict->values.clear();
}

Interpreter::DictRef Interpreter::made_dict() const {
  std::erase_if(dicts_, [](const std::weak_ptr<Dict>& one) { return one.expired(); });
  const auto dict = std::make_shared<Dict>();
  dicts_.push_back(dict);
  return dict;
}

ModelOutputs Interpreter::forward(Run& run, Tensors inputs, std::vector<std::int64_t> symbols,
                                  std::vector<Tensor> cache) const {
  const InModule scope(run, *main_.module);
  const PassRef pass = std::make_shared<Pass>(Pass{run, std::move(symbols)});
  pass->cache = std::move(cache);
  Tensors returned = routine(main_, std::move(inputs), pass);
  ModelOutputs outputs;
  const std::vector<NamedArgument>& names = main_.body->statements.back().arguments;
  for (std::size_t i = 0; i < returned.size(); ++i) {
    if (names[i].name == "loss")
      outputs.loss = std::move(returned[i]);
    else if (returned[i])
      outputs.held.push_back(std::move(returned[i]));
  }
  std::erase_if(pass->cache, [](const Tensor& one) { return !one; });  // the others stay
  outputs.cache = std::move(pass->cache);
  std::move(pass->held.begin(), pass->held.end(), std::back_inserter(outputs.cache));
  return outputs;
}

Tensors Interpreter::backbone(Run& run, Tensors inputs, std::vector<std::int64_t> symbols) const {
  const PassRef pass = std::make_shared<Pass>(Pass{run, std::move(symbols)});
  Frame frame(main_, pass);
  begin(frame, std::move(inputs));
  const Statement& first = main_.body->statements.front();
  this->run(first, frame, 0);
  Tensors outputs;
  for (const Result& result : first.results) outputs.push_back(std::move(frame.values.tensors[result.place]));
  return outputs;
}

void Interpreter::begin(Frame& frame, Tensors inputs) const {
  const Routine& routine = frame.routine;
  frame.values.symbols = frame.pass->symbols;
  frame.values.module = routine.module;
  frame.values.weights = weights_;
  frame.values.attributes = routine.attributes;
  frame.values.tensors.resize(routine.body->values.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) frame.values.tensors[i] = std::move(inputs[i]);
  find_made(frame);
}

Tensors Interpreter::routine(const Routine& routine, Tensors inputs, const PassRef& pass) const {
  Frame frame(routine, pass);
  begin(frame, std::move(inputs));
  run(routine.body->statements, frame, 0);
  return std::move(frame.returned);
}

void Interpreter::run(const std::vector<Statement>& statements, Frame& frame, std::size_t round) const {
  for (const Statement& statement : statements) {
    run(statement, frame, round);
    if (frame.pass->dict && !frame.pass->dict->values.empty()) put_again(frame);
  }
}

void Interpreter::run(const Statement& statement, Frame& frame, std::size_t round) const {
  using Kind = Statement::Kind;
  std::vector<Tensor>& tensors = frame.values.tensors;
  switch (statement.kind) {
    case Kind::function:
    case Kind::apply: function(statement, frame); break;
    case Kind::call:
    case Kind::within: call(statement, frame, round); break;
    case Kind::drop:
      for (const std::size_t place : statement.values) tensors[place].reset();
      break;
    case Kind::hold:
      for (const std::size_t place : statement.values) hold(tensors[place], frame);
      break;
    case Kind::keep:
      for (const std::size_t place : statement.values) kept_[{&frame.routine, place}] = tensors[place];
      if (!statement.results.empty()) keep(statement, frame);
      break;
    case Kind::once:
      if (!frame.values.tensor({.kind = Argument::Kind::attribute, .place = statement.results[0].place}))
        run(statement.block, frame, round);
      break;
    case Kind::appear: appear(statement, frame); break;
    // A scope that ends leaves what was there before it: under a checkpoint that may be no gradients.
    case Kind::grad_mode: frame.run.grad_enabled = statement.enabled && frame.had_grad; break;
    case Kind::enter_autocast: frame.run.autocast.enabled = statement.enabled; break;
    case Kind::exit_autocast: frame.run.autocast.enabled = frame.had_autocast; break;
    case Kind::repeat: repeat(statement, frame); break;
    case Kind::leave: leave(statement, frame); break;
  }
}

/// A cache has the value from now on.
void Interpreter::hold(Tensor& value, Frame& frame) const {
  if (is_of_generation_) frame.run.set_category(*value.impl().storage, Category::kv_cache);
  frame.pass->held.push_back(std::move(value));
}

/// An attribute of the module takes a value; one that its tree has not is there from now on.
void Interpreter::keep(const Statement& statement, Frame& frame) const {
  const std::size_t place = statement.results[0].place;
  const Values::Attribute& attribute = frame.routine.attributes[place];
  Tensor tensor = taken(statement, frame, statement.arguments[0].value);
  if (!attribute.is_made) {
    Parameter& buffer = attribute.owner().get(attribute.name);
    if (!buffer.is_buffer)
      fail(statement, fmt::format("{} is a parameter, which keeps no other value", attribute.name));
    buffer.tensor = std::move(tensor);
    return;
  }
  frame.values.assigned.resize(frame.routine.attributes.size());
  frame.values.assigned[place] = tensor;
  made_[{attribute.module, attribute.name}] = std::move(tensor);
}

/// What a forward before made.
void Interpreter::find_made(Frame& frame) const {
  for (const std::size_t place : frame.routine.later) {
    const Values::Attribute& attribute = frame.routine.attributes[place];
    const auto made = made_.find({attribute.module, attribute.name});
    if (made == made_.end() || &made->second.run() != &frame.run) continue;
    frame.values.assigned.resize(frame.routine.attributes.size());
    frame.values.assigned[place] = made->second;
  }
}

void Interpreter::repeat(const Statement& statement, Frame& frame) const {
  const std::int64_t first = statement.first(frame.pass->symbols), last = statement.last(frame.pass->symbols);
  for (std::int64_t i = first; i <= last; ++i) {
    run(statement.block, frame, static_cast<std::size_t>(i - first));
    for (const auto& [to, from] : statement.next) frame.values.tensors[to] = std::move(frame.values.tensors[from]);
  }
}

namespace {

/// "^0": not returned to the caller.
bool is_hooked(const NamedArgument& result) { return result.name.starts_with('^'); }

}  // namespace

/// What no function that is seen has made.
void Interpreter::appear(const Statement& statement, Frame& frame) const {
  Tensors made;
  for (const Result& result : statement.results) {
    if (!frame.pass->cache.empty()) {
      made.push_back(from_cache(statement, result, frame));
      continue;
    }
    Dims sizes;
    for (const Expression& size : result.type.sizes) sizes.push_back(size(frame.pass->symbols));
    const Setting<bool> place(frame.run.on_host, frame.run.on_host || result.type.on_host);
    made.push_back(empty(frame.run, sizes, result.type.of_weights ? weights_ : result.type.dtype));
  }
  give(statement, frame, std::move(made));
}

/// The next tensor of the cache.  One of other dimensions, such as a count of tokens, stays.
/// transformers: cache_utils.py, DynamicSlidingWindowLayer (5.24.0)
Tensor Interpreter::from_cache(const Statement& statement, const Result& result, Frame& frame) const {
  Pass& pass = *frame.pass;
  const auto is_alike = [&](const Tensor& one) { return one && one.dims() == std::ssize(result.type.sizes); };
  const auto first = pass.cache.begin() + static_cast<std::ptrdiff_t>(pass.taken);
  const auto found = std::find_if(first, pass.cache.end(), is_alike);
  if (found == pass.cache.end()) fail(statement, "a cache of more tensors than the pass before this one holds");
  pass.taken = static_cast<std::size_t>(found - pass.cache.begin()) + 1;
  Tensor tensor = std::move(*found);
  found->reset();
  const Dims said = said_sizes(result, tensor, frame);
  if (said != tensor.sizes())
    fail(statement, fmt::format("the cache has [{}] here, and [{}] in the program", fmt::join(tensor.sizes(), ", "),
                                fmt::join(said, ", ")));
  return tensor;
}

Tensor Interpreter::taken(const Statement& statement, const Frame& frame, const Argument& argument) const {
  Tensor tensor = frame.values.tensor(argument);
  if (!tensor) fail(statement, "a value that is done with is used");
  return tensor;
}

void Interpreter::leave(const Statement& statement, Frame& frame) const {
  for (const NamedArgument& argument : statement.arguments) {
    const bool is_none =
        argument.value.kind == Argument::Kind::none || (is_hooked(argument) && !frame.pass->hooks_keep);
    if (!is_none && is_hooked(argument) && context_.checkpointing != CheckpointKind::none)
      note_left(frame, frame.values.tensor(argument.value));
    frame.returned.push_back(is_none ? Tensor() : taken(statement, frame, argument.value));
  }
}

/// The innermost body that leaves a value has made it.
void Interpreter::note_left(Frame& frame, const Tensor& value) {
  std::vector<Pass::Left>& left = frame.pass->left;
  const auto inner = left.begin() + static_cast<std::ptrdiff_t>(frame.left_before);
  if (!value || std::any_of(inner, left.end(), [&](const Pass::Left& one) { return one.value == &value.impl(); }))
    return;
  left.push_back({&frame.routine, frame.returned.size(), &value.impl()});
}

/// Into the dict that all layers of a checkpoint are given, where a body has left it.
void Interpreter::share(const Tensor& value, const Pass& pass, Dict& dict) {
  const auto from = std::find_if(pass.left.rbegin(), pass.left.rend(),
                                 [&](const Pass::Left& one) { return value && one.value == &value.impl(); });
  if (from != pass.left.rend()) dict.values.insert_or_assign({from->routine, from->result}, value);
}

/// What a layer is given otherwise than by its arguments is in the dict since it was made.
void Interpreter::share_inputs(const Body& body, const Tensors& inputs, const Pass& pass, Dict& dict) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (body.parameters[i].starts_with('^')) share(inputs[i], pass, dict);
}

/// What it leaves there is, whether or not another takes it.
void Interpreter::share_results(const Body& body, const Tensors& results, const Pass& pass, Dict& dict) {
  const std::vector<NamedArgument>& names = body.statements.back().arguments;
  for (std::size_t i = 0; i < results.size(); ++i)
    if (is_hooked(names[i])) share(results[i], pass, dict);
}

/// In a layer that runs again: as soon as all is made that it puts there.
void Interpreter::put_again(Frame& frame) const {
  auto& shared = frame.pass->dict->values;
  const auto first = shared.lower_bound({&frame.routine, 0});
  const auto& results = frame.routine.body->statements.back().arguments;
  for (auto one = first; one != shared.end() && one->first.first == &frame.routine; ++one)
    if (!frame.values.tensor(results[one->first.second].value)) return;
  for (auto one = first; one != shared.end() && one->first.first == &frame.routine; ++one) {
    const Tensor made = frame.values.tensor(results[one->first.second].value);
    if (!made.is(one->second)) one->second = made;
  }
}

/// A strategy may hang hooks on operations that take parameters.  tensor/parameter_hooks.h
Tensors Interpreter::with_parameter_hooks(const Statement& statement, Frame& frame, FunctionCall& call) {
  const ParameterHooks* hooks = frame.run.parameter_hooks;
  const auto takes_parameter = [&](const Argument* argument) {
    if (!argument || argument->kind != Argument::Kind::attribute) return false;
    const Values::Attribute& attribute = frame.routine.attributes[argument->place];
    return !attribute.is_made && !attribute.owner().get(attribute.name).is_buffer;
  };
  if (!hooks || statement.results.empty() ||
      std::none_of(statement.bound.begin(), statement.bound.end(), takes_parameter))
    return statement.function->run(call);
  std::vector<std::size_t> places;
  Tensors inputs;
  for (std::size_t i = 0; i < statement.bound.size(); ++i) {
    if (!call.is_tensor(i)) continue;
    places.push_back(i);
    inputs.push_back(call.tensor(i));
  }
  hooks->before(inputs);
  for (std::size_t i = 0; i < places.size(); ++i) call.replace(places[i], std::move(inputs[i]));
  Tensors results = statement.function->run(call);
  for (Tensor& result : results) hooks->after(result);
  return results;
}

void Interpreter::function(const Statement& statement, Frame& frame) const {
  try {
    const bool on_host = !statement.results.empty() && statement.results[0].type.on_host;
    const Setting<bool> place(frame.run.on_host, frame.run.on_host || on_host);
    FunctionCall call(statement, frame.values, frame.run);
    give(statement, frame, with_parameter_hooks(statement, frame, call));
  } catch (const InternalError& error) {                                       // of sizes that do not go together
    if (!checks_sizes_ && dynamic_cast<const TensorMismatch*>(&error)) throw;  // whoever split the tensors says why
    const std::string what = fmt::format("{} does not take these tensors: {}", statement.name, error.what());
    if (!checks_sizes_)
      throw Error(Errc::unsupported, "of a part of each tensor, " + what, program_.where(statement.line));
    fail(statement, what);
  } catch (const Error& error) {
    if (!error.where().empty()) throw;
    throw Error(error.code(), error.message(), program_.where(statement.line), error.hint());
  }
}

/// What the program says of a result; of a size that it does not tell, what that is.
Dims Interpreter::said_sizes(const Result& result, const Tensor& tensor, const Frame& frame) {
  Dims said;
  for (const Expression& size : result.type.sizes)
    said.push_back(size.is_told() || said.count() >= tensor.dims() ? size(frame.pass->symbols)
                                                                   : tensor.size(said.count()));
  return said;
}

/// An operation that makes something else here than in torch is found where it does.
void Interpreter::check_sizes(const Statement& statement, const Tensor& tensor, const Dims& said) const {
  if (said == tensor.sizes()) return;
  fail(statement, fmt::format("{} gives [{}] here, and [{}] in the program", statement.name,
                              fmt::join(tensor.sizes(), ", "), fmt::join(said, ", ")));
}

void Interpreter::give(const Statement& statement, Frame& frame, Tensors results) const {
  if (results.size() < statement.results.size())
    fail(statement,
         fmt::format("{} gives {} tensors, not {}", statement.name, results.size(), statement.results.size()));
  for (std::size_t i = 0; i < statement.results.size(); ++i) {
    const Result& result = statement.results[i];
    const bool is_said = result.is_typed && results[i];
    if (is_said && checks_sizes_) check_sizes(statement, results[i], said_sizes(result, results[i], frame));
    if (result.of == Result::Of::value) {
      if (is_said && !checks_sizes_) {
        frame.values.whole.resize(frame.routine.body->values.size());
        frame.values.whole[result.place] = said_sizes(result, results[i], frame);
      }
      frame.values.tensors[result.place] = std::move(results[i]);
    } else {
      frame.values.assigned.resize(frame.routine.attributes.size());
      frame.values.assigned[result.place] = std::move(results[i]);
    }
  }
}

void Interpreter::call(const Statement& statement, Frame& frame, std::size_t round) const {
  const std::vector<Target>& targets = frame.routine.targets[statement.site];
  if (targets.size() > 1 && round >= targets.size()) fail(statement, "a round that the configuration has not");
  const Target& target = targets[targets.size() == 1 ? 0 : round];
  if (!target.module) return give(statement, frame, {taken(statement, frame, *statement.bound[0])});
  Tensors inputs;
  for (std::size_t i = 0; i < statement.bound.size(); ++i) {
    const Argument* argument = statement.bound[i];
    const bool is_tensor = argument && argument->kind != Argument::Kind::none;
    inputs.push_back(is_tensor ? taken(statement, frame, *argument) : Tensor());
    if (is_tensor && target.routine && target.routine->body->consumed[i]) frame.values.tensors[argument->place].reset();
  }
  Tensors results;
  const bool is_layer = target.layer >= 0 && context_.checkpointing != CheckpointKind::none;
  if (is_layer && !frame.dict) frame.dict = made_dict();
  if (target.is_scope)
    results = routine(*target.routine, std::move(inputs), frame.pass);
  else if (target.layer >= 0 && is_checkpointed(frame.run, context_, target.layer))
    results = checkpointed(target, std::move(inputs), frame);
  else
    results = module(target, std::move(inputs), frame.pass);
  if (is_layer && statement.shared) share_results(*target.routine->body, results, *frame.pass, *frame.dict);
  give(statement, frame, std::move(results));
}

namespace {

/// What goes out of a layer by a hook, which is called within a reentrant checkpoint's function, where nothing has a
/// gradient, and is not its result.
class OutOfCheckpoint {
 public:
  OutOfCheckpoint(const std::vector<NamedArgument>& results, bool is_reentrant) {
    for (std::size_t i = 0; is_reentrant && i < results.size(); ++i)
      if (is_hooked(results[i])) places_.push_back(i);
  }

  /// Whether the layer has run before.
  bool is_over() const { return is_over_; }

  /// The layer's own results.
  Tensors results_of(Tensors all) {
    Tensors own;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!is_place_of_hook(i))
        own.push_back(std::move(all[i]));
      else if (!is_over_)
        hooked_.push_back(std::move(all[i]));
    }
    return own;
  }

  Tensors with_hooked(Tensors results) {
    is_over_ = true;
    Tensors all;
    std::size_t own = 0, hooked = 0;
    for (std::size_t i = 0; own < results.size() || hooked < hooked_.size(); ++i)
      all.push_back(std::move(is_place_of_hook(i) ? hooked_[hooked++] : results[own++]));
    hooked_.clear();
    return all;
  }

 private:
  bool is_place_of_hook(std::size_t place) const { return std::ranges::find(places_, place) != places_.end(); }

  std::vector<std::size_t> places_;
  Tensors hooked_;
  bool is_over_ = false;
};

}  // namespace

/// Keywords are in the partial() that is called again; the positional argument goes by itself.
Tensors Interpreter::checkpointed(const Target& target, Tensors inputs, const Frame& from) const {
  const PassRef pass = from.pass;
  const DictRef dict = from.dict;
  if (inputs.empty() || !inputs[0] || !target.routine)
    throw Error(Errc::unsupported, fmt::format("a checkpoint of {} without a tensor", target.module->full_name()));
  share_inputs(*target.routine->body, inputs, *pass, *dict);
  const auto hooked = std::make_shared<OutOfCheckpoint>(target.routine->body->statements.back().arguments,
                                                        context_.checkpointing == CheckpointKind::reentrant);
  Tensor hidden_states = inputs[0];
  inputs[0].reset();
  return hooked->with_hooked(
      checkpoint_layer(context_, target.layer, std::move(hidden_states),
                       [this, &target, inputs = std::move(inputs), pass, dict, hooked](Tensor x) {
                         const Setting<bool> keep(pass->hooks_keep, !hooked->is_over());
                         const Setting<DictRef> given(pass->dict, hooked->is_over() ? dict : DictRef());
                         Tensors again = inputs;
                         again[0] = std::move(x);
                         return hooked->results_of(module(target, std::move(again), pass));
                       }));
}

namespace {

bool is_positional(const std::string& parameter) { return parameter[0] >= '0' && parameter[0] <= '9'; }

/// Its hooks see the floating-point tensors that are passed by position.
void enter(std::optional<Call>& call, Run& run, Module& module, const Body& body, Tensors& inputs) {
  if (!module.hooks) {
    call.emplace(run, module);
    return;
  }
  std::vector<Tensor*> positional, keywords;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i] && is_floating(inputs[i].dtype()))
      (is_positional(body.parameters[i]) ? positional : keywords).push_back(&inputs[i]);
  if (module.hooks->replace_argument) {  // whether passed by position or by name
    const InModule scope(run, module);
    for (const std::vector<Tensor*>& some : {positional, keywords})
      for (Tensor* input : some) module.hooks->replace_argument(module, *input);
  }
  if (positional.size() == 1)
    call.emplace(module, std::initializer_list<Tensor*>{positional[0]});
  else if (positional.size() > 1)
    call.emplace(module, std::initializer_list<Tensor*>{positional[0], positional[1]});
  else if (!keywords.empty())
    call.emplace(module, Call::Keyword{*keywords[0]});
  else
    call.emplace(run, module);
  call->takes_several(inputs);
}

}  // namespace

/// module(…): what hooks put in the place of its arguments lives until it returns, as the caller's own arguments do;
/// hooks behind it find nothing of what the body held.
Tensors Interpreter::module(const Target& target, Tensors inputs, const PassRef& pass) const {
  Module& module = *target.module;
  if (!target.routine) return {module(inputs[0])};
  if (module.is_adapted) {  // adapters came around what the program says of it
    const Target base{.module = &module["base_layer"], .routine = target.routine};
    const auto base_layer = [&](Tensor x) { return std::move(this->module(base, {std::move(x)}, pass)[0]); };
    const Call call(module, inputs[0]);
    return {call.returns(adapted(module, inputs[0], base_layer))};
  }
  std::optional<Call> call;
  enter(call, pass->run, module, *target.routine->body, inputs);
  Tensors arguments;
  for (std::size_t i = 0; module.hooks && i < inputs.size(); ++i)
    if (!target.routine->body->consumed[i]) arguments.push_back(inputs[i]);
  Tensors outputs = routine(*target.routine, std::move(inputs), pass);
  if (module.output_requires_grad && !outputs.empty()) outputs[0].impl().requires_grad = true;
  if (module.hooks) {
    std::vector<Tensor*> tensors;
    for (Tensor& output : outputs) tensors.push_back(&output);
    call->returns(tensors);
    outputs = call->returns(std::move(outputs));
  }
  return outputs;
}

}  // namespace tidemark
