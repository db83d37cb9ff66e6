// Recordings as they lie in these folders: text, most of it packed with gzip, of the base release of torch; and of each
// other release, what it does differently: torch-RELEASE.diff.gz (tools/trace/differences.py writes them and has the
// format). What of a release is not predicted as it was recorded stands in torch-RELEASE.open.txt, with the reason.
#pragma once
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tidemark {

/// Of a file that is not packed, what it holds; empty when there is no such file.
std::string unpack(const std::filesystem::path& path);

/// `base` after an edit script of `diff --rcs`: "dLINE COUNT" and "aLINE COUNT", lines counted from 1 in `base`.
std::string edited(const std::string& base, const std::string& script);

/// Where a test's recordings are: beside it, or in another folder, of raw recordings, that the environment names.
std::filesystem::path recordings_folder(const char* beside);

/// The torch of what lies there as it was recorded: of another folder, the environment says it.
std::string recordings_torch();

/// A recording of one release of torch.
struct RecordedCase {
  std::string torch, name;
  bool is_base = false, differs = false;  // from the base's recording
  std::string open = {};                  // why it is known not to be predicted; the test holds it to that

  /// As the name of a test: "adamw_in_2_15_0".
  std::string told() const;
};

/// The recordings of a folder: the base's, and those of every release beside it.
class Recordings {
 public:
  explicit Recordings(std::filesystem::path folder, std::string ending = ".txt.gz");

  /// The base's, then each release's, both in alphabetical order.
  std::vector<RecordedCase> cases() const;

  std::string text(const RecordedCase& recorded) const;

 private:
  struct Release {
    std::map<std::string, std::string> edits;
    std::set<std::string> without;
  };

  void add_release(const std::string& text);

  /// A line of torch-RELEASE.open.txt: the name of a recording, and why it is not predicted.
  void add_open(const std::string& torch, const std::filesystem::path& path);

  std::string why_open(const std::string& torch, const std::string& name) const;

  std::filesystem::path folder_;
  std::string ending_, base_ = recordings_torch();
  std::set<std::string> names_;
  std::map<std::string, Release> releases_;
  std::map<std::pair<std::string, std::string>, std::string> open_;
};

}  // namespace tidemark
