#include "numpy/array_text.h"

#include <cstdint>
#include <string_view>

#include "matrix/shape.h"
#include "numpy/item_format.h"

namespace attn {
namespace {

constexpr std::size_t line_width = 75;
constexpr Index threshold = 1000;  // arrays with more items are summarised,
constexpr Index edge_items = 3;    // long axes to this many items at either end

template <class T>
std::string_view dtype_name() {
  if constexpr (std::is_same_v<T, bool>) return "bool";
  if constexpr (std::is_floating_point_v<T>) return sizeof(T) == 4 ? "float32" : "float64";
  constexpr std::string_view names[2][4] = {{"uint8", "uint16", "uint32", "uint64"}, {"int8", "int16", "int32", "int64"}};
  return names[std::is_signed_v<T>][sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3];
}

void strip_blanks(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

// Writes one array. `separator` stands between items, `prefix` is the width of what stands before the first bracket and `width` what a line
// may hold.
template <class T>
class ArrayWriter {
 public:
  ArrayWriter(const ArrayView<T>& a, std::string_view separator)
      : a_(a), separator_(separator), summarise_(a.size() > threshold), format_(shown_items(), a.shape.empty()) {}

  std::string text(std::size_t prefix, std::size_t width) const { return nested(0, a_.data, prefix + 1, width); }

 private:
  // Calls item(position) for every position of an axis that is shown, and gap() where some are left out.
  template <class Item, class Gap>
  void for_shown(std::size_t axis, Item&& item, Gap&& gap) const {
    const Index extent = a_.shape[axis];
    const bool cut = summarise_ && extent > 2 * edge_items;
    for (Index i = 0; i < extent; ++i) {
      if (cut && i == edge_items) {
        gap();
        i = extent - edge_items;
      }
      item(i);
    }
  }

  void collect(std::size_t axis, const T* data, std::vector<T>& items) const {
    if (axis == a_.shape.size()) {
      items.push_back(*data);
      return;
    }
    for_shown(
        axis, [&](Index i) { collect(axis + 1, data + i * a_.strides[axis], items); }, [] {});
  }

  std::vector<T> shown_items() const {
    std::vector<T> items;
    collect(0, a_.data, items);
    return items;
  }

  // The part of the array below `axis`, its brackets at column `indent` - 1 and its lines at most `width` long.
  std::string nested(std::size_t axis, const T* data, std::size_t indent, std::size_t width) const {
    if (axis == a_.shape.size()) return format_(*data);
    return "[" + (axis + 1 == a_.shape.size() ? row(data, indent, width) : block(axis, data, indent, width)) + "]";
  }

  // The last axis: items side by side, wrapped. One column stays free for the bracket or the comma.
  std::string row(const T* data, std::size_t indent, std::size_t width) const {
    std::string done;
    std::string line(indent, ' ');
    const Index extent = a_.shape.back();
    const auto append = [&](const std::string& word, bool last) {
      if (line.size() + word.size() > width - 1 && line.size() > indent) {
        strip_blanks(line);
        done += line + "\n";
        line.assign(indent, ' ');
      }
      line += word;
      if (!last) line += separator_;
    };
    for_shown(
        a_.shape.size() - 1, [&](Index i) { append(format_(data[i * a_.strides.back()]), i + 1 == extent); },
        [&] { append("...", false); });
    return (done + line).substr(indent);
  }

  // Any other axis: its parts below each other, with one blank line more for every further axis.
  std::string block(std::size_t axis, const T* data, std::size_t indent, std::size_t width) const {
    std::string lines_apart = separator_;
    strip_blanks(lines_apart);
    lines_apart += std::string(a_.shape.size() - axis - 1, '\n') + std::string(indent, ' ');
    std::string text;
    const auto append = [&](const std::string& part) { text += (text.empty() ? "" : lines_apart) + part; };
    for_shown(
        axis, [&](Index i) { append(nested(axis + 1, data + i * a_.strides[axis], indent + 1, width - 1)); }, [&] { append("..."); });
    return text;
  }

  const ArrayView<T>& a_;
  std::string separator_;
  bool summarise_;
  ItemFormat<T> format_;
};

}  // namespace

template <class T>
std::string array_str(const ArrayView<T>& a) {
  if (a.size() == 0) return "[]";
  if constexpr (std::is_floating_point_v<T>) {
    if (a.shape.empty()) return scalar_text(*a.data);
  }
  return ArrayWriter<T>(a, " ").text(0, line_width);
}

template <class T>
std::string array_repr(const ArrayView<T>& a) {
  constexpr std::string_view prefix = "array(";
  const std::string items = a.size() == 0 ? "[]" : ArrayWriter<T>(a, ", ").text(prefix.size(), line_width - 1);
  std::string text = std::string(prefix) + items;

  // The shape is said where the items do not show it, the type where the items do not imply it.
  std::string extras;
  if ((a.size() == 0 && a.shape.size() != 1) || a.size() > threshold) extras = "shape=" + shape_text(a.shape);
  const bool implied = std::is_same_v<T, double> || std::is_same_v<T, bool> || std::is_same_v<T, std::int64_t>;
  if (!implied || a.size() == 0) extras += (extras.empty() ? "dtype=" : ", dtype=") + std::string(dtype_name<T>());
  if (extras.empty()) return text + ")";

  text += ",";
  extras += ")";
  const std::size_t last_line = text.size() - (text.rfind('\n') + 1);  // npos + 1 is 0: then all of it is the last line
  const bool wrap = last_line + extras.size() + 1 > line_width;
  return text + (wrap ? "\n" + std::string(prefix.size(), ' ') : " ") + extras;
}

template std::string array_str(const ArrayView<float>&);
template std::string array_str(const ArrayView<double>&);
template std::string array_str(const ArrayView<bool>&);
template std::string array_str(const ArrayView<std::int8_t>&);
template std::string array_str(const ArrayView<std::int16_t>&);
template std::string array_str(const ArrayView<std::int32_t>&);
template std::string array_str(const ArrayView<std::int64_t>&);
template std::string array_str(const ArrayView<std::uint8_t>&);
template std::string array_str(const ArrayView<std::uint16_t>&);
template std::string array_str(const ArrayView<std::uint32_t>&);
template std::string array_str(const ArrayView<std::uint64_t>&);
template std::string array_repr(const ArrayView<float>&);
template std::string array_repr(const ArrayView<double>&);
template std::string array_repr(const ArrayView<bool>&);
template std::string array_repr(const ArrayView<std::int8_t>&);
template std::string array_repr(const ArrayView<std::int16_t>&);
template std::string array_repr(const ArrayView<std::int32_t>&);
template std::string array_repr(const ArrayView<std::int64_t>&);
template std::string array_repr(const ArrayView<std::uint8_t>&);
template std::string array_repr(const ArrayView<std::uint16_t>&);
template std::string array_repr(const ArrayView<std::uint32_t>&);
template std::string array_repr(const ArrayView<std::uint64_t>&);

}  // namespace attn
