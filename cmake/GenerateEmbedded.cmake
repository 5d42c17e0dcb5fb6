# Writes OUTPUT: a C++ file with the bytes of FILES (below BASE_DIR) and the function FUNCTION that finds them by name.

set(arrays "")
set(table "")
set(index 0)
foreach(file IN LISTS FILES)
  file(READ ${BASE_DIR}/${file} bytes HEX)
  string(LENGTH "${bytes}" digits)
  math(EXPR size "${digits} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "const unsigned char file_${index}[] = {${bytes}0};\n")
  string(APPEND table "    {\"${file}\", std::string_view(reinterpret_cast<const char*>(file_${index}), ${size})},\n")
  math(EXPR index "${index} + 1")
endforeach()

file(WRITE ${OUTPUT} "// Generated from the files below ${BASE_DIR}.
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace attn {
namespace {
${arrays}
const std::pair<std::string_view, std::string_view> files[] = {
${table}};
}  // namespace

std::string_view ${FUNCTION}(std::string_view name) {
  for (const auto& [known, bytes] : files) {
    if (known == name) return bytes;
  }
  throw std::out_of_range(\"no built-in file named \" + std::string(name));
}
}  // namespace attn
")
