#include "io/read_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "machine/error.h"

namespace attn {

std::string read_file(const std::string& path) {
  const auto refuse = [&path](const char* where) { throw FileError(path + ": " + where + ": " + std::strerror(errno)); };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (file == nullptr) refuse("open");
  std::string bytes;
  char piece[1 << 16];
  while (const std::size_t count = std::fread(piece, 1, sizeof piece, file.get())) bytes.append(piece, count);
  if (std::ferror(file.get()) != 0) refuse("read");
  return bytes;
}

}  // namespace attn
