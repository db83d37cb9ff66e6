// One recorded call of an operation (tools/trace/record_ops.py says what the fields are), and the same call of ours.
#pragma once
#include <string>
#include <vector>

#include "io/json_reader.h"
#include "ops/ops.h"

namespace tidemark {

using Events = std::vector<std::int64_t>;  // bytes asked for; negative: freed

/// The tensors of a call.  The caller of the first kind holds on to them until the call has returned; the second hands
/// over temporaries that nobody else holds.
class Inputs {
 public:
  bool hand_over = false;
  Tensor operator[](std::size_t index) { return hand_over ? std::move(tensors[index]) : tensors[index]; }
  Tensors all() { return hand_over ? std::move(tensors) : tensors; }
  Tensors tensors;
};

class Arguments {
 public:
  explicit Arguments(const io::Json& json) : json_(json) {}
  bool flag(const char* key) const { return json_.value(key, false); }
  std::int64_t number(const char* key, std::int64_t otherwise = 0) const { return json_.value(key, otherwise); }
  double real(const char* key) const { return json_.value(key, 0.0); }
  std::string text(const char* key) const { return json_.value(key, std::string()); }
  Dims dims(const char* key) const;
  bool has(const char* key) const { return json_.contains(key); }

 private:
  const io::Json& json_;
};

Dtype dtype_named(const std::string& name);

using Call = Tensor (*)(Inputs& in, const Arguments& arguments, Run& run);
struct NamedCall {
  const char* name;
  Call call;
};
/// Every operation, by the name of its recording.
std::vector<NamedCall> named_calls();

/// What our operation does in this case with a release: empty if as recorded, else how it differs.
std::string compare(Call call, const io::Json& recorded, const Card& card, const TorchRules& torch, bool hand_over);

}  // namespace tidemark
