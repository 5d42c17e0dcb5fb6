// Files that appear whole or not at all.
//
// The bytes go to a file in the same directory that has no name (O_TMPFILE), so that nothing is left of it however the process ends.
// commit() gives it a temporary name and renames that; whoever opens the path sees the old file until then. Where the file system knows
// no such files the temporary name is there from the beginning, and SIGKILL leaves it behind.
// What is no regular file (/dev/stdout, /dev/full, a named pipe) is written to directly.
#pragma once

#include <string>
#include <string_view>

namespace attn {

class OutputFile {
 public:
  // Creates the file without a name at once, so that a path that cannot be written is found out before a long run. A symbolic link stays:
  // the file it leads to is replaced. Throws FileError "<path>: open: <the system's reason>".
  explicit OutputFile(std::string path);

  // Without commit() the bytes are gone and the path is as it was.
  ~OutputFile();

  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Appends all bytes. Throws FileError "<path>: write: No space left on device" or whatever the system says.
  void write(std::string_view bytes);

  // Closes, names and renames, once. Throws FileError where either fails: then the path is as it was.
  void commit();

  const std::string& path() const { return path_; }

 private:
  void create_beside(const std::string& target);
  void name_temporarily(int (*create)(int descriptor, const char* name));

  std::string path_;       // as the user named it
  std::string target_;     // where links lead
  std::string temporary_;  // a name beside the target; empty while there is none
  bool direct_ = false;    // written to the target itself
  int descriptor_ = -1;
};

// One call for bytes that are at hand. Throws FileError.
void write_file(const std::string& path, std::string_view bytes);

}  // namespace attn
