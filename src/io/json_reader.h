// Reads JSON objects strictly: a missing key, an unknown key and a wrong type are errors that name the place.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::io {

using Json = nlohmann::ordered_json;

/// Throws Error{bad_file} with the line of the mistake.  `where` names the file in messages.
Json parse_json(std::string_view text, const std::string& where);

/// One object that is being read.  Keys are taken one by one; finish() complains about those that nobody took.
class ObjectReader {
 public:
  /// `where` is the path so far: "cards.json: cards[3]".
  ObjectReader(const Json& object, std::string where);

  bool has(const char* key);
  std::string text(const char* key);
  std::int64_t number(const char* key);  // a whole number, not negative
  double real(const char* key);
  bool boolean(const char* key);
  const Json& array(const char* key);
  const Json& any(const char* key);
  /// The key "schema", which says what the file is.
  void schema(std::string_view expected);
  ObjectReader object(const char* key);

  /// The value, or nothing when the key is absent or null.
  const Json* optional(const char* key);

  std::string path(const char* key) const;
  [[noreturn]] void fail(const char* key, const std::string& expected, const Json& found) const;

  /// Throws for a key that was not asked for, naming the nearest that was.
  void finish() const;

 private:
  const Json& object_;
  std::string where_;
  std::vector<std::string> known_;
};

/// A whole number that is not negative, at a place that is not a key of an object.
std::int64_t whole_number(const Json& value, const std::string& where);

}  // namespace tidemark::io
