#include "io/byte_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "io/read_file.h"
#include "machine/error.h"

namespace attn {
namespace {

class MemoryReader final : public ByteReader {
 public:
  MemoryReader(std::string_view bytes, std::string name) : ByteReader(std::move(name), bytes.size()), bytes_(bytes) {}
  MemoryReader(std::string&& owned, std::string name)
      : ByteReader(std::move(name), owned.size()), owned_(std::move(owned)), bytes_(owned_) {}

 private:
  std::uint64_t read_some(char* to, std::uint64_t bytes) override {
    const std::size_t count = bytes_.copy(to, bytes);
    bytes_.remove_prefix(count);
    return count;
  }

  std::string owned_;
  std::string_view bytes_;
};

class FileReader final : public ByteReader {
 public:
  FileReader(const std::string& path, std::uint64_t size, int descriptor) : ByteReader(path, size), descriptor_(descriptor) {}
  ~FileReader() override { ::close(descriptor_); }
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

 private:
  std::uint64_t read_some(char* to, std::uint64_t bytes) override {
    ssize_t count = 0;
    do count = ::read(descriptor_, to, std::min<std::uint64_t>(bytes, 1U << 30));
    while (count < 0 && errno == EINTR);
    if (count < 0) throw FileError(name() + ": read: " + std::strerror(errno));
    return static_cast<std::uint64_t>(count);
  }
  void skip_present(std::uint64_t bytes) override {
    if (::lseek(descriptor_, static_cast<off_t>(bytes), SEEK_CUR) < 0) throw FileError(name() + ": read: " + std::strerror(errno));
  }

  int descriptor_;
};

}  // namespace

void ByteReader::fail(std::string_view where, std::string_view expected, std::string_view found) const {
  throw FileError(fmt::format("{}: {}: expected {}, found {}", name_, where, expected, found));
}

void ByteReader::require(std::uint64_t bytes, std::string_view where) const {
  if (bytes > remaining_) fail(where, fmt::format("{} bytes", bytes), std::to_string(remaining_));
}

void ByteReader::read(void* to, std::uint64_t bytes, std::string_view where) {
  require(bytes, where);
  char* end = static_cast<char*>(to);
  for (std::uint64_t missing = bytes; missing > 0;) {
    const std::uint64_t count = read_some(end, missing);
    if (count == 0) fail(where, fmt::format("{} bytes", bytes), std::to_string(bytes - missing));
    end += count;
    missing -= count;
  }
  remaining_ -= bytes;
}

std::string ByteReader::read_text(std::uint64_t bytes, std::string_view where) {
  require(bytes, where);
  std::string text(bytes, '\0');
  read(text.data(), bytes, where);
  return text;
}

void ByteReader::skip_present(std::uint64_t bytes) {
  char piece[1 << 14];
  while (bytes > 0) {
    const std::uint64_t count = read_some(piece, std::min<std::uint64_t>(bytes, sizeof piece));
    if (count == 0) fail("read", fmt::format("{} bytes more", bytes), "the end");
    bytes -= count;
  }
}

void ByteReader::skip(std::uint64_t bytes, std::string_view where) {
  require(bytes, where);
  skip_present(bytes);
  remaining_ -= bytes;
}

std::unique_ptr<ByteReader> memory_reader(std::string_view bytes, std::string name) {
  return std::make_unique<MemoryReader>(bytes, std::move(name));
}

std::unique_ptr<ByteReader> file_reader(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) return std::make_unique<MemoryReader>(read_file(path), path);
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0 || ::fstat(descriptor, &status) != 0) throw FileError(path + ": open: " + std::strerror(errno));
  return std::make_unique<FileReader>(path, static_cast<std::uint64_t>(status.st_size), descriptor);
}

}  // namespace attn
