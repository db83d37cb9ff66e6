// Any Value survives being written as JSON.
#include <gtest/gtest.h>
// (rapidcheck's header wants GoogleTest's first)
#include <rapidcheck/gtest.h>

#include "io/value_json.h"

namespace tidemark::io {
namespace {

std::string any_key() { return *rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127)); }

Value any_value(int depth) {
  switch (*rc::gen::inRange(0, depth > 0 ? 7 : 5)) {
    case 0: return {};
    case 1: return *rc::gen::arbitrary<bool>();
    case 2: return *rc::gen::arbitrary<std::int64_t>();
    case 3: return *rc::gen::arbitrary<double>() + 0.5;
    case 4: return any_key();
    case 5: {
      Value list = Value::List();
      for (int i = *rc::gen::inRange(0, 4); i > 0; --i) list.append(any_value(depth - 1));
      return list;
    }
    default: {
      Value map = Value::Map();
      for (int i = *rc::gen::inRange(0, 4); i > 0; --i) map.set(any_key(), any_value(depth - 1));
      return map;
    }
  }
}

RC_GTEST_PROP(ValueJson, GivesBackWhatItWrote, ()) {
  const Value value = any_value(4);
  RC_ASSERT(value_from_json(value_to_json(value), "json") == value);
}

RC_GTEST_PROP(Merged, IsWhatLiesOnTop, ()) {
  const Value under = any_value(3), over = any_value(3);
  const Value both = merged(under, over);
  RC_ASSERT(merged(both, over) == both);
  const bool two_maps = under.as_map() && over.as_map();
  RC_ASSERT(two_maps || both == over);
}

}  // namespace
}  // namespace tidemark::io
