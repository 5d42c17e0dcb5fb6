// What the readers owe for a malformed file: an error that says what is wrong, before they take memory that the file does not justify.
#pragma once

#include <string>

#include "catch.h"
#include "io/memory_request.h"
#include "machine/allocation.h"
#include "machine/error.h"

namespace attn {

// read(bytes) throws a FileError whose text contains `message`, allocates nothing for elements, and asks for no piece of memory that is
// large beside the file. (libzip's buffers are 64 KB.)
template <class Read>
void check_refused_by(Read&& read, const std::string& bytes, const std::string& message) {
  INFO(bytes.substr(0, 200));
  std::string found;
  reset_allocation_high_water();
  const std::size_t before = allocated_bytes();
  largest_request_reset();
  try {
    read(bytes);
  } catch (const FileError& error) {
    found = error.what();
  }
  const std::size_t largest = largest_request();
  CHECK(allocation_high_water_bytes() == before);
  CHECK(largest <= 8 * bytes.size() + 70000);
  INFO(found);
  CHECK(found.find(message) != std::string::npos);
}

}  // namespace attn
