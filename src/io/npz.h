// NumPy's .npz files: zip archives of .npy files, stored or deflated, ZIP64 and streamed ones included. Through libzip.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/member.h"
#include "io/tensor.h"

struct zip;
struct zip_source;

namespace attn {

class NpzArchive {
 public:
  // Opens a file and reads its list of members. Throws FileError "<path>: archive: <libzip's reason>".
  static NpzArchive from_file(const std::string& path);

  // The same from bytes in memory, which must stay there; `name` is for errors.
  static NpzArchive from_memory(std::string_view bytes, const std::string& name);

  // Arrays as np.load names them: without ".npy".
  std::vector<std::string> names() const;

  // One array, by its name with or without ".npy". Memory is taken only for what a deflated member of its size can hold.
  // Throws FileError: "<file>: member: …" where there is none or more than one of that name, "<file>#<name>: …" where the checksum is wrong
  // or read_npy() finds fault.
  Tensor read(const MemberName& member) const;

 private:
  struct Close {
    void operator()(zip* archive) const noexcept;
  };

  NpzArchive(zip_source* source, const std::string& name);
  std::size_t find(const MemberName& member) const;

  std::string name_;
  std::uint64_t archive_bytes_ = 0;
  std::unique_ptr<zip, Close> archive_;
  std::vector<std::string> members_;  // by their index in the archive
};

}  // namespace attn
