#include "io/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <vector>

#include "io/read_elements.h"

namespace attn {
namespace {

using Json = nlohmann::json;

// As in the format's own library, so that a header cannot take much memory.
constexpr std::uint64_t largest_header = 100'000'000;

constexpr std::string_view type_names[dtype_count] = {"F16", "BF16", "F32", "F64", "BOOL", "I8", "I16",
                                                      "I32", "I64",  "U8",  "U16", "U32",  "U64"};

// A tensor's place: bytes [begin, end) of the data.
struct Entry {
  std::string name;
  std::string type;
  std::vector<Index> shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Refuses, while the header is parsed, what the parser would accept: keys that occur twice, and nesting deeper than any header has.
class HeaderGuard {
 public:
  explicit HeaderGuard(const ByteReader& reader) : reader_(reader) {}

  bool operator()(int depth, Json::parse_event_t event, const Json& parsed) {
    const auto level = static_cast<std::size_t>(depth);
    if (event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start) {
      if (level > 2) reader_.fail("header", "objects and arrays three deep", "deeper ones");
      keys_[level].clear();
    }
    if (event == Json::parse_event_t::key && !keys_[level - 1].insert(parsed.get<std::string>()).second) {
      reader_.fail("header", "every key once", fmt::format("'{}' twice", printable(parsed.get_ref<const std::string&>())));
    }
    return true;
  }

 private:
  const ByteReader& reader_;
  std::set<std::string> keys_[3];  // of the open object at each depth
};

Json read_header(ByteReader& reader) {
  unsigned char length_bytes[8];
  reader.read(length_bytes, sizeof length_bytes, "header's length");
  std::uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = length << 8 | length_bytes[i];
  if (length > largest_header) reader.fail("header's length", fmt::format("at most {}", largest_header), std::to_string(length));
  const std::string text = reader.read_text(length, "header");
  try {
    Json header = Json::parse(text, HeaderGuard(reader));
    if (!header.is_object()) reader.fail("header", "a JSON object", header.type_name());
    return header;
  } catch (const Json::parse_error& error) {
    reader.fail("header", "JSON", fmt::format("an error at byte {}", error.byte));
  } catch (const Json::out_of_range&) {
    reader.fail("header", "numbers that a float64 holds", "a larger one");
  }
}

// The numbers of an array of non-negative integers below 2^63.
std::vector<Index> sizes(const Json& tensor, const char* key, const std::string& name, const ByteReader& reader) {
  const auto array = tensor.find(key);
  const auto is_size = [](const Json& x) { return x.is_number_unsigned() && x.get<std::uint64_t>() <= std::numeric_limits<Index>::max(); };
  if (array == tensor.end() || !array->is_array() || !std::all_of(array->begin(), array->end(), is_size)) {
    reader.fail(fmt::format("header: '{}'", printable(name)), fmt::format("{} of integers from 0 to 2^63 - 1", key),
                array == tensor.end() ? "none" : printable(array->dump()));
  }
  return array->get<std::vector<Index>>();
}

// The type of a name that this program knows.
std::optional<Dtype> known_type(std::string_view type) {
  const auto* const found = std::find(std::begin(type_names), std::end(type_names), type);
  if (found == std::end(type_names)) return std::nullopt;
  return static_cast<Dtype>(found - std::begin(type_names));
}

// One tensor's description, its range compared with its type (where it is known) and shape.
Entry entry_of(const std::string& name, const Json& tensor, const ByteReader& reader) {
  const std::string where = fmt::format("header: '{}'", printable(name));
  if (!tensor.is_object()) reader.fail(where, "an object", tensor.type_name());
  const auto type = tensor.find("dtype");
  if (type == tensor.end() || !type->is_string()) reader.fail(where, "dtype", "none");
  Entry entry{name, *type, sizes(tensor, "shape", name, reader)};
  const std::vector<Index> range = sizes(tensor, "data_offsets", name, reader);
  if (range.size() != 2 || range[0] > range[1]) {
    reader.fail(where, "data_offsets [begin, end] with begin <= end", shape_text(range));
  }
  entry.begin = static_cast<std::uint64_t>(range[0]);
  entry.end = static_cast<std::uint64_t>(range[1]);
  if (const std::optional<Dtype> dtype = known_type(entry.type)) {
    const std::optional<Index> bytes = bytes_of_shape(*dtype, entry.shape);
    if (bytes != range[1] - range[0]) {
      reader.fail(where,
                  fmt::format("{} bytes for {} {}", bytes ? std::to_string(*bytes) : "2^63 or more", entry.type, shape_text(entry.shape)),
                  std::to_string(range[1] - range[0]));
    }
  }
  return entry;
}

// All tensors in the order of their data, which they cover without gaps or overlaps.
std::vector<Entry> read_entries(ByteReader& reader) {
  const Json header = read_header(reader);
  std::vector<Entry> entries;
  for (const auto& [name, tensor] : header.items()) {
    if (name != "__metadata__") entries.push_back(entry_of(name, tensor, reader));
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return std::tie(a.begin, a.end) < std::tie(b.begin, b.end); });
  std::uint64_t covered = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != covered) {
      reader.fail(fmt::format("header: '{}'", printable(entry.name)), fmt::format("data from byte {}, without gap or overlap", covered),
                  std::to_string(entry.begin));
    }
    covered = entry.end;
  }
  if (covered != reader.remaining()) reader.fail("data", fmt::format("{} bytes", covered), std::to_string(reader.remaining()));
  return entries;
}

// The entry of that name, or the only one.
const Entry& find_entry(const std::vector<Entry>& entries, const MemberName& member, const std::string& file) {
  if (!member && entries.size() == 1) return entries[0];
  std::vector<std::string> names;
  for (const Entry& entry : entries) {
    if (entry.name == member) return entry;
    names.push_back(entry.name);
  }
  fail_member(file, member, names);
}

}  // namespace

Tensor read_safetensors(ByteReader& reader, const MemberName& member) {
  const std::vector<Entry> entries = read_entries(reader);
  const Entry& entry = find_entry(entries, member, reader.name());
  const std::string where = fmt::format("'{}'", printable(entry.name));
  const std::optional<Dtype> dtype = known_type(entry.type);
  if (!dtype) reader.fail(where, "F16, BF16, F32, F64, BOOL, or I or U with 8, 16, 32 or 64", printable(entry.type));
  reader.skip(entry.begin, where);
  return read_elements(reader, *dtype, entry.shape, std::endian::native == std::endian::big, where);
}

Tensor read_safetensors(std::string_view bytes, const std::string& name, const MemberName& member) {
  return read_safetensors(*memory_reader(bytes, name), member);
}

}  // namespace attn
