// The one result of an experiment, from which every format is printed.
//
// A report is a list of blocks. A block holds its rows (flat records, one per parameter setting) and its arrays, and its text as a
// document would print it. What the documents round, a block also holds as RoundedCell, so that a check can tell how safe the digits are.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "matrix/matrix.h"
#include "report/json.h"
#include "report/text.h"

namespace attn {

// One named value of a row. `value` is a number, string, bool, null, or an array or object of them; NaN and infinity print as null.
struct Field {
  std::string name;
  Json value;
  bool measured = false;
};

// A flat record; fields keep their order.
class Row {
 public:
  Row& exact(std::string name, Json value);
  Row& measured(std::string name, Json value);
  Row& append(const Row& other);
  const std::vector<Field>& fields() const { return fields_; }

  // The field of that name, or nullptr.
  const Field* find(std::string_view name) const;

 private:
  std::vector<Field> fields_;
};

// A named vector (shape {n}), matrix (shape {rows, cols}) or array of more dimensions; one row-major list of values.
struct Array {
  std::string name;
  std::vector<Index> shape;
  std::vector<double> values;
};

// Copies a matrix (rows, cols) or one row of it into an Array.
Array make_array(std::string name, MatrixView<const double> matrix);
Array make_vector(std::string name, std::vector<double> values);

// A number that is printed with `decimals` digits, with the same number computed in long double: their distance is its rounding error.
struct RoundedCell {
  std::string name;
  double value = 0;
  long double precise = 0;
  int decimals = 0;
};

struct Block {
  int document = 0;  // 0: of no document
  std::string id;    // as in data/documents/<document>-<id>.txt
  std::string title;
  Text text = {};
  std::vector<Row> rows = {};
  std::vector<Array> arrays = {};
  std::vector<RoundedCell> rounded = {};
  // Where the document states figures in words, the same figures as computed here, one per line, for the check; otherwise empty.
  Text figures = {};
};

// How a row, and with it the program, ended.
enum class Status { passed, failed, skipped, error };

std::string_view status_name(Status status);

// The one to tell of where rows differ: failed before error before skipped before passed.
Status worse_of(Status a, Status b);

// What stands above blocks in text, where there are several.
enum class Headings { per_block, per_document, none };

struct Report {
  std::string experiment;
  Json args = Json::object();  // what the caller asked for, defaults filled in
  std::vector<Block> blocks = {};
  bool tabular = false;  // rows are the result (a sweep); otherwise arrays are
  Headings headings = Headings::per_block;
  Status status = Status::passed;
};

}  // namespace attn
