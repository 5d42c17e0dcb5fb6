#include "report/report.h"

#include <algorithm>

namespace attn {

Row& Row::exact(std::string name, Json value) {
  fields_.push_back({std::move(name), std::move(value), false});
  return *this;
}

Row& Row::measured(std::string name, Json value) {
  fields_.push_back({std::move(name), std::move(value), true});
  return *this;
}

Row& Row::append(const Row& other) {
  fields_.insert(fields_.end(), other.fields_.begin(), other.fields_.end());
  return *this;
}

const Field* Row::find(std::string_view name) const {
  const auto found = std::find_if(fields_.begin(), fields_.end(), [&](const Field& field) { return field.name == name; });
  return found == fields_.end() ? nullptr : &*found;
}

Array make_array(std::string name, MatrixView<const double> matrix) {
  Array array{std::move(name), {matrix.rows(), matrix.cols()}, {}};
  array.values.reserve(static_cast<std::size_t>(matrix.size()));
  for (Index i = 0; i < matrix.rows(); ++i) array.values.insert(array.values.end(), matrix.row(i), matrix.row(i) + matrix.cols());
  return array;
}

Array make_vector(std::string name, std::vector<double> values) {
  const auto size = static_cast<Index>(values.size());
  return {std::move(name), {size}, std::move(values)};
}

std::string_view status_name(Status status) {
  switch (status) {
    case Status::passed:
      return "passed";
    case Status::failed:
      return "failed";
    case Status::skipped:
      return "skipped";
    case Status::error:
      return "error";
  }
  return "error";
}

Status worse_of(Status a, Status b) {
  const auto rank = [](Status status) {
    return status == Status::failed ? 3 : status == Status::error ? 2 : status == Status::skipped ? 1 : 0;
  };
  return rank(a) < rank(b) ? b : a;
}

}  // namespace attn
