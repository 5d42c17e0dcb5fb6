#include "gemm/gemm.h"

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "catch.h"
#include "gemm/products.h"
#include "machine/threads.h"
#include "support/for_each_target.h"

using namespace attn;

namespace {

// Every target; the first number of threads gives the answers, the others must give the same bits. (Threads outside, targets inside: a
// change of their number makes OpenMP start them anew.)
template <class T>
void check_product(Product<T> product, const std::vector<int>& thread_counts) {
  const int before = threads();
  std::map<std::string, Framed<T>> answers;
  for (const int count : thread_counts) {
    set_threads(count);
    for_each_target([&](const std::string& target) {
      Framed<T> c = product.compute();
      const auto answer = answers.find(target);
      if (answer != answers.end()) {
        CHECK(same_bits(c.view(), answer->second.view()));
      } else {
        CHECK(product.fault(c) == "");
        answers.emplace(target, std::move(c));
      }
    });
  }
  set_threads(before);
}

}  // namespace

// Rows around every register tile (4, 6, 8), columns around every tile width (2 to 48), inner sizes from one step on.
TEMPLATE_TEST_CASE("gemm: every edge of the register tile", "", float, double) {
  for (const bool transposed : {false, true}) {
    for (const Index m : {1, 3, 4, 5, 6, 7, 8, 9, 17}) {
      for (const Index n : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 33, 47, 48, 49, 97}) {
        for (const Index k : {1, 2, 7, 64}) {
          INFO("m " << m << " n " << n << " k " << k << " transposed " << transposed);
          check_product(Product<TestType>({m, n, k}, transposed), {1});
        }
      }
    }
  }
}

// Sizes around the blocks of every target: depth of a pass, rows and columns packed at a time, tiles that threads take.
TEMPLATE_TEST_CASE("gemm: every edge of the blocks, for any number of threads", "", float, double) {
  const std::vector<Shape> shapes = {{70, 50, 191},   {70, 50, 193},  {64, 96, 255},   {67, 97, 256},  {65, 95, 257},
                                     {66, 49, 383},   {66, 49, 385},  {33, 50, 511},   {33, 50, 513},  {30, 20, 767},
                                     {31, 21, 769},   {20, 10, 1537}, {9, 5, 3073},    {129, 257, 64}, {257, 129, 40},
                                     {2100, 17, 300}, {9, 4200, 256}, {1, 5000, 70},   {4, 2503, 801}, {5000, 1, 70},
                                     {3, 3, 20000},   {1, 1, 50001},  {32, 32, 16384}, {300, 301, 30}, {130, 350, 768}};
  for (const Shape& shape : shapes) {
    for (const bool transposed : {false, true}) {
      INFO("m " << shape.m << " n " << shape.n << " k " << shape.k << " transposed " << transposed);
      check_product(Product<TestType>(shape, transposed), {1, 2, 3});
    }
  }
}

TEMPLATE_TEST_CASE("gemm: alpha and beta", "", float, double) {
  for (const TestType alpha : {TestType(1), TestType(-0.75), TestType(0)}) {
    for (const TestType beta : {TestType(0), TestType(1), TestType(2.5)}) {
      for (const Shape& shape : std::vector<Shape>{{13, 53, 5}, {50, 100, 600}, {9, 49, 2000}, {5, 7, 17000}}) {
        for (const bool transposed : {false, true}) {
          INFO("alpha " << alpha << " beta " << beta << " m " << shape.m << " n " << shape.n << " k " << shape.k << " transposed "
                        << transposed);
          check_product(Product<TestType>(shape, transposed, alpha, beta), {1, 2, 3});
        }
      }
    }
  }
}

// Larger than the caches: with margin 0 C's rows are aligned and may be written past the caches; with margin 1 they are not.
TEMPLATE_TEST_CASE("gemm: a result larger than the caches", "", float, double) {
  for (const Index margin : {0, 1}) {
    const Index n = 2048 + 16;
    const Index m = (Index{36} << 20) / static_cast<Index>(sizeof(TestType)) / n;
    INFO("margin " << margin);
    check_product(Product<TestType>({m, n, 3}, true, 1, 0, margin), {2, 3});
  }
}

TEMPLATE_TEST_CASE("gemm: sizes of zero", "", float, double) {
  const TestType nan = std::numeric_limits<TestType>::quiet_NaN();
  for_each_target([&] {
    Matrix<TestType> c(2, 3, nan);
    gemm(1, Matrix<TestType>(2, 0), Matrix<TestType>(0, 3), 0, c);
    for (Index i = 0; i < c.size(); ++i) CHECK(c.data()[i] == 0);
    Matrix<TestType> d(2, 3, TestType(5));
    gemm_nt(1, Matrix<TestType>(2, 0), Matrix<TestType>(3, 0), 2, d);
    for (Index i = 0; i < d.size(); ++i) CHECK(d.data()[i] == 10);
    Matrix<TestType> none(0, 3);
    CHECK_NOTHROW(gemm(1, Matrix<TestType>(0, 4), Matrix<TestType>(4, 3), 0, none));
    Matrix<TestType> empty(2, 0);
    CHECK_NOTHROW(gemm_nt(1, Matrix<TestType>(2, 4), Matrix<TestType>(0, 4), 0, empty));
  });
}

TEMPLATE_TEST_CASE("gemm: alpha 0 reads neither A nor B", "", float, double) {
  const TestType nan = std::numeric_limits<TestType>::quiet_NaN();
  Matrix<TestType> c(2, 2, TestType(3));
  gemm(0, Matrix<TestType>(2, 5, nan), Matrix<TestType>(5, 2, nan), 1, c);
  for (Index i = 0; i < c.size(); ++i) CHECK(c.data()[i] == 3);
}

TEMPLATE_TEST_CASE("gemm: NaN and infinity reach their row or column, and no other", "", float, double) {
  const TestType inf = std::numeric_limits<TestType>::infinity();
  for_each_target([&] {
    Matrix<TestType> a(20, 30, TestType(1));
    Matrix<TestType> b(30, 60, TestType(1));
    a(7, 29) = inf;
    b(3, 59) = std::numeric_limits<TestType>::quiet_NaN();
    Matrix<TestType> c(20, 60);
    gemm(1, a, b, 0, c);
    for (Index i = 0; i < 20; ++i) {
      for (Index j = 0; j < 60; ++j) {
        if (j == 59) {
          CHECK(std::isnan(c(i, j)));
        } else {
          CHECK(c(i, j) == (i == 7 ? inf : TestType(30)));
        }
      }
    }
  });
}

// A fused multiply-add keeps what rounding x * x loses; two operations lose it. So the result tells which kernel ran.
TEMPLATE_TEST_CASE("gemm: the forced target's kernel is the one that runs", "", float, double) {
  const TestType x = TestType(1) / 3;
  const TestType rounded = x * x;
  Matrix<TestType> a(1, 2, TestType(1));
  Matrix<TestType> b(2, 1, -rounded);
  a(0, 1) = x;
  b(1, 0) = x;
  for_each_target([&](const std::string& target) {
    Matrix<TestType> c(1, 1);
    gemm(1, a, b, 0, c);
    const bool fused = target.rfind("AVX", 0) == 0 || target == "NEON";
    CHECK(c(0, 0) == (fused ? std::fma(x, x, -rounded) : TestType(0)));
    CHECK((c(0, 0) != 0) == fused);
  });
}

// An element does not depend on where it lies: so a row computed alone equals the same row among others.
TEMPLATE_TEST_CASE("gemm: a part of the product has the same bits as in the whole", "", float, double) {
  std::mt19937 random(5);
  Matrix<TestType> a(50, 900);
  Matrix<TestType> b(120, 900);
  fill_normal(a.view(), random);
  fill_normal(b.view(), random);
  for_each_target([&] {
    Matrix<TestType> whole(50, 120);
    gemm_nt(TestType(0.3), a, b, 0, whole);
    Matrix<TestType> part(11, 13);
    gemm_nt(TestType(0.3), a.view().block(39, 0, 11, 900), b.view().block(107, 0, 13, 900), 0, part);
    CHECK(same_bits(part.view(), whole.view().block(39, 107, 11, 13)));
    for (const Index rows : {1, 2, 4, 5}) {  // few rows are computed another way
      Matrix<TestType> few(rows, 120);
      gemm_nt(TestType(0.3), a.view().block(50 - rows, 0, rows, 900), b, 0, few);
      CHECK(same_bits(few.view(), whole.view().block(50 - rows, 0, rows, 120)));
    }
  });
}

TEMPLATE_TEST_CASE("gemm: more rows than are packed at a time have the same bits as some of them alone", "", float, double) {
  std::mt19937 random(7);
  const Index m = 2750, n = 194, k = 770;  // in two passes or three, of which 4 MiB are 2000 to 2700 rows
  Matrix<TestType> a(m, k);
  Matrix<TestType> b(k, n);
  fill_normal(a.view(), random);
  fill_normal(b.view(), random);
  const int before = threads();
  set_threads(2);
  for_each_target([&] {
    Matrix<TestType> whole(m, n);
    gemm(TestType(1), a, b, 0, whole);
    for (const Index first : {Index{0}, Index{1375}, Index{2000}, m - 45}) {
      Matrix<TestType> part(45, n);
      gemm(TestType(1), a.view().block(first, 0, 45, k), b, 0, part);
      INFO("first row " << first);
      CHECK(same_bits(part.view(), whole.view().block(first, 0, 45, n)));
    }
  });
  set_threads(before);
}

TEMPLATE_TEST_CASE("gemm: few rows have the same bits as many, wherever B lies, for any number of threads", "", float, double) {
  std::mt19937 random(6);
  Matrix<TestType> a(9, 801);
  Matrix<TestType> b(801, 2503);
  Matrix<TestType> start(9, 2503);
  fill_normal(a.view(), random);
  fill_normal(b.view(), random);
  fill_normal(start.view(), random);
  const int before = threads();
  for (const int num_threads : {1, 2, 3}) {
    set_threads(num_threads);
    for_each_target([&] {
      for (const TestType beta : {TestType(0), TestType(-0.5)}) {
        Matrix<TestType> whole = copy(start.view());
        gemm(TestType(1.5), a, b, beta, whole);
        for (const Index rows : {1, 3, 4}) {
          Matrix<TestType> few = copy(start.view().block(2, 3, rows, 2500));
          gemm(TestType(1.5), a.view().block(2, 0, rows, 801), b.view().block(0, 3, 801, 2500), beta, few);
          CHECK(same_bits(few.view(), whole.view().block(2, 3, rows, 2500)));
        }
      }
    });
  }
  set_threads(before);
}

TEST_CASE("gemm: shapes that do not fit are errors that say which") {
  Matrix<double> a(2, 3);
  Matrix<double> c(2, 4);
  CHECK_THROWS_WITH(gemm(1, a, Matrix<double>(4, 4), 0, c), "gemm: inner size of B: expected 3, found 4");
  CHECK_THROWS_WITH(gemm_nt(1, a, Matrix<double>(4, 2), 0, c), "gemm: inner size of B: expected 3, found 2");
  CHECK_THROWS_WITH(gemm(1, a, Matrix<double>(3, 5), 0, c), "gemm: columns of C: expected 5, found 4");
  CHECK_THROWS_WITH(gemm(1, Matrix<double>(1, 3), Matrix<double>(3, 4), 0, c), "gemm: rows of C: expected 1, found 2");
}
