// A key of a configuration that transformers does not read.
#pragma once
#include <string>

namespace tidemark {

struct UnreadKey {
  std::string path, key;
  std::string nearest;  // a key that is read and missing, or empty: a typing error perhaps, in transformers as well
};

}  // namespace tidemark
