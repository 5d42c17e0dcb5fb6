#include "io/tensor_file.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include <sys/stat.h>

#include "catch.h"
#include "io/npy.h"
#include "io/npz.h"
#include "io/read_file.h"
#include "io/safetensors.h"
#include "machine/error.h"
#include "support/temporary_folder.h"

using namespace attn;
using Catch::Matchers::Equals;

namespace {

const std::string data_folder = ATTN_DATA_DIR "/io/";

template <class T>
bool equals(T found, const std::string& expected) {
  if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    return equals(static_cast<float>(found), expected);
  } else if constexpr (std::is_floating_point_v<T>) {
    const double number = std::strtod(expected.c_str(), nullptr);
    return std::isnan(number) ? std::isnan(found) : found == number && std::signbit(found) == std::signbit(number);
  } else {
    return std::to_string(found) == expected;
  }
}

void check_tensor(const Tensor& tensor, const nlohmann::json& expected) {
  CHECK(dtype_name(tensor.dtype()) == expected.at("dtype").get<std::string>());
  CHECK(tensor.shape() == expected.at("shape").get<std::vector<Index>>());
  const auto& values = expected.at("values");
  REQUIRE(static_cast<std::size_t>(tensor.size()) == values.size());
  std::size_t wrong = 0;
  visit_dtype(tensor.dtype(), [&]<class T>(std::type_identity<T>) {
    const std::span<const T> elements = tensor.as<T>();
    for (std::size_t i = 0; i < elements.size(); ++i) wrong += !equals(elements[i], values[i].get<std::string>());
  });
  CHECK(wrong == 0);
}

std::string written(const Tensor& tensor) {
  const TemporaryFolder folder;
  OutputFile file(folder / "out.npy");
  write_npy(file, tensor);
  file.commit();
  return read_file(folder / "out.npy");
}

// The same by way of memory.
Tensor read_from_memory(const std::string& bytes, const TensorLocation& location) {
  if (location.path.ends_with(".npz")) return NpzArchive::from_memory(bytes, location.path).read(location.member);
  if (location.path.ends_with(".safetensors")) return read_safetensors(bytes, location.path, location.member);
  return read_npy(bytes, location.path);
}

}  // namespace

TEST_CASE("files by NumPy, ml_dtypes and safetensors are read as they were written, and written as NumPy writes them") {
  std::ifstream file(data_folder + "cases.json");
  const nlohmann::json cases = nlohmann::json::parse(file).at("cases");
  int identical = 0;
  for (const nlohmann::json& expected : cases) {
    const std::string location = data_folder + expected.at("location").get<std::string>();
    INFO(location);
    const Tensor tensor = read_tensor(location);
    check_tensor(tensor, expected);
    const TensorLocation parts = parse_location(location);
    const std::string bytes = read_file(parts.path);
    check_tensor(read_from_memory(bytes, parts), expected);
    if (!expected.at("np_save")) continue;
    CHECK(written(tensor) == bytes);
    ++identical;
  }
  CHECK(cases.size() >= 90);
  CHECK(identical >= 20);
}

TEST_CASE("locations are split behind the suffix of an archive") {
  const auto check = [](const std::string& location, const std::string& path, const MemberName& member) {
    const TensorLocation found = parse_location(location);
    CHECK(found.path == path);
    CHECK(found.member == member);
  };
  check("q.npy", "q.npy", std::nullopt);
  check("run#3/q.npy", "run#3/q.npy", std::nullopt);
  check("run#3/q.npz", "run#3/q.npz", std::nullopt);
  check("run#3/q.npz#a#b", "run#3/q.npz", "a#b");
  check("m.safetensors#x.npz#y", "m.safetensors", "x.npz#y");
  check("m.npz#", "m.npz", "");
}

TEST_CASE("a tensor that is not in the file, or was not named, is answered with those that are") {
  const std::string npz = data_folder + "npz/stored.npz";
  CHECK_THROWS_WITH(read_tensor(npz + "#d"), Equals(npz + ": member: expected 'd', found 'a', 'b', 'c.npy', 'empty'"));
  CHECK_THROWS_WITH(read_tensor(npz),
                    Equals(npz + ": member: expected one tensor or its name behind '#', found 'a', 'b', 'c.npy', 'empty'"));
  const std::string single = data_folder + "safetensors/single.safetensors";
  CHECK_THROWS_WITH(read_tensor(single + "#x\n"), Equals(single + ": member: expected 'x\\x0a', found 'only'"));
  const std::string none = data_folder + "safetensors/none.safetensors";
  CHECK_THROWS_WITH(read_tensor(none), Equals(none + ": member: expected one tensor or its name behind '#', found nothing"));
}

TEST_CASE("files that cannot be opened are named with the system's reason") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(read_tensor(folder / "no.npy"), Equals((folder / "no.npy") + ": open: No such file or directory"));
  CHECK_THROWS_WITH(read_tensor(folder / "no.safetensors#x"), Equals((folder / "no.safetensors") + ": open: No such file or directory"));
  CHECK_THROWS_AS(read_tensor(folder / "no.npz#x"), FileError);
  CHECK_THROWS_AS(read_tensor(folder / "."), FileError);
}

TEST_CASE("a named pipe is read as .npy") {
  const TemporaryFolder folder;
  const std::string bytes = read_file(data_folder + "npy/float64.npy");
  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::thread writer([&] { std::ofstream(pipe, std::ios::binary) << bytes; });
  const Tensor tensor = read_tensor(pipe);
  writer.join();
  CHECK(written(tensor) == bytes);
}
