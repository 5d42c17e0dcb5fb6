#include "io/npz.h"

#include <cstdint>
#include <string>

#include "catch.h"
#include "io/read_file.h"
#include "io/refusal.h"

using namespace attn;
using Catch::Matchers::Equals;

namespace {

const std::string data_folder = ATTN_DATA_DIR "/io/npz/";

// One stored member as the zip format's specification (APPNOTE 4.3) lays it out; what a test wants wrong is set before archive_of() is
// called.
struct Member {
  std::string name = "a.npy";
  std::string data;
  std::uint32_t crc = 0;
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint32_t compressed_size = 0;
  std::uint32_t size = 0;

  explicit Member(std::string bytes) : data(std::move(bytes)), compressed_size(data.size()), size(data.size()) {
    crc = ~0U;
    for (const char c : data) {
      crc ^= static_cast<unsigned char>(c);
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0xEDB88320U & (0U - (crc & 1U)));
    }
    crc = ~crc;
  }
};

std::string little(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i & 0xFF);
  return text;
}

std::string archive_of(const std::vector<Member>& members) {
  std::string archive;
  std::string directory;
  for (const Member& m : members) {
    const std::string common = little(20, 2) + little(m.flags, 2) + little(m.method, 2) + little(0, 2) + little(0x21, 2) +
                               little(m.crc, 4) + little(m.compressed_size, 4) + little(m.size, 4) + little(m.name.size(), 2) +
                               little(0, 2);
    directory += "PK\x01\x02" + little(20, 2) + common + little(0, 8) + little(0, 2) + little(archive.size(), 4) + m.name;
    archive += "PK\x03\x04" + common + m.name + m.data;
  }
  const std::string count = little(members.size(), 2);
  return archive + directory + "PK\x05\x06" + little(0, 4) + count + count + little(directory.size(), 4) + little(archive.size(), 4) +
         little(0, 2);
}

const std::string one_array = read_file(ATTN_DATA_DIR "/io/npy/float64.npy");

Tensor read(const std::string& archive, const MemberName& member = "a") { return NpzArchive::from_memory(archive, "x.npz").read(member); }

void check_refused(const std::string& archive, const std::string& message) {
  check_refused_by([](const std::string& bytes) { read(bytes); }, archive, message);
}

}  // namespace

TEST_CASE("npz: an archive made by hand is read, by name with and without .npy") {
  const std::string archive = archive_of({Member(one_array)});
  CHECK(read(archive, "a").shape() == std::vector<Index>{2, 3});
  CHECK(read(archive, "a.npy").dtype() == Dtype::f64);
  CHECK(read(archive, std::nullopt).size() == 6);
  CHECK(NpzArchive::from_memory(archive, "x.npz").names() == std::vector<std::string>{"a"});
}

TEST_CASE("npz: of two members the one of exactly that name is meant, and of two equal ones none") {
  Member plain(one_array);
  plain.name = "a";
  const Member suffixed(read_file(ATTN_DATA_DIR "/io/npy/int8.npy"));
  CHECK(read(archive_of({suffixed, plain}), "a").dtype() == Dtype::f64);
  CHECK(read(archive_of({suffixed, plain}), "a.npy").dtype() == Dtype::i8);
  check_refused(archive_of({suffixed, suffixed}), "x.npz: member: expected 'a', found 'a', 'a'");
}

TEST_CASE("npz: a wrong checksum is an error, stored and deflated") {
  Member wrong(one_array);
  wrong.crc ^= 1;
  CHECK_THROWS_WITH(read(archive_of({wrong})), Equals("x.npz#a.npy: archive: CRC error"));
  Member damaged(one_array);
  damaged.data.back() ^= 1;
  CHECK_THROWS_WITH(read(archive_of({damaged})), Equals("x.npz#a.npy: archive: CRC error"));
  // An archive by NumPy whose directory has another checksum: 16 bytes behind the beginning of the entry.
  for (const std::string name : {"deflated", "streamed", "stored", "streamed_stored"}) {
    std::string bytes = read_file(data_folder + name + ".npz");
    const std::size_t entry = bytes.find("PK\x01\x02");
    REQUIRE(entry != std::string::npos);
    bytes[entry + 16] ^= 1;
    CHECK_THROWS_AS(read(bytes), FileError);
  }
}

TEST_CASE("npz: sizes that the archive cannot hold are refused before memory is taken") {
  // An array of 4 GB, as its header says and the archive's directory too.
  const std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (4294967168,), }";
  const std::string huge = std::string("\x93NUMPY\x01\x00", 8) + little(118, 2) + header + std::string(118 - header.size(), ' ');
  Member stored(huge);
  stored.compressed_size = stored.size = 4294967294;
  check_refused(archive_of({stored}), "x.npz#a.npy: compressed size: expected at most the archive's");
  Member larger(huge);
  larger.size = 4294967294;
  check_refused(archive_of({larger}), "x.npz#a.npy: size: expected at most 128 bytes from 128 compressed ones, found 4294967294");
  Member deflated(huge);
  deflated.method = 8;
  deflated.size = 4294967294;
  check_refused(archive_of({deflated}), "x.npz#a.npy: size: expected at most 132096 bytes from 128 compressed ones, found 4294967294");
}

TEST_CASE("npz: members that end too soon, go on, or cannot be unpacked are refused") {
  Member truncated(one_array.substr(0, one_array.size() - 5));
  CHECK_THROWS_WITH(read(archive_of({truncated})), Equals("x.npz#a.npy: data: expected 48 bytes for float64 (2, 3), found 43"));
  Member longer(one_array + "12345");
  CHECK_THROWS_WITH(read(archive_of({longer})), Equals("x.npz#a.npy: data: expected 48 bytes for float64 (2, 3), found 53"));
  Member no_deflate(one_array);
  no_deflate.method = 8;
  CHECK_THROWS_AS(read(archive_of({no_deflate})), FileError);
  Member other_method(one_array);
  other_method.method = 14;
  CHECK_THROWS_WITH(read(archive_of({other_method})),
                    Equals("x.npz#a.npy: compression method: expected 0 (stored) or 8 (deflated), found 14"));
  Member encrypted(one_array);
  encrypted.flags = 1;
  CHECK_THROWS_AS(read(archive_of({encrypted})), FileError);
  Member text("no array");
  CHECK_THROWS_WITH(read(archive_of({text})),
                    Equals(R"(x.npz#a.npy: magic: expected a .npy file, which begins with '\x93NUMPY', found 'no arr')"));
}

TEST_CASE("npz: what is no archive, or a part of one, is refused") {
  CHECK_THROWS_WITH(read(""), Equals("x.npz: member: expected 'a', found nothing"));
  check_refused("no archive at all, but long enough to be one", "x.npz: archive: ");
  const std::string whole = archive_of({Member(one_array)});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CHECK_THROWS_AS(read(whole.substr(0, length)), FileError);
  }
}
