// The C interface and the C++ headers over it, in a program that links the engine.
#include <gtest/gtest.h>

#include <sstream>
#include <thread>

#include "unisono/unisono.hpp"

using un::_;
using un::range;

TEST(Api, TableIsOfThisVersionOnly) {
    ASSERT_EQ(un_load(), 0);
    EXPECT_EQ(un_table->bytes, sizeof(un_functions));
    EXPECT_EQ(unisono_functions(UN_ABI + 1), nullptr);
}

TEST(Api, SlicesAndArithmetic) {
    un::Array u = un::zeros({4, 5}), v = u.copy();
    u(0, _) = 100;
    v(range(1, -1), range(1, -1)) =
        (u(range(0, -2), range(1, -1)) + u(range(2, _), range(1, -1))) / 2;
    EXPECT_EQ(v.at(1, 1).value<double>(), 50);
    EXPECT_EQ(v.sum().value<int>(), 150);
    EXPECT_EQ(v.shape(), (std::vector<std::int64_t>{4, 5}));
    const auto before = v.copy();
    v(1, _) += 1;
    EXPECT_EQ((v - before).sum().value<double>(), 5);
}

TEST(Api, PrintsRowsInShort) {
    std::ostringstream text;
    text << un::arange(3) << ' ' << un::arange(20) << ' ' << un::full({}, 2.5);
    EXPECT_EQ(text.str(), "[0 1 2] [0 1 2 ... 17 18 19] 2.5");
}

TEST(Api, ErrorsCarryTheirKind) {
    try {
        un::Array made = un::ones({2}) + un::ones({3});
        FAIL();
    } catch (const un::Error& e) {
        EXPECT_EQ(e.kind(), UN_VALUE_ERROR);
        EXPECT_NE(std::string(e.what()).find("(3,)"), std::string::npos);
    }
    EXPECT_THROW(un::Device("gpu:99"), un::Error);
    EXPECT_THROW(un::zeros({-1}), un::Error);
    EXPECT_THROW(un::Array().shape(), un::Error);
    EXPECT_THROW(un::zeros({2}, static_cast<un_dtype>(99)), un::Error);
    EXPECT_THROW(un::ones({2}).astype(static_cast<un_dtype>(-1)), un::Error);
    EXPECT_THROW(un::ones({2})(un_index{static_cast<un_index_kind>(9), 0, 0, 0}), un::Error);
    EXPECT_THROW(un::from(std::vector<float>{1, 2}, {3}), un::Error);
    EXPECT_THROW(un::arange(3).open<const double>(), un::Error);
}

TEST(Api, ContentsAreWrittenInPlace) {
    un::Array a = un::from(std::vector<std::int32_t>{1, 2, 3, 4, 5, 6}, {2, 3});
    un::Array later = a * 10;
    {
        auto open = a(_, range(_, _, 2)).open<std::int32_t>();
        EXPECT_EQ(open.stride(1), 2);
        open(1, 1) = 60;
    }
    EXPECT_EQ(a.sum().value<int>(), 75);
    EXPECT_EQ(later.sum().value<int>(), 210);
}

TEST(Api, HandlesShareAndComplexNumbersPass) {
    un::Array a = un::ones({3}, un::complex128);
    un::Array b = a;
    b(0) = 2;
    EXPECT_EQ(a.sum().value<std::complex<double>>(), std::complex<double>(4, 0));
    un::Array known = un::full({}, 7) + 1;
    EXPECT_EQ(known.open<const std::int64_t>()(), 8);
    un::Array moved = std::move(b);
    EXPECT_EQ(moved.ndim(), 1);
}

TEST(ApiThreads, EachThreadHasAContextOfItsOwn) {
    auto program = [](double first) {
        un::Context context;
        un::Context::Scope inside(context);
        un::Array u = un::full({300, 400}, first);
        for (int k = 0; k < 200; ++k) u(range(1, _), _) = u(range(0, -1), _) * 0.5 + 1;
        return u.sum().value<double>();
    };
    double results[3] = {};
    std::vector<std::thread> threads;
    for (int k = 0; k < 3; ++k) threads.emplace_back([&, k] { results[k] = program(k); });
    for (std::thread& t : threads) t.join();
    for (int k = 0; k < 3; ++k) EXPECT_EQ(results[k], program(k)) << k;
}
