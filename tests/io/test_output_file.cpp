#include "io/output_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "catch.h"
#include "machine/error.h"
#include "support/temporary_folder.h"

using namespace attn;
using Catch::Matchers::Equals;

namespace {

// Files of this process may grow to `bytes` only, and it is told so instead of being ended.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_{};
};

// Whether the folder's file system has files without a name, as /tmp on Linux.
bool has_unnamed_files(const TemporaryFolder& folder) {
#if defined(O_TMPFILE)
  const int descriptor = ::open(folder.path().c_str(), O_WRONLY | O_TMPFILE, 0600);
  if (descriptor >= 0) ::close(descriptor);
  return descriptor >= 0;
#else
  return false;
#endif
}

}  // namespace

TEST_CASE("a file appears only when committed") {
  const TemporaryFolder folder;
  const std::string path = folder / "out.json";
  OutputFile file(path);
  file.write("one ");
  CHECK_FALSE(std::filesystem::exists(path));
  file.write("two");
  file.commit();
  CHECK(bytes_of(path) == "one two");
  CHECK(folder.size() == 1);
}

TEST_CASE("an uncommitted file leaves everything as it was") {
  const TemporaryFolder folder;
  write_file(folder / "kept", "before");
  {
    OutputFile replaced(folder / "kept");
    OutputFile fresh(folder / "fresh");
    replaced.write("after");
    fresh.write("after");
    CHECK(folder.size() == (has_unnamed_files(folder) ? 1 : 3));
  }
  CHECK(bytes_of(folder / "kept") == "before");
  CHECK(folder.size() == 1);
}

TEST_CASE("a killed process leaves nothing but what was there") {
  const TemporaryFolder folder;
  write_file(folder / "kept", "before");
  const pid_t child = ::fork();
  if (child == 0) {
    OutputFile file(folder / "kept");
    file.write("after");
    std::raise(SIGKILL);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(bytes_of(folder / "kept") == "before");
  CHECK(folder.size() == (has_unnamed_files(folder) ? 1 : 2));
}

TEST_CASE("replacing a file keeps its permissions, and a link to it") {
  const TemporaryFolder folder;
  write_file(folder / "real", "before, and longer");
  ::chmod((folder / "real").c_str(), 0640);
  std::filesystem::create_symlink("real", folder / "link");
  write_file(folder / "link", "after");
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(bytes_of(folder / "real") == "after");
  struct stat status {};
  ::stat((folder / "real").c_str(), &status);
  CHECK((status.st_mode & 07777) == 0640);
}

TEST_CASE("a path that cannot be written fails at once") {
  const TemporaryFolder folder;
  const std::string nowhere = folder / "no/such/folder/file";
  CHECK_THROWS_WITH(OutputFile(nowhere), Equals(nowhere + ": open: No such file or directory"));
  const std::string directory = folder / ".";
  CHECK_THROWS_WITH(OutputFile(directory), Equals(directory + ": open: Is a directory"));
  CHECK_THROWS_WITH(OutputFile(""), Equals(": open: No such file or directory"));
  CHECK_THROWS_AS(OutputFile(folder / "new_name/"), FileError);
  if (::geteuid() != 0) {  // root may write everything
    write_file(folder / "read_only", "x");
    ::chmod((folder / "read_only").c_str(), 0444);
    CHECK_THROWS_AS(OutputFile(folder / "read_only"), FileError);
  }
  CHECK(folder.size() == (::geteuid() != 0 ? 1 : 0));
}

TEST_CASE("a full disk is an error and leaves the old file") {
  OutputFile full("/dev/full");
  CHECK_THROWS_WITH(full.write("x"), Equals("/dev/full: write: No space left on device"));

  const TemporaryFolder folder;
  const std::string path = folder / "kept";
  write_file(path, "before");
  {
    const FileSizeLimit limit(1000);
    CHECK_THROWS_WITH(write_file(path, std::string(5000, 'x')), Equals(path + ": write: File too large"));
  }
  CHECK(bytes_of(path) == "before");
  CHECK(folder.size() == 1);
}

TEST_CASE("a named pipe is written to directly, and stays one") {
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const int reader = ::open(pipe.c_str(), O_RDWR | O_NONBLOCK);
  write_file(pipe, "through");
  char received[16] = {};
  CHECK(::read(reader, received, sizeof received) == 7);
  ::close(reader);
  CHECK(std::string(received) == "through");
  CHECK(std::filesystem::is_fifo(pipe));
  CHECK(folder.size() == 1);
}
