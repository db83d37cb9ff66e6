#include "recordings.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <sstream>

namespace tidemark {

std::string unpack(const std::filesystem::path& path) {
  std::string text;
  gzFile file = gzopen(path.c_str(), "rb");
  char buffer[1 << 16];
  for (int read = 0; file && (read = gzread(file, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(read));
  if (file) gzclose(file);
  return text;
}

std::string edited(const std::string& base, const std::string& script) {
  std::istringstream from(base), commands(script);
  std::string result, line;
  std::int64_t taken = 0;
  const auto copy = [&](std::istringstream& lines, std::int64_t count) {
    for (; count > 0 && std::getline(lines, line); --count) result += line + '\n';
  };
  for (char kind = 0; commands >> kind;) {
    std::int64_t at = 0, count = 0;
    commands >> at >> count;
    commands.ignore();  // the end of the line
    const std::int64_t kept = kind == 'd' ? at - 1 : at;
    copy(from, kept - taken);
    taken = std::max(taken, kept);
    if (kind == 'a') copy(commands, count);
    for (; kind == 'd' && count > 0 && std::getline(from, line); --count) ++taken;
  }
  while (std::getline(from, line)) result += line + '\n';
  return result;
}

std::filesystem::path recordings_folder(const char* beside) {
  const char* other = std::getenv("TIDEMARK_RECORDINGS");
  return other ? other : beside;
}

std::string recordings_torch() {
  const char* other = std::getenv("TIDEMARK_RECORDINGS_TORCH");
  return other ? other : "2.11.0";
}

std::string RecordedCase::told() const {
  std::string text = name + "_in_" + torch;
  std::replace(text.begin(), text.end(), '.', '_');
  return text;
}

Recordings::Recordings(std::filesystem::path folder, std::string ending)
    : folder_(std::move(folder)), ending_(std::move(ending)) {
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    const std::string file = entry.path().filename().string();
    if (file.starts_with("torch-") && file.ends_with(".diff.gz")) add_release(unpack(entry.path()));
    if (file.starts_with("torch-") && file.ends_with(".open.txt"))
      add_open(file.substr(6, file.size() - 15), entry.path());
    if (file.ends_with(ending_)) names_.insert(file.substr(0, file.size() - ending_.size()));
  }
}

std::vector<RecordedCase> Recordings::cases() const {
  std::vector<RecordedCase> found;
  for (const std::string& name : names_) found.push_back({base_, name, true, false});
  for (const auto& [torch, release] : releases_) {
    std::set<std::string> names = names_;
    for (const auto& [name, edits] : release.edits) names.insert(name);
    for (const std::string& name : names)
      if (!release.without.contains(name))
        found.push_back({torch, name, false, release.edits.contains(name), why_open(torch, name)});
  }
  return found;
}

std::string Recordings::text(const RecordedCase& recorded) const {
  std::string base = unpack(folder_ / (recorded.name + ending_));
  if (recorded.is_base) return base;
  for (std::size_t at = 0; (at = base.find(base_, at)) != std::string::npos; at += recorded.torch.size())
    base.replace(at, base_.size(), recorded.torch);
  return recorded.differs ? edited(base, releases_.at(recorded.torch).edits.at(recorded.name)) : base;
}

void Recordings::add_release(const std::string& text) {
  std::istringstream lines(text);
  std::string torch, name;
  Release release;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t space = line.find(' ');
    const std::string word = line.substr(0, space), rest = line.substr(space + 1);
    if (word == "release") torch = rest;
    if (word == "without") release.without.insert(rest);
    if (word == "case") release.edits[name = rest];
    if (name.empty() || word == "case") continue;
    std::string& edits = release.edits[name] += line + '\n';
    for (std::int64_t count = word[0] == 'a' ? std::stoll(rest) : 0; count > 0 && std::getline(lines, line); --count)
      edits += line + '\n';
  }
  releases_[torch] = std::move(release);
}

void Recordings::add_open(const std::string& torch, const std::filesystem::path& path) {
  std::istringstream lines(unpack(path));
  for (std::string name, why; lines >> name && std::getline(lines >> std::ws, why);) open_[{torch, name}] = why;
}

std::string Recordings::why_open(const std::string& torch, const std::string& name) const {
  const auto found = open_.find({torch, name});
  return found == open_.end() ? "" : found->second;
}

}  // namespace tidemark
