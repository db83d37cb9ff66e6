#include "program/rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace tidemark {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

constexpr std::string_view kForEach = " for i in ", kBy = " by ";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Where the bracket that opens at `open` closes; npos where it does not.
std::size_t closing(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    if (text[at] == '[' || text[at] == '(') ++depth;
    if ((text[at] == ']' || text[at] == ')') && --depth == 0) return at;
  }
  return std::string_view::npos;
}

class Writer {
 public:
  Writer(const std::vector<ProgramLine>& lines, Program& program, std::deque<std::string>& texts)
      : lines_(lines), program_(program), texts_(texts) {}

  std::vector<ProgramLine> all(std::size_t first) {
    out_.assign(lines_.begin(), lines_.begin() + static_cast<std::ptrdiff_t>(first));
    write(first, lines_.size(), 0, {});
    return std::move(out_);
  }

 private:
  /// What the indices of the loops around are now: "i", or "j" and "i" in it.
  using Round = std::vector<std::pair<char, std::int64_t>>;

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(Errc::bad_file, what, program_.where(lines_[at_].number));
  }

  /// The lines from one to another, which stand `less` deeper than they will.
  void write(std::size_t from, std::size_t to, std::size_t less, const Round& round) {
    for (std::size_t at = from; at < to; ++at) {
      at_ = at;
      const ProgramLine& line = lines_[at];
      const bool is_outer = line.text.starts_with("each j in ");
      if (!is_outer && !line.text.starts_with("each i in ")) {
        const std::string_view text = plain(line.text, round);
        if (text != "del" && text != "hold" && text != "keep") out_.push_back({line.number, line.indent - less, text});
        continue;
      }
      const char index = is_outer ? 'j' : 'i';
      if (!round.empty() && (is_outer || round.front().first == 'i')) fail("an \"each\" within another");
      std::size_t end = at + 1;
      while (end < lines_.size() && lines_[end].indent > line.indent) ++end;
      const std::string_view rounds = line.text.substr(10, line.text.size() - 11);
      const std::size_t by = rounds.find(kBy);
      const std::vector<std::string>* const order =
          by == std::string_view::npos ? nullptr : &order_of(rounds.substr(by + kBy.size()));
      const auto [first, last] = range(rounds.substr(0, by), round);
      check(last - first);
      Round inner = round;
      inner.emplace_back(index, first);
      for (; inner.back().second <= last; ++inner.back().second)
        order ? write_kind(at + 1, end, less + 2, inner, *order) : write(at + 1, end, less + 2, inner);
      at = end - 1;
    }
  }

  const std::vector<std::string>& order_of(std::string_view path) const {
    const auto found = program_.orders.find(path);
    if (found == program_.orders.end()) fail(fmt::format("{} is no list of layers' kinds", path));
    return found->second;
  }

  /// Of blocks "of "a":" that of the layer whose round it is.
  void write_kind(std::size_t from, std::size_t to, std::size_t less, const Round& round,
                  const std::vector<std::string>& order) {
    const std::int64_t layer = round.back().second;
    at_ = from - 1;
    if (layer < 0 || layer >= std::ssize(order)) fail(fmt::format("no layer {} of {}", layer, order.size()));
    const std::string wanted = fmt::format("of \"{}\":", order[static_cast<std::size_t>(layer)]);
    for (std::size_t at = from; at < to; ++at) {
      if (lines_[at].indent != lines_[from].indent || lines_[at].text != wanted) continue;
      std::size_t end = at + 1;
      while (end < to && lines_[end].indent > lines_[at].indent) ++end;
      return write(at + 1, end, less + 2, round);
    }
    fail(fmt::format("nothing is told of \"{}\"", order[static_cast<std::size_t>(layer)]));
  }

  void check(std::int64_t more) const {
    constexpr std::int64_t kMost = 1 << 16;
    if (more > kMost) fail("more than 2^16 rounds");
  }

  std::int64_t number(std::string_view text, const Round& round) {
    const std::string numbers = in_round(text, round);
    const bool is_counted = numbers == text;  // else it differs from round to round
    const Expression expression = Expression::parse(numbers, program_.symbols, program_.where(lines_[at_].number));
    const std::int64_t value = expression(program_.captured_values);
    if (is_counted) program_.counted.emplace_back(expression, value);
    return value;
  }

  std::pair<std::int64_t, std::int64_t> range(std::string_view text, const Round& round) {
    const std::size_t dots = text.find("..");
    if (dots == std::string_view::npos) fail("expected FIRST..LAST");
    const std::int64_t first = number(text.substr(0, dots), round);
    return {first, number(text.substr(dots + 2), round)};
  }

  /// "images - 2..0" goes down and "1..images - 1" up, also where there are none; of two numbers, as they stand.
  static std::int64_t step_of(std::string_view range, std::int64_t first, std::int64_t last) {
    const std::size_t dots = range.find("..");
    const auto is_number = [](std::string_view text) { return std::all_of(text.begin(), text.end(), is_digit); };
    const bool from_number = is_number(range.substr(0, dots)), to_number = is_number(range.substr(dots + 2));
    if (from_number == to_number) return first <= last ? 1 : -1;
    return from_number ? 1 : -1;
  }

  /// The line of a round, with names in the place of elements.
  std::string_view plain(std::string_view text, const Round& round) {
    if (round.empty() && !has_rows(text) && text.find(kForEach) == std::string_view::npos) return text;
    std::string written;
    bool changed = false;
    for (std::size_t at = 0; at < text.size();) {
      if (text[at] == '"') {
        const std::size_t end = std::min(text.find('"', at + 1), text.size() - 1);
        written += text.substr(at, end + 1 - at);
        at = end + 1;
      } else if (const std::size_t open = row(text, at); open != std::string_view::npos) {
        at = element(text, at, open, round, written);
        changed = true;
      } else if (const std::size_t close = text[at] == '[' ? closing(text, at) : std::string_view::npos;
                 close != std::string_view::npos &&
                 text.substr(at, close - at).rfind(kForEach) != std::string_view::npos &&
                 text.substr(at + 1, close - at - 1).find('[') == std::string_view::npos) {
        written += for_each(text.substr(at + 1, close - at - 1), round);
        at = close + 1;
        changed = true;
      } else if (is_letter(text[at])) {
        const auto* const end = std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), is_letter);
        const std::string_view word = text.substr(at, static_cast<std::size_t>(end - text.begin()) - at);
        const bool is_of_a_name = (at > 0 && std::string_view("$%_").find(text[at - 1]) != std::string_view::npos) ||
                                  text.substr(at + word.size()).starts_with('_');
        const std::int64_t* now = is_of_a_name ? nullptr : of(round, word);
        written += now ? std::to_string(*now) : std::string(word);
        changed |= now != nullptr;
        at += word.size();
      } else {
        written += text[at++];
      }
    }
    if (!changed) return text;
    return texts_.emplace_back(std::move(written));
  }

  /// "16*i for i in 0..images - 1": "[0, 16, 32]"
  std::string for_each(std::string_view text, const Round& round) {
    const std::size_t at = text.find(kForEach);
    const auto [first, last] = range(text.substr(at + kForEach.size()), round);
    check(last - first);
    std::string written = "[";
    Round inner = round;
    std::erase_if(inner, [](const auto& index) { return index.first == 'i'; });
    inner.emplace_back('i', first);
    for (std::int64_t& i = inner.back().second; i <= last; ++i) {
      if (i > first) written += ", ";
      written += plain(text.substr(0, at), inner);
    }
    return written + "]";
  }

  static bool has_rows(std::string_view text) {
    for (std::size_t at = text.find('['); at != std::string_view::npos; at = text.find('[', at + 1)) {
      std::size_t begin = at;
      while (begin > 0 && is_digit(text[begin - 1])) --begin;
      if (begin < at && begin > 0 && text[begin - 1] == '%') return true;
    }
    return false;
  }

  /// Where the bracket of "%12[…]" opens, or of "%12%7[…]", if that stands here.
  static std::size_t row(std::string_view text, std::size_t at) {
    while (at < text.size() && text[at] == '%') {
      std::size_t end = at + 1;
      while (end < text.size() && is_digit(text[end])) ++end;
      if (end == at + 1 || end == text.size()) break;
      if (text[end] == '[') return end;
      at = end;
    }
    return std::string_view::npos;
  }

  /// "%12%7" at a place: "%12.3, %7.3"
  static std::string at_place(std::string_view names, std::string_view place, std::string_view type) {
    std::string written;
    for (std::size_t begin = 0; begin < names.size();) {
      const std::size_t end = std::min(names.find('%', begin + 1), names.size());
      written += fmt::format("{}{}{}{}", begin ? ", " : "", names.substr(begin, end - begin), place, type);
      begin = end;
    }
    return written;
  }

  /// Writes an element or all of a span, with the type that stands behind it; what comes next in the line.
  std::size_t element(std::string_view text, std::size_t at, std::size_t open, const Round& round,
                      std::string& written) {
    std::size_t close = closing(text, open);
    if (close == std::string_view::npos) fail("a place in a row without its end");
    std::string_view name = text.substr(at, open - at), place = text.substr(open + 1, close - open - 1);
    std::string of_row;
    if (place.find("..") == std::string_view::npos) {
      const std::string outer = fmt::format(".{}", number(place, round));
      if (close + 1 == text.size() || text[close + 1] != '[') {
        written += at_place(name, outer, "");
        return close + 1;
      }
      open = close + 1;  // a place in a row of a row
      close = closing(text, open);
      if (close == std::string_view::npos) fail("a place in a row without its end");
      place = text.substr(open + 1, close - open - 1);
      of_row = outer;
      if (place.find("..") == std::string_view::npos) {
        written += at_place(name, fmt::format("{}.{}", outer, number(place, round)), "");
        return close + 1;
      }
    }
    std::size_t end = close + 1;
    if (text.substr(end).starts_with(": ")) end = closing(text, text.find('[', end)) + 1;
    while (text.substr(end).starts_with(" view") || text.substr(end).starts_with(" cpu")) end = text.find(' ', end + 1);
    const auto [first, last] = range(place, round);
    const std::int64_t step = step_of(place, first, last), rounds = (last - first) * step;
    check(rounds);
    if (rounds < 0) return without(text, end, written);
    const std::string type(text.substr(close + 1, end - close - 1));
    for (std::int64_t i = first; i != last + step; i += step) {
      Round inner = round;
      inner.emplace_back('i', i);
      written += at_place(name, fmt::format("{}.{}", of_row, i), plain(type, inner));
      if (i != last) written += ", ";
    }
    return end;
  }

  /// Leaves out what parts a span of none from others in its list, and its name there; what comes next in the line.
  static std::size_t without(std::string_view text, std::size_t end, std::string& written) {
    if (written.ends_with('=')) written.erase(written.find_last_of(" (") + 1);  // "outputs=%3[1..0]"
    for (const std::string_view between : {", ", " "}) {
      if (text.substr(end).starts_with(between)) return end + between.size();
      if (!written.ends_with(between)) continue;
      written.erase(written.size() - between.size());
      break;
    }
    return end;
  }

  static const std::int64_t* of(const Round& round, std::string_view word) {
    for (auto at = round.rbegin(); at != round.rend(); ++at)
      if (word.size() == 1 && word[0] == at->first) return &at->second;
    return nullptr;
  }

  /// Numbers in the place of the indices.
  static std::string in_round(std::string_view text, const Round& round) {
    std::string numbers;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = at;
      while (end < text.size() && (is_letter(text[end]) || text[end] == '_')) ++end;
      const std::int64_t* now = of(round, text.substr(at, end - at));
      end = std::max(end, at + 1);
      numbers += now ? std::to_string(*now) : std::string(text.substr(at, end - at));
      at = end;
    }
    return numbers;
  }

  const std::vector<ProgramLine>& lines_;
  Program& program_;
  std::deque<std::string>& texts_;
  std::vector<ProgramLine> out_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<ProgramLine> written_out(const std::vector<ProgramLine>& lines, std::size_t first, Program& program,
                                     std::deque<std::string>& texts) {
  return Writer(lines, program, texts).all(first);
}

}  // namespace tidemark
