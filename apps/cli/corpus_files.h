// Corpora from whatever holds measured trainings: folders, tables, snapshots of PyTorch, our own reports.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "io/card_json.h"
#include "validate/corpus.h"

namespace tidemark::cli {

/// The folders in `validation` that have a corpus.json, by name.
std::vector<std::string> installed_corpora(const std::filesystem::path& validation);

/// A folder with a corpus.json, a .jsonl with rows, a .csv, or (with the file `spec`, which says what was trained) a
/// report or a snapshot.  Throws Error.
Corpus read_corpus(const std::string& path, const std::string& spec, const io::Catalogue& catalogue);

}  // namespace tidemark::cli
