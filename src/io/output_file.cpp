#include "io/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "machine/error.h"

namespace attn {
namespace {

[[noreturn]] void fail(const std::string& path, const char* where) { throw FileError(path + ": " + where + ": " + std::strerror(errno)); }

// The file that a chain of links leads to; the path itself where there is none.
std::string without_links(const std::string& path) {
  std::error_code no_such_file;
  const std::filesystem::path target = std::filesystem::canonical(path, no_such_file);
  return no_such_file ? path : target.string();
}

}  // namespace

OutputFile::OutputFile(std::string path) : path_(std::move(path)), target_(without_links(path_)) {
  struct stat status {};
  if (::stat(target_.c_str(), &status) != 0) {
    const bool names_a_file = std::filesystem::path(target_).has_filename();  // "" and "folder/" do not
    if (errno != ENOENT || !names_a_file) fail(path_, "open");
    create_beside(target_);
    return;
  }
  // Also a regular file is opened: renaming would silently replace one that may not be written. Nothing is truncated here.
  descriptor_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor_ < 0) fail(path_, "open");
  if (!S_ISREG(status.st_mode)) return;
  ::close(descriptor_);
  create_beside(target_);
  ::fchmod(descriptor_, status.st_mode & 07777);
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!direct()) ::unlink(temporary_.c_str());
}

// The name is short whatever the target's length, and unlike that of any other file of this or another process.
void OutputFile::create_beside(const std::string& target) {
  const std::filesystem::path folder = std::filesystem::path(target).parent_path();
  for (int attempt = 0;; ++attempt) {
    const std::string name = ".attn-" + std::to_string(::getpid()) + "-" + std::to_string(attempt) + ".tmp";
    const std::string candidate = (folder / name).string();
    descriptor_ = ::open(candidate.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ >= 0) {
      temporary_ = candidate;
      return;
    }
    if (errno != EEXIST) fail(path_, "open");
  }
}

void OutputFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path_, "write");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void OutputFile::commit() {
  // close() may be the first to report a full disk, and must not be called again when it does.
  if (::close(std::exchange(descriptor_, -1)) != 0) fail(path_, "close");
  if (direct()) return;
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail(path_, "rename");
  temporary_.clear();
}

void write_file(const std::string& path, std::string_view bytes) {
  OutputFile file(path);
  file.write(bytes);
  file.commit();
}

}  // namespace attn
