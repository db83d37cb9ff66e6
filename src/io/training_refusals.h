// All that a trainer's file asks for and that is not predicted, with the nearest values that are.
#pragma once
#include <string>
#include <vector>

namespace tidemark::io {

/// Memory of a training by the nearest value, against that by the refused one.
enum class Takes { more, less, either };

/// A value that is predicted, as the file would spell it; empty: there is none.
struct Nearest {
  std::string value;
  Takes takes = Takes::either;
};

struct Refusal {
  std::string where, why, hint;  // `where` names file, line and key
  Nearest nearest;
};

/// In the order in which keys are read.
class Refusals {
 public:
  void add(Refusal refusal);
  /// Throws one Error{unsupported} that names each, unless there is none.  `file` is where most stand.
  void check(const std::string& file) const;
  /// Removes each that has a nearest value; the reader has gone on with that.  The result says so, one string each.
  std::vector<std::string> take_nearest(const std::string& file);

 private:
  std::vector<Refusal> refusals_;
};

}  // namespace tidemark::io
