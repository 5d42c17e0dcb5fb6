// The one stream of random numbers that all rows of a sweep draw from, in their order.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "numpy/generator.h"
#include "report/report.h"

namespace attn {

class RowStream {
 public:
  // Begins `advance` 64-bit words after the seed's first one.
  explicit RowStream(const Seed& seed, uint128 advance = 0) : generator_(default_rng(seed)) { generator_.advance(advance); }

  // Throws MemoryError where an earlier row was too large even to pass over, so that this one's numbers are not known.
  Generator& generator();

  // For a row that is not computed: its `count` standard normals are drawn and forgotten, so that the rows after it keep theirs; as soon as
  // such a row asks for the generator or its position, since this may take minutes.
  void pass_over(double count);

  // Where the stream stands, as JSON: a number, or decimal digits in a string where it exceeds 64 bits; null where it is not known.
  Json position() const;

 private:
  // Draws what is still to be passed over. Throws MemoryError where that is too much.
  void catch_up() const;

  mutable Generator generator_;
  mutable double passed_over_ = 0;  // numbers that the generator has not drawn yet
};

// Why a row came to nothing.
struct RowFailure {
  Status status = Status::error;
  std::string reason;
};

// What the exception that is being handled makes of a row: skipped for want of memory, error for anything else. Throws it again where it is
// a UsageError, which concerns the whole sweep.
RowFailure failure_of_exception();

// Calls `make`, which draws the `count` numbers of a row from the stream. Where it throws, the stream stands behind those numbers all the
// same, so that the rows after it keep theirs.
std::optional<RowFailure> try_row(RowStream& stream, double count, const std::function<void()>& make);

// A position as --advance takes it.
std::string advance_text(const Json& position);

}  // namespace attn
