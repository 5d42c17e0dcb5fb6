#include "io/npz.h"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <utility>

#include "io/byte_reader.h"
#include "io/member.h"
#include "io/npy.h"
#include "machine/error.h"

namespace attn {
namespace {

constexpr std::string_view suffix = ".npy";

// Deflate codes 258 bytes in 2 bits at best. A member that claims more than that is refused before anything is allocated for it.
constexpr std::uint64_t largest_deflate_ratio = 1032;

// One member, decompressed as it is read.
class MemberReader final : public ByteReader {
 public:
  MemberReader(std::string name, std::uint64_t size, zip_file_t* file) : ByteReader(std::move(name), size), file_(file, zip_fclose) {}

  // libzip compares the checksum when it meets the end, so that the end must be read too.
  void expect_end() {
    char byte = 0;
    if (read_some(&byte, 1) != 0) fail("data", "the end", "more");
  }

 private:
  std::uint64_t read_some(char* to, std::uint64_t bytes) override {
    const zip_int64_t count = zip_fread(file_.get(), to, bytes);
    if (count < 0) throw FileError(name() + ": archive: " + zip_file_strerror(file_.get()));
    return static_cast<std::uint64_t>(count);
  }

  std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file_;
};

// A member's sizes as the archive claims them; refused where `archive_bytes` cannot hold them. `name` is for errors.
zip_stat_t checked_stat(zip_t* archive, zip_uint64_t index, std::uint64_t archive_bytes, const std::string& name) {
  const auto fail = [&name](std::string_view where, const std::string& expected, std::uint64_t found) {
    throw FileError(fmt::format("{}: {}: expected {}, found {}", name, where, expected, found));
  };
  zip_stat_t stat;
  constexpr zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  if (zip_stat_index(archive, index, 0, &stat) != 0 || (stat.valid & needed) != needed) {
    throw FileError(name + ": archive: expected a member with its size, found none");
  }
  const bool stored = stat.comp_method == ZIP_CM_STORE;
  if (!stored && stat.comp_method != ZIP_CM_DEFLATE) fail("compression method", "0 (stored) or 8 (deflated)", stat.comp_method);
  if (stat.comp_size > archive_bytes) fail("compressed size", fmt::format("at most the archive's {} bytes", archive_bytes), stat.comp_size);
  const std::uint64_t largest = stored ? stat.comp_size : stat.comp_size * largest_deflate_ratio;
  if (stat.size > largest) fail("size", fmt::format("at most {} bytes from {} compressed ones", largest, stat.comp_size), stat.size);
  return stat;
}

// Errors of libzip, which must be told when they are no longer needed.
class ZipError {
 public:
  ZipError() { zip_error_init(&error_); }
  ~ZipError() { zip_error_fini(&error_); }
  ZipError(const ZipError&) = delete;
  ZipError& operator=(const ZipError&) = delete;

  zip_error_t* get() { return &error_; }
  [[noreturn]] void fail(const std::string& name) { throw FileError(name + ": archive: " + zip_error_strerror(&error_)); }

 private:
  zip_error_t error_;
};

}  // namespace

void NpzArchive::Close::operator()(zip* archive) const noexcept { zip_discard(archive); }

NpzArchive NpzArchive::from_file(const std::string& path) {
  ZipError error;
  zip_source_t* const source = zip_source_file_create(path.c_str(), 0, -1, error.get());
  if (source == nullptr) error.fail(path);
  return {source, path};
}

NpzArchive NpzArchive::from_memory(std::string_view bytes, const std::string& name) {
  ZipError error;
  zip_source_t* const source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, error.get());
  if (source == nullptr) error.fail(name);
  return {source, name};
}

NpzArchive::NpzArchive(zip_source* source, const std::string& name) : name_(name) {
  ZipError error;
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_source_stat(source, &stat) == 0 && (stat.valid & ZIP_STAT_SIZE) != 0) archive_bytes_ = stat.size;
  archive_.reset(zip_open_from_source(source, ZIP_RDONLY, error.get()));
  if (archive_ == nullptr) {
    zip_source_free(source);  // an archive that opens owns it
    error.fail(name);
  }
  const zip_int64_t count = zip_get_num_entries(archive_.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* const member = zip_get_name(archive_.get(), static_cast<zip_uint64_t>(i), 0);
    members_.emplace_back(member == nullptr ? "" : member);
  }
}

std::vector<std::string> NpzArchive::names() const {
  std::vector<std::string> result;
  for (const std::string& member : members_) {
    result.push_back(member.ends_with(suffix) ? member.substr(0, member.size() - suffix.size()) : member);
  }
  return result;
}

// The index of the member of exactly that name, or else of that name with ".npy", or of the only one.
std::size_t NpzArchive::find(const MemberName& member) const {
  if (!member && members_.size() == 1) return 0;
  if (!member) fail_member(name_, member, names());
  for (const std::string& candidate : {*member, *member + std::string(suffix)}) {
    const auto found = std::find(members_.begin(), members_.end(), candidate);
    if (found == members_.end()) continue;
    if (std::find(found + 1, members_.end(), candidate) != members_.end()) fail_member(name_, member, names());
    return static_cast<std::size_t>(found - members_.begin());
  }
  fail_member(name_, member, names());
}

Tensor NpzArchive::read(const MemberName& member) const {
  const std::size_t index = find(member);
  const std::string full_name = name_ + "#" + printable(members_[index]);
  const zip_stat_t stat = checked_stat(archive_.get(), index, archive_bytes_, full_name);
  zip_file_t* const file = zip_fopen_index(archive_.get(), index, 0);
  if (file == nullptr) throw FileError(full_name + ": archive: " + zip_strerror(archive_.get()));
  MemberReader reader(full_name, stat.size, file);
  Tensor tensor = read_npy(reader);
  reader.expect_end();
  return tensor;
}

}  // namespace attn
