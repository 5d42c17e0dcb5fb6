#include "io/safetensors.h"

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "catch.h"
#include "io/refusal.h"

using namespace attn;

namespace {

std::string with_length(const std::string& header, std::size_t data_bytes, std::uint64_t length) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(length >> 8 * i & 0xFF);
  return bytes + header + std::string(data_bytes, '\x01');
}

std::string file(const std::string& header, std::size_t data_bytes) { return with_length(header, data_bytes, header.size()); }

std::string entry(const std::string& name, const std::string& type, const std::string& shape, const std::string& range) {
  return fmt::format(R"("{}": {{"dtype": "{}", "shape": {}, "data_offsets": {}}})", name, type, shape, range);
}

// A header of one or two entries.
std::string table(const std::string& first, const std::string& second = "") {
  return fmt::format("{{{}{}{}}}", first, second.empty() ? "" : ", ", second);
}

void check_refused(const std::string& bytes, const std::string& message) {
  check_refused_by([](const std::string& file_bytes) { read_safetensors(file_bytes, "x", "a"); }, bytes, "x: " + message);
}

void check_entry_refused(const std::string& type, const std::string& shape, const std::string& range, const std::string& message) {
  check_refused(file(table(entry("a", type, shape, range)), 8), "header: 'a': " + message);
}

}  // namespace

TEST_CASE("safetensors: tensors may be listed in any order, padded with blanks and empty") {
  const std::string metadata = R"("__metadata__": {"format": "pt"})";
  const std::string b_and_e = entry("b", "U8", "[4]", "[2, 6]") + ", " + entry("e", "F32", "[0, 7]", "[6, 6]");
  const std::string header = table(b_and_e, metadata + ", " + entry("a", "F16", "[1, 1]", "[0, 2]")) + "     ";
  CHECK(read_safetensors(file(header, 6), "x", "a").as<Float16>()[0].bits == 0x0101);
  CHECK(read_safetensors(file(header, 6), "x", "b").shape() == std::vector<Index>{4});
  CHECK(read_safetensors(file(header, 6), "x", "e").shape() == std::vector<Index>{0, 7});
}

TEST_CASE("safetensors: tensors of other types are passed over, and refused when asked for") {
  const std::string header = table(entry("a", "F8_E4M3", "[3]", "[0, 3]"), entry("b", "I8", "[2]", "[3, 5]"));
  CHECK(read_safetensors(file(header, 5), "x", "b").as<std::int8_t>()[1] == 1);
  check_refused(file(header, 5), "'a': expected F16, BF16, F32, F64, BOOL, or I or U with 8, 16, 32 or 64, found F8_E4M3");
}

TEST_CASE("safetensors: header lengths beyond the file are refused before memory is taken") {
  check_refused("", "header's length: expected 8 bytes, found 0");
  check_refused("1234567", "header's length: expected 8 bytes, found 7");
  check_refused(with_length("{}", 0, 3), "header: expected 3 bytes, found 2");
  check_refused(with_length("{}", 0, 99'999'999), "header: expected 99999999 bytes, found 2");
  check_refused(with_length("{}", 0, ~std::uint64_t{0}), "header's length: expected at most 100000000, found 18446744073709551615");
}

TEST_CASE("safetensors: headers that are no table of tensors are refused") {
  check_refused(file("", 0), "header: expected JSON, found an error at byte 1");
  check_refused(file("{\"a\": ", 0), "header: expected JSON, found an error at byte 7");
  check_refused(file("{\"\xFF\": 1}", 0), "header: expected JSON, found an error at byte 3");
  check_refused(file("[]", 0), "header: expected a JSON object, found array");
  for (const char* too_large : {"1e999", "-4.55E527", "{\"a\": 1e999}", "{\"a\": {\"shape\": [1e999]}}"}) {
    check_refused(file(too_large, 0), "header: expected numbers that a float64 holds, found a larger one");
  }
  check_refused(file("3", 0), "header: expected a JSON object, found number");
  check_refused(file("{\"a\": 3}", 0), "header: 'a': expected an object, found number");
  check_refused(file("{\"a\": {}}", 0), "header: 'a': expected dtype, found none");
  check_refused(file("{\"a\": {\"dtype\": 4}}", 0), "header: 'a': expected dtype, found none");
  check_refused(file("{\"a\": {\"dtype\": \"F32\"}}", 0), "header: 'a': expected shape of integers from 0 to 2^63 - 1, found none");
  check_refused(file("{\"a\": {\"b\": [[]]}}", 0), "header: expected objects and arrays three deep, found deeper ones");
  check_refused(file(std::string(100000, '['), 0), "header: expected objects and arrays three deep, found deeper ones");
  check_refused(file(table(entry("a", "U8", "[4]", "[0, 4]"), entry("a", "U8", "[4]", "[4, 8]")), 8),
                "header: expected every key once, found 'a' twice");
  check_refused(file(R"({"a": {"dtype": "U8", "dtype": "I8"}})", 8), "header: expected every key once, found 'dtype' twice");
}

TEST_CASE("safetensors: reversed, overlapping and missing ranges are refused") {
  check_entry_refused("U8", "[8]", "[8, 0]", "expected data_offsets [begin, end] with begin <= end, found (8, 0)");
  check_entry_refused("U8", "[8]", "[8]", "expected data_offsets [begin, end] with begin <= end, found (8,)");
  check_entry_refused("U8", "[8]", "[]", "expected data_offsets [begin, end] with begin <= end, found ()");
  check_entry_refused("U8", "[8]", "[0, 4, 8]", "expected data_offsets [begin, end] with begin <= end, found (0, 4, 8)");
  check_entry_refused("U8", "[8]", "null", "expected data_offsets of integers from 0 to 2^63 - 1, found null");
  check_refused(file(R"({"a": {"dtype": "U8", "shape": [8]}})", 8),
                "header: 'a': expected data_offsets of integers from 0 to 2^63 - 1, found none");
  const auto pair = [](const std::string& first, const std::string& second) {
    return file(table(entry("a", "U8", "[4]", first), entry("b", "U8", "[4]", second)), 8);
  };
  CHECK(read_safetensors(pair("[4, 8]", "[0, 4]"), "x", "a").size() == 4);
  check_refused(pair("[0, 4]", "[3, 7]"), "header: 'b': expected data from byte 4, without gap or overlap, found 3");
  check_refused(pair("[0, 4]", "[0, 4]"), "header: 'b': expected data from byte 4, without gap or overlap, found 0");
  check_refused(pair("[0, 4]", "[5, 9]"), "header: 'b': expected data from byte 4, without gap or overlap, found 5");
  check_refused(pair("[1, 5]", "[5, 9]"), "header: 'a': expected data from byte 0, without gap or overlap, found 1");
  check_refused(file(table(entry("a", "U8", "[4]", "[0, 4]")), 8), "data: expected 4 bytes, found 8");
  check_refused(file(table(entry("a", "U8", "[9]", "[0, 9]")), 8), "data: expected 9 bytes, found 8");
  check_refused(file(table(entry("a", "U8", "[4294967296]", "[0, 4294967296]")), 8), "data: expected 4294967296 bytes, found 8");
}

TEST_CASE("safetensors: shapes that do not fit their ranges, wrap or are odd are refused") {
  check_entry_refused("F32", "[3]", "[0, 8]", "expected 12 bytes for F32 (3,), found 8");
  check_entry_refused("F32", "[4294967296, 4294967296]", "[0, 0]", "expected 2^63 or more bytes for F32 (4294967296, 4294967296), found 0");
  const std::string sizes = "expected shape of integers from 0 to 2^63 - 1, found ";
  check_entry_refused("F32", "[-2]", "[0, 8]", sizes + "[-2]");
  check_entry_refused("F32", "[2.0]", "[0, 8]", sizes + "[2.0]");
  check_entry_refused("F32", "[\"2\"]", "[0, 8]", sizes + "[\"2\"]");
  check_entry_refused("F32", "[9223372036854775808]", "[0, 8]", sizes + "[9223372036854775808]");
  check_entry_refused("F32", "2", "[0, 8]", sizes + "2");
}
