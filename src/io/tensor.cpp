#include "io/tensor.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "machine/error.h"

namespace attn {
namespace {

constexpr std::string_view names[dtype_count] = {"float16", "bfloat16", "float32", "float64", "bool",   "int8",  "int16",
                                                 "int32",   "int64",    "uint8",   "uint16",  "uint32", "uint64"};

Index checked_size(Dtype dtype, const std::vector<Index>& shape) {
  if (std::any_of(shape.begin(), shape.end(), [](Index extent) { return extent < 0; })) {
    throw UsageError("tensor: shape: expected sizes of 0 or more, found " + shape_text(shape));
  }
  if (!bytes_of_shape(dtype, shape)) throw MemoryError("tensor: shape: expected less than 2^63 bytes, found " + shape_text(shape));
  return *element_count(shape);
}

template <class From, class To>
To convert(From x) {
  if constexpr (std::is_same_v<From, Float16> || std::is_same_v<From, BFloat16>) {
    return static_cast<To>(static_cast<float>(x));
  } else {
    return static_cast<To>(x);
  }
}

template <class From, class To>
constexpr bool convertible() {
  constexpr Dtype from = dtype_of<From>();
  constexpr Dtype to = dtype_of<To>();
  return to == Dtype::f32 || to == Dtype::f64 || ((to == Dtype::f16 || to == Dtype::bf16) && from <= Dtype::f64);
}

template <class From, class To>
void convert_all(std::span<const From> from, To* to) {
  std::transform(from.begin(), from.end(), to, convert<From, To>);
}

}  // namespace

std::size_t dtype_bytes(Dtype dtype) {
  return visit_dtype(dtype, []<class T>(std::type_identity<T>) { return sizeof(T); });
}

std::string_view dtype_name(Dtype dtype) { return names[static_cast<std::size_t>(dtype)]; }

std::optional<Index> bytes_of_shape(Dtype dtype, const std::vector<Index>& shape) {
  std::vector<Index> sizes = shape;
  sizes.push_back(static_cast<Index>(dtype_bytes(dtype)));
  return element_count(sizes);
}

bool is_floating_point(Dtype dtype) { return dtype <= Dtype::f64; }

bool is_integer(Dtype dtype) { return dtype >= Dtype::i8; }

Tensor::Tensor(Dtype dtype, std::vector<Index> shape)
    : dtype_(dtype), shape_(std::move(shape)), size_(checked_size(dtype_, shape_)), memory_(allocate(bytes())) {}

void Tensor::expect_dtype(Dtype expected) const {
  if (dtype_ == expected) return;
  throw UsageError("tensor: dtype: expected " + std::string(dtype_name(expected)) + ", found " + std::string(dtype_name(dtype_)));
}

void Tensor::reshape(std::vector<Index> shape) {
  if (element_count(shape) != size_) {
    throw UsageError("tensor: shape: expected one of " + std::to_string(size_) + " elements, found " + shape_text(shape));
  }
  shape_ = std::move(shape);
}

Tensor Tensor::converted(Dtype to) const {
  Tensor result(to, shape_);
  if (to == dtype_) {
    std::copy_n(static_cast<const char*>(data()), bytes(), static_cast<char*>(result.data()));
    return result;
  }
  visit_dtype(dtype_, [&]<class From>(std::type_identity<From>) {
    visit_dtype(to, [&]<class To>(std::type_identity<To>) {
      if constexpr (convertible<From, To>()) {
        convert_all(as<From>(), result.as<To>().data());
      } else {
        throw UsageError("tensor: dtype: expected one that converts to " + std::string(dtype_name(to)) + ", found " +
                         std::string(dtype_name(dtype_)));
      }
    });
  });
  return result;
}

template <class T>
Matrix<T> Tensor::to_matrix() const {
  const Index cols = shape_.empty() ? 1 : shape_.back();
  const std::span<const Index> leading(shape_.data(), shape_.empty() ? 0 : shape_.size() - 1);
  Matrix<T> result(*element_count(leading), cols);
  visit_dtype(dtype_, [&]<class From>(std::type_identity<From>) { convert_all(as<From>(), result.data()); });
  return result;
}

std::vector<Index> Tensor::to_indices() const {
  if (!is_integer(dtype_)) throw UsageError("tensor: dtype: expected integers, found " + std::string(dtype_name(dtype_)));
  std::vector<Index> result(static_cast<std::size_t>(size_));
  visit_dtype(dtype_, [&]<class From>(std::type_identity<From>) {
    if constexpr (std::is_integral_v<From> && !std::is_same_v<From, bool>) {
      const std::span<const From> elements = as<From>();
      for (const From x : elements) {
        if (!std::in_range<Index>(x)) throw UsageError("tensor: element: expected less than 2^63, found " + std::to_string(x));
      }
      std::copy(elements.begin(), elements.end(), result.begin());
    }
  });
  return result;
}

template Matrix<float> Tensor::to_matrix() const;
template Matrix<double> Tensor::to_matrix() const;

}  // namespace attn
