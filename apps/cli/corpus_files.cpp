#include "corpus_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "card_choice.h"
#include "files.h"
#include "io/corpus_json.h"
#include "io/measurements_csv.h"
#include "io/report_json.h"
#include "io/spec_yaml.h"
#include "io/torch_snapshot.h"
#include "spec_options.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

std::string folder_of(const fs::path& path) {
  const fs::path parent = path.parent_path();
  return parent.empty() ? "." : parent.string();
}

Corpus named(const fs::path& path) {
  Corpus corpus;
  corpus.info.schema = kCorpusSchema;
  corpus.info.name = path.filename().string();
  corpus.info.source = path.string();
  corpus.folder = folder_of(path);
  return corpus;
}

Corpus read_folder(const fs::path& folder) {
  Corpus corpus;
  corpus.folder = folder.string();
  const auto read = [&](const char* name, auto&& reader) {
    const fs::path path = folder / name;
    return reader(read_file(path), path.string());
  };
  corpus.info = read("corpus.json", io::read_corpus_json);
  corpus.rows = read("rows.jsonl", io::read_rows);
  std::error_code ignored;
  if (fs::exists(folder / "predictions.jsonl", ignored)) corpus.stored = read("predictions.jsonl", io::read_answers);
  if (fs::exists(folder / "estimates.jsonl", ignored))
    add_estimates(corpus, read("estimates.jsonl", io::read_estimates));
  return corpus;
}

/// A row per figure that was measured.
class Rows {
 public:
  Rows(std::string name, const std::string& spec, const std::string& path) : name_(std::move(name)), path_(path) {
    if (spec.empty())
      throw Error(Errc::usage, "it does not say what was trained", path,
                  "name a spec file with --spec (docs/reference/spec.md)");
    spec_ = spec_of_file(spec);
  }

  const Value& spec() const { return spec_; }

  void add(Metric metric, std::optional<std::int64_t> bytes, const std::string& gpu, std::int64_t memory_bytes,
           std::optional<bool> out_of_memory) {
    if (!bytes || *bytes == 0) return;
    Measurement row;
    row.id = fmt::format("{} {}", name_, kMetricNames[static_cast<std::size_t>(metric)]);
    row.source = row.where = path_;
    row.gpu = gpu;
    if (memory_bytes > 0) row.memory_bytes = memory_bytes;
    row.metric = metric;
    row.measured_bytes = bytes;
    row.out_of_memory = out_of_memory;
    row.predict = spec_;
    row.run_reason = "it is the measured run itself";
    if (const Value* gpus = spec_.find("gpus")) row.n_gpus = to_integer(*gpus, {path_, "gpus"});
    if (const Value* rank = spec_.find("rank")) row.rank = to_integer(*rank, {path_, "rank"});
    rows_.push_back(std::move(row));
  }

  std::vector<Measurement> take() { return std::move(rows_); }

 private:
  std::string name_, path_;
  Value spec_;
  std::vector<Measurement> rows_;
};

std::vector<Measurement> rows_of_snapshot(const fs::path& path, const std::string& text, const std::string& spec) {
  Rows rows(path.filename().string(), spec, path.string());
  const Value* gpu = rows.spec().find("gpu");
  if (!gpu || !gpu->as_text())
    throw Error(Errc::usage, "a snapshot does not say on which card it was made", path.string(),
                "say it in the spec file: gpu: h100-80gb");
  const MemoryRecord record = io::read_torch_snapshot(text, path.string());
  rows.add(Metric::allocated, record.allocated_bytes, *gpu->as_text(), 0, std::nullopt);
  rows.add(Metric::reserved, record.reserved_bytes, *gpu->as_text(), 0, std::nullopt);
  return rows.take();
}

std::vector<Measurement> rows_of_report(const fs::path& path, const std::string& text, const std::string& spec,
                                        const io::Catalogue& catalogue) {
  const Report report = io::read_report(text, path.string());
  Rows rows(path.filename().string(), spec, path.string());
  const Card& card = io::find_card(catalogue, report.card.key);
  const std::int64_t another_size = card.total_bytes == report.card.total_bytes ? 0 : report.card.total_bytes;
  const std::optional<bool> out_of_memory = report.fits ? std::optional(!*report.fits) : std::nullopt;
  rows.add(Metric::allocated, report.peak.allocated_bytes, card.key, another_size, out_of_memory);
  rows.add(Metric::reserved, report.peak.reserved_bytes, card.key, another_size, out_of_memory);
  return rows.take();
}

Corpus read_one_file(const fs::path& path, const std::string& spec, const io::Catalogue& catalogue) {
  Corpus corpus = named(path);
  const std::string text = read_file(path), extension = path.extension().string();
  if (extension == ".csv") {
    corpus.rows = io::read_measurements_csv(text, path.string());
  } else if (extension == ".jsonl") {
    corpus.rows = io::read_rows(text, path.string());
  } else if (io::is_torch_snapshot(text)) {
    corpus.rows = rows_of_snapshot(path, text, spec);
  } else if (extension == ".json") {
    corpus.rows = rows_of_report(path, text, spec, catalogue);
  } else {
    throw Error(
        Errc::bad_file, "it is no corpus", path.string(),
        "a corpus is a folder with corpus.json, a .jsonl, a .csv, a .pickle of PyTorch or a report of Tidemark");
  }
  return corpus;
}

}  // namespace

std::vector<std::string> installed_corpora(const fs::path& validation) {
  std::vector<std::string> folders;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(validation, error))
    if (fs::exists(entry.path() / "corpus.json", error)) folders.push_back(entry.path().string());
  if (folders.empty())
    throw Error(Errc::not_found, "no corpus is installed", validation.string(), "name one: tidemark validate CORPUS");
  std::sort(folders.begin(), folders.end());
  return folders;
}

Corpus read_corpus(const std::string& path, const std::string& spec, const io::Catalogue& catalogue) {
  std::error_code ignored;
  Corpus corpus = fs::is_directory(path, ignored) ? read_folder(path) : read_one_file(path, spec, catalogue);
  check_corpus(corpus);
  for (const Measurement& row : corpus.rows) {
    if (row.gpu.empty() || row.gpu.ends_with(".json")) continue;
    try {
      io::find_card(catalogue, row.gpu);
    } catch (const Error& error) {
      throw Error(error.code(), error.message(), row.where + ": gpu", error.hint());
    }
  }
  return corpus;
}

}  // namespace tidemark::cli
