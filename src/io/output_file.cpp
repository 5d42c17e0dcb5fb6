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

// A path that leads to an open file, whether or not that has a name.
std::string by_descriptor(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

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
  direct_ = !S_ISREG(status.st_mode);
  if (direct_) return;
  ::close(descriptor_);
  create_beside(target_);
  ::fchmod(descriptor_, status.st_mode & 07777);
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::create_beside(const std::string& target) {
  const std::string folder = std::filesystem::path(target).parent_path().string();
#if defined(O_TMPFILE)
  descriptor_ = ::open(folder.empty() ? "." : folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  if (descriptor_ >= 0 && ::access(by_descriptor(descriptor_).c_str(), F_OK) == 0) return;
  if (descriptor_ >= 0) ::close(descriptor_);  // no /proc by which to name it later
#endif
  name_temporarily([](int, const char* name) { return ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); });
}

// Finds a name under which `create` succeeds; gives a descriptor to `descriptor_` where it opens one. The name is short whatever the
// target's length, and unlike that of any other file of this or another process.
void OutputFile::name_temporarily(int (*create)(int descriptor, const char* name)) {
  const std::filesystem::path folder = std::filesystem::path(target_).parent_path();
  for (int number = 0;; ++number) {
    const std::string candidate = (folder / (".attn-" + std::to_string(::getpid()) + "-" + std::to_string(number) + ".tmp")).string();
    const int result = create(descriptor_, candidate.c_str());
    if (result >= 0) {
      if (descriptor_ < 0) descriptor_ = result;
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
  if (!direct_ && temporary_.empty()) {
    name_temporarily([](int descriptor, const char* name) {
      return ::linkat(AT_FDCWD, by_descriptor(descriptor).c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW);
    });
  }
  // close() may be the first to report a full disk, and must not be called again when it does.
  if (::close(std::exchange(descriptor_, -1)) != 0) fail(path_, "close");
  if (direct_) return;
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail(path_, "rename");
  temporary_.clear();
}

void write_file(const std::string& path, std::string_view bytes) {
  OutputFile file(path);
  file.write(bytes);
  file.commit();
}

}  // namespace attn
