// The two sides of a comparison: documents that runs wrote, read and checked.
#pragma once

#include <string>
#include <vector>

#include "report/report.h"

namespace attn {

// A document {schema_version, context, args, results}, from JSON or JSON Lines.
struct ComparedFile {
  std::string path;
  Json context;
  std::vector<Json> rows;  // of its results, those that a sweep may have again: objects with a status
};

// One side; its files are so many runs of the same thing.
struct Side {
  std::string name;  // "OLD" or "NEW"
  std::vector<ComparedFile> files;
};

// Reads the files of a list "a.json,b.json". Throws FileError, naming the file and the place, for one that cannot be read, is no document
// of this program's or has another schema_version; UsageError for an empty name and for a file that is named twice.
Side read_side(const std::string& name, const std::string& list);

// Times per iteration in nanoseconds: all samples where the row has them, else its one median or mean, else none.
// Throws FileError where they are not positive numbers.
std::vector<double> times_ns(const ComparedFile& file, const Json& row);

// A string member of a row or context; empty where it is absent or no string.
std::string text_of(const Json& object, const std::string& name);

}  // namespace attn
