// Fingerprints of numbers, by which rows say whether they had the same inputs and came to the same output.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "matrix/matrix.h"

namespace attn {

// XXH3 (64 bits) over everything that was added, in that order, as if it were one piece.
class Fingerprint {
 public:
  Fingerprint();
  ~Fingerprint();

  Fingerprint& add(const void* data, std::size_t bytes);
  template <class T>
  Fingerprint& add(const Matrix<T>& matrix) {
    return add(matrix.data(), matrix.bytes());
  }

  // 16 hexadecimal digits.
  std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace attn
