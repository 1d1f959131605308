// Laplace's equation by the slices of examples/laplace/numpy_slices.py, in C++: the same engine
// without Python.
#include <cstring>
#include <iostream>

#include "unisono/unisono.hpp"

using un::_;
using un::range;

namespace {

void solve(const un::Array& u, const un::Array& u_new) {
    u_new(range(1, -1), range(1, -1)) =
        ((u(range(0, -2), range(1, -1)) + u(range(2, _), range(1, -1))) +
         (u(range(1, -1), range(0, -2)) + u(range(1, -1), range(2, _)))) /
        4;
}

/// The same sums as plain loops, to compare bits with.
void solve_by_loops(const std::vector<double>& u, std::vector<double>& u_new, std::size_t n) {
    for (std::size_t y = 1; y + 1 < n; ++y) {
        for (std::size_t x = 1; x + 1 < n; ++x) {
            u_new[y * n + x] = ((u[(y - 1) * n + x] + u[(y + 1) * n + x]) +
                                (u[y * n + x - 1] + u[y * n + x + 1])) /
                               4;
        }
    }
}

}  // namespace

int main() {
    constexpr std::int64_t size = 64;
    constexpr double eps = 1e-4;
    un::Array u = un::zeros({size, size});
    u(0, _) = 100;
    u(_, 0) = 75;
    u(_, -1) = 50;
    un::Array u_new = u.copy();

    int sweeps = 0;
    double change = 0;
    do {
        for (int k = 0; k < 100; ++k) {
            solve(u, u_new);
            std::swap(u, u_new);
        }
        sweeps += 100;
        change = (u - u_new).max().value<double>();
    } while (change > eps);
    std::cout << "solved in " << sweeps << " sweeps; the middle is at " << u.at(size / 2, size / 2)
              << "\n"
              << u << "\n";

    std::vector<double> a(size * size, 0.0);
    for (std::size_t k = 0; k < size; ++k) {
        a[k] = 100;
    }
    for (std::size_t k = 0; k < size; ++k) {
        a[k * size] = 75;
        a[k * size + size - 1] = 50;
    }
    std::vector<double> b = a;
    for (int k = 0; k < sweeps; ++k) {
        solve_by_loops(a, b, size);
        std::swap(a, b);
    }
    const auto contents = u.open<const double>();
    bool same = std::memcmp(a.data(), contents.data(), a.size() * sizeof(double)) == 0;
    std::cout << (same ? "the bits of plain loops\n" : "OTHER BITS than plain loops\n");
    return same ? 0 : 1;
}
