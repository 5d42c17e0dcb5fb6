// The errors that the library throws. The program turns their kind into its exit code; nothing below it prints or exits.
//
// Messages read "<what>: <where>: expected X, found Y", without the program's name and without a full stop.
#pragma once

#include <stdexcept>
#include <string>

namespace attn {

// Base of all errors that a user can cause; anything else that escapes is a defect.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A value, option or shape that makes no sense: exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

// A file that cannot be read, written or understood: exit code 3.
class FileError : public Error {
 public:
  using Error::Error;
};

// More memory than there is: exit code 3, or a skipped row of a sweep.
class MemoryError : public Error {
 public:
  using Error::Error;
};

}  // namespace attn
