#include "io/npy.h"

#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "catch.h"
#include "io/npy_header.h"
#include "io/refusal.h"

using namespace attn;

namespace {

// A file with this header, unpadded.
std::string npy(const std::string& header, std::size_t data_bytes, char major = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += {major, 0, static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)};
  if (major > 1) bytes += {0, 0};
  return bytes + header + std::string(data_bytes, '\x01');
}

std::string header(const std::string& descr, const std::string& shape) {
  return "{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + ", }";
}

Tensor read(const std::string& bytes) { return read_npy(bytes, "x.npy"); }

void check_refused(const std::string& bytes, const std::string& message) { check_refused_by(read, bytes, "x.npy: " + message); }

}  // namespace

TEST_CASE("npy: headers are read however Python would write them") {
  for (const std::string text : {
           R"({'descr':'<f4','fortran_order':False,'shape':(2,3)})",
           R"({"shape": ( 2 , 3 , ), "fortran_order": False, "descr": "<f4"})",
           "{ 'shape' : (2L, 3L),\n 'descr' : '<f4' ,\t'fortran_order' : False , }   \n",
       }) {
    INFO(text);
    for (const char major : {1, 2, 3}) {
      const Tensor tensor = read(npy(text, 24, major));
      CHECK(tensor.dtype() == Dtype::f32);
      CHECK(tensor.shape() == std::vector<Index>{2, 3});
    }
  }
  CHECK(read(npy(header("'f8'", "(1,)"), 8)).as<double>()[0] == read(npy(header("'=f8'", "(1,)"), 8)).as<double>()[0]);
}

TEST_CASE("npy: headers are written as by np.save, whatever the shape's length") {
  std::ifstream file(ATTN_DATA_DIR "/io/npy_headers.json");
  const nlohmann::json cases = nlohmann::json::parse(file).at("cases");
  REQUIRE(cases.size() == 96);
  for (const nlohmann::json& expected : cases) {
    const std::vector<Index> shape = expected.at("shape");
    INFO(shape_text(shape));
    Dtype dtype{};
    while (dtype_name(dtype) != expected.at("dtype").get<std::string>()) dtype = static_cast<Dtype>(static_cast<int>(dtype) + 1);
    std::string hex;
    for (const unsigned char byte : npy_header(dtype, shape)) hex += fmt::format("{:02x}", byte);
    CHECK(hex == expected.at("header").get<std::string>());
  }
}

TEST_CASE("npy: bools other than 0 and 1 are True") {
  const Tensor tensor = read(npy(header("'|b1'", "(2,)"), 0) + std::string("\x02\x00", 2));
  CHECK(static_cast<const unsigned char*>(tensor.data())[0] == 1);
  CHECK_FALSE(tensor.as<bool>()[1]);
}

TEST_CASE("npy: what is no .npy file is refused") {
  check_refused("", R"(magic: expected a .npy file, which begins with '\x93NUMPY', found '')");
  check_refused("PK\x03\x04 an archive", "magic: expected a .npy file, which begins with '\\x93NUMPY', found 'PK\\x03\\x04 a'");
  check_refused("\x93NUMPY", "version: expected 2 bytes, found 0");
  check_refused(npy(header("'<f4'", "(1,)"), 4, 4), "version: expected 1.0, 2.0 or 3.0, found 4.0");
  check_refused(std::string("\x93NUMPY\x01\x01\x00\x00", 10), "version: expected 1.0, 2.0 or 3.0, found 1.1");
}

TEST_CASE("npy: header lengths beyond the file are refused before memory is taken") {
  check_refused(std::string("\x93NUMPY\x01\x00", 8), "header's length: expected 2 bytes, found 0");
  check_refused(std::string("\x93NUMPY\x02\x00\xFF\xFF", 10), "header's length: expected 4 bytes, found 2");
  check_refused(std::string("\x93NUMPY\x01\x00\xFF\xFF{", 11), "header: expected 65535 bytes, found 1");
  check_refused(std::string("\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF", 12), "header: expected 4294967295 bytes, found 0");
}

TEST_CASE("npy: data of another length than type and shape say is refused before memory is taken") {
  check_refused(npy(header("'<f8'", "(3, 4)"), 90), "data: expected 96 bytes for float64 (3, 4), found 90");
  check_refused(npy(header("'<f8'", "(3, 4)"), 97), "data: expected 96 bytes for float64 (3, 4), found 97");
  check_refused(npy(header("'<f8'", "(1152921504606846975,)"), 8),
                "data: expected 9223372036854775800 bytes for float64 (1152921504606846975,), found 8");
  check_refused(npy(header("'<f2'", "()"), 0), "data: expected 2 bytes for float16 (), found 0");
  check_refused(npy(header("'<f2'", "(0, 5)"), 1), "data: expected 0 bytes for float16 (0, 5), found 1");
}

TEST_CASE("npy: shapes whose product wraps are refused") {
  check_refused(npy(header("'<f8'", "(2305843009213693952,)"), 0),
                "header: shape: expected less than 2^63 bytes, found (2305843009213693952,)");
  check_refused(npy(header("'|u1'", "(4294967296, 4294967296)"), 0),
                "header: shape: expected less than 2^63 bytes, found (4294967296, 4294967296)");
  check_refused(npy(header("'<f4'", "(0, 4611686018427387904, 8)"), 0),
                "header: shape: expected less than 2^63 bytes, found (0, 4611686018427387904, 8)");
}

TEST_CASE("npy: odd shapes are refused") {
  const auto refused = [](const std::string& shape, const std::string& message) { check_refused(npy(header("'<f4'", shape), 4), message); };
  refused("(-1, 2)", "header: shape: expected sizes from 0 to 2^63 - 1, found -1");
  refused("(9223372036854775808,)", "header: shape: expected sizes from 0 to 2^63 - 1, found 9223372036854775808");
  refused("(1)", "header: expected ',', found '), }' at byte 52");
  refused("1", "header: expected '(', found '1, }' at byte 50");
  refused("[1, 1]", "header: expected '(', found '[1, 1], }' at byte 50");
  refused("(1.0,)", "header: expected ',', found '.0,), }' at byte 52");
  refused("(1 1)", "header: expected ',', found '1), }' at byte 53");
  refused("(,)", "header: expected a size, found ',), }' at byte 51");
  refused("(1, None)", "header: expected a size, found 'None), }' at byte 54");
  std::string many = "(";
  for (int i = 0; i < 65; ++i) many += "1, ";
  refused(many + ")", "header: shape: expected at most 64 sizes, found more");
}

TEST_CASE("npy: types that are no numbers are refused") {
  const auto refused = [](const std::string& descr, const std::string& found) {
    check_refused(npy(header(descr, "(1,)"), 4), "header: descr: expected " + found);
  };
  const std::string numbers = "f2, f4, f8, V2 (bfloat16), b1, or i or u with 1, 2, 4 or 8, found ";
  for (const std::string type :
       {"'<c8'", "'<U1'", "'|S4'", "'<M8[s]'", "'<f16'", "'<f3'", "'|V4'", "'|b2'", "''", "'<'", "'f'", "'<<f4'", "'4'"}) {
    refused(type, numbers + type);
  }
  refused("'|O'", numbers + "'|O' (Python objects)");
  refused("'O'", numbers + "'O' (Python objects)");
  refused("[('x', '<f4')]", "a plain type such as '<f4', found a structured one");
  refused("('<f4', (2,))", "a plain type such as '<f4', found a structured one");
}

TEST_CASE("npy: malformed headers are refused") {
  const auto refused = [](const std::string& text, const std::string& message) { check_refused(npy(text, 4), message); };
  refused("", "header: expected '{', found the end");
  refused("{", "header: expected a key, found the end");
  refused("{}", "header: expected the key 'descr', found none");
  refused("{'descr': '<f4', 'shape': (1,)}", "header: expected the key 'fortran_order', found none");
  refused("{'descr': '<f4', 'descr': '<f4'}", "header: expected 'descr', 'fortran_order' and 'shape' once each, found 'descr'");
  refused("{'other': 1}", "header: expected 'descr', 'fortran_order' and 'shape' once each, found 'other'");
  refused("{'descr", "header: expected the end of a string, found ''descr' at byte 1");
  refused("{'descr' '<f4'}", "header: expected ':', found ''<f4'}' at byte 9");
  refused("{'descr': 4}", "header: expected a type such as '<f4', found '4}' at byte 10");
  refused("{'descr': '<f4' 'shape': (1,)}", "header: expected ',' or '}', found ''shape': (1,' at byte 16");
  refused("{'fortran_order': 1}", "header: expected True or False, found '1}' at byte 18");
  refused(header("'<f4'", "(1,)") + "()", "header: expected the end after '}', found '()' at byte 57");
  refused(header("'<f4'", "(1,)") + std::string(1, '\0'), "header: expected the end after '}', found '\\x00' at byte 57");
}
