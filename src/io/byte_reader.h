// Bytes one after another, from memory, a file or an archive, whose number is known from the start: a reader of some format can refuse a
// size that the bytes do not justify before it allocates anything.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace attn {

class ByteReader {
 public:
  virtual ~ByteReader() = default;
  ByteReader(const ByteReader&) = delete;
  ByteReader& operator=(const ByteReader&) = delete;

  // What errors call it.
  const std::string& name() const { return name_; }
  std::uint64_t remaining() const { return remaining_; }

  // Exactly `bytes` bytes. Throws FileError "<name>: <where>: expected 12 bytes, found 3".
  void read(void* to, std::uint64_t bytes, std::string_view where);
  std::string read_text(std::uint64_t bytes, std::string_view where);

  // Passes over bytes; throws as read() does.
  void skip(std::uint64_t bytes, std::string_view where);

  // Throws FileError unless that many bytes remain.
  void require(std::uint64_t bytes, std::string_view where) const;

  // Throws FileError "<name>: <where>: expected X, found Y".
  [[noreturn]] void fail(std::string_view where, std::string_view expected, std::string_view found) const;

 protected:
  ByteReader(std::string name, std::uint64_t size) : name_(std::move(name)), remaining_(size) {}

 private:
  // Up to `bytes` bytes, 0 at the end. Throws FileError where reading fails.
  virtual std::uint64_t read_some(char* to, std::uint64_t bytes) = 0;
  // Passes over bytes that are there; by reading them, where a reader has nothing faster.
  virtual void skip_present(std::uint64_t bytes);

  std::string name_;
  std::uint64_t remaining_;
};

// Bytes in memory, which must stay there.
std::unique_ptr<ByteReader> memory_reader(std::string_view bytes, std::string name);

// A file; of a pipe everything is read at once. Throws FileError "<path>: open: <the system's reason>".
std::unique_ptr<ByteReader> file_reader(const std::string& path);

}  // namespace attn
