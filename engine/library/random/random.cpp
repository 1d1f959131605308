// Fills arrays with random numbers: pieces of fixed length over the threads, the first draws of a
// piece made in vectors.
#include "library/random/random.h"

#include <algorithm>
#include <array>
#include <bit>

#include "backends/device_libraries.h"
#include "core/error.h"
#include "core/threads/parallel.h"
#include "library/random/samplers.h"
#include "primitives/primitive.h"
#include "tape/record/record.h"

namespace unisono::library {

namespace {

constexpr std::int64_t piece = 512;  ///< elements whose first draws are made at once

/// In [0, 1) by integer operations that vectors have: both halves of the 53 bits are exact.
double fraction(std::uint64_t bits) {
    std::uint64_t high = bits >> 32, low = (bits >> 11) & 0x1fffff;
    double h = std::bit_cast<double>(high | 0x4330000000000000) - 0x1p52;
    double l = std::bit_cast<double>(low | 0x4330000000000000) - 0x1p52;
    return h * 0x1p-32 + l * 0x1p-53;
}

/// f(first draws, index of the first element, count) over pieces on all threads.
template <class F>
void for_each_piece(const RandomKey& key, std::int64_t n, std::int64_t pieces_together, F&& f) {
    std::int64_t pieces = (n + piece - 1) / piece;
    parallel_for(0, pieces, pieces_together, [&](std::int64_t begin, std::int64_t end) {
        std::uint64_t room[piece + 2 * philox::lanes];
        for (std::int64_t p = begin; p < end; ++p) {
            std::int64_t first = p * piece, count = std::min(piece, n - first);
            const std::uint64_t* draws =
                philox::first_draws(key, key.next + static_cast<std::uint64_t>(first), count, room);
            f(draws, first, count);
        }
    });
}

using primitives::Drawing;

/// The operands that parameters of each element lie in, or null.
std::array<const double*, 3> pointers_of(const Drawing& drawing, Views in) {
    std::array<const double*, 3> p{};
    for (std::size_t k = 0; k < 3; ++k) {
        const int operand = drawing.input[k];
        if (operand >= 0)
            p[k] = reinterpret_cast<const double*>(in[static_cast<std::size_t>(operand)].data());
    }
    return p;
}

template <class Out, class F>
void fill(const Drawing& drawing, Views in, const View& out, F&& value) {
    const RandomKey& key = drawing.key;
    const auto pointers = pointers_of(drawing, in);
    Out* to = reinterpret_cast<Out*>(out.data());
    for_each_piece(key, out.layout->size(), 16,
                   [&](const std::uint64_t* draws, std::int64_t first, std::int64_t count) {
                       auto p = std::to_array(drawing.value);
                       auto draw_one = [&](std::int64_t k) {
                           Draws d(key, key.next + static_cast<std::uint64_t>(first + k), draws[k]);
                           to[first + k] = static_cast<Out>(value(d, p.data()));
                       };
                       if (in.empty()) {
                           for (std::int64_t k = 0; k < count; ++k) draw_one(k);
                           return;
                       }
                       for (std::int64_t k = 0; k < count; ++k) {
                           for (std::size_t q = 0; q < 3; ++q) {
                               if (pointers[q]) p[q] = pointers[q][first + k];
                           }
                           draw_one(k);
                       }
                   });
}

/// Uniform numbers take one draw each and no branch.
template <class Out>
void fill_uniform(const Drawing& drawing, const View& out) {
    const RandomKey& key = drawing.key;
    Out* to = reinterpret_cast<Out*>(out.data());
    double low = drawing.value[0], width = drawing.value[1] - low;
    bool unit = low == 0 && width == 1;
    for_each_piece(key, out.layout->size(), 16,
                   [&](const std::uint64_t* draws, std::int64_t first, std::int64_t count) {
                       for (std::int64_t k = 0; k < count; ++k) {
                           if constexpr (sizeof(Out) == 4) {
                               // 24 bits, so that rounding never gives 1.
                               Out u = static_cast<Out>(static_cast<std::int32_t>(draws[k] >> 40)) *
                                       Out(0x1p-24);
                               to[first + k] = unit ? u : static_cast<Out>(low + width * u);
                           } else {
                               double u = fraction(draws[k]);
                               to[first + k] = unit ? u : low + width * u;
                           }
                       }
                   });
}

template <class Out>
void run(const Drawing& drawing, Views in, const View& out) {
    if (drawing.what == Distribution::Uniform && in.empty()) return fill_uniform<Out>(drawing, out);
    switch (drawing.what) {
        // clang-format off
#define UNISONO_DISTRIBUTION(Name, name, count, whole, expression)                   \
    case Distribution::Name:                                                         \
        return fill<Out>(drawing, in, out,                                   \
                         [](Draws& d, [[maybe_unused]] const double* p) { return expression; });
#include "library/random/distributions.def"
        // clang-format on
    }
}

/// Few numbers cost less at once than recorded.
template <class Attributes>
Array made_by(const Row<Attributes>& row, std::span<const Array> inputs,
              const Attributes& attributes, Device* place) {
    const Dims shape = attributes.shape.shape();
    if (!inputs.empty() || place || element_count(shape) > 256)
        return call(row, inputs, attributes, nullptr, place);
    Array made = empty(shape, attributes.dtype, nullptr);
    made.view().storage->allocate();
    if (made.size() > 0) row.host(attributes, {}, {&made.view(), 1});
    return shape.empty() ? to_value(made) : made;
}

}  // namespace

void host::random_numbers(const Drawing& d, Views in, Views out) {
    if (d.dtype == DType::Float64) return run<double>(d, in, out[0]);
    if (d.dtype == DType::Float32) return run<float>(d, in, out[0]);
    run<std::int64_t>(d, in, out[0]);
}

namespace {

__extension__ using Wide = unsigned __int128;

/// Uniform in 0, ..., span: Lemire's multiplication (2019), which rejects what would bias.
std::uint64_t below(Draws& d, std::uint64_t span) {
    std::uint64_t n = span + 1;
    if (n == 0) return d.bits();
    Wide product = static_cast<Wide>(d.bits()) * n;
    if (static_cast<std::uint64_t>(product) < n) {
        std::uint64_t threshold = -n % n;
        while (static_cast<std::uint64_t>(product) < threshold)
            product = static_cast<Wide>(d.bits()) * n;
    }
    return static_cast<std::uint64_t>(product >> 64);
}

}  // namespace

void host::random_integers(const primitives::Range& range, Views, Views out) {
    dispatch_native(range.dtype, [&]<class T>() {
        if constexpr (std::is_integral_v<T>) {
            T* to = reinterpret_cast<T*>(out[0].data());
            for_each_piece(range.key, out[0].layout->size(), 16,
                           [&](const std::uint64_t* draws, std::int64_t first, std::int64_t count) {
                               for (std::int64_t k = 0; k < count; ++k) {
                                   auto index = static_cast<std::uint64_t>(first + k);
                                   Draws d(range.key, range.key.next + index, draws[k]);
                                   to[first + k] =
                                       static_cast<T>(static_cast<std::uint64_t>(range.low) +
                                                      below(d, range.span));
                               }
                           });
        }
    });
}

void host::random_permutations(const primitives::Permuting& permuting, Views, Views out) {
    const std::int64_t n = permuting.n;
    const RandomKey& key = permuting.key;
    auto* to = reinterpret_cast<std::int64_t*>(out[0].data());
    parallel_for(0, permuting.count, std::max<std::int64_t>(1, 4096 / std::max<std::int64_t>(1, n)),
                 [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t row = begin; row < end; ++row) {
                         std::int64_t* p = to + row * n;
                         for (std::int64_t k = 0; k < n; ++k) p[k] = k;
                         std::uint64_t room[piece + 2 * philox::lanes];
                         const std::uint64_t* draws = room;
                         for (std::int64_t k = n - 1; k > 0; --k) {
                             std::int64_t step = n - 1 - k;
                             auto index = key.next + static_cast<std::uint64_t>(row * n + step);
                             if (step % piece == 0)
                                 draws = philox::first_draws(key, index, std::min(piece, k), room);
                             Draws d(key, index, draws[step % piece]);
                             std::swap(p[k], p[below(d, static_cast<std::uint64_t>(k))]);
                         }
                     }
                 });
}

Distribution distribution_named(std::string_view wanted) {
#define UNISONO_DISTRIBUTION(Name, name, ...) \
    if (wanted == name) return Distribution::Name;
#include "library/random/distributions.def"
    fail(ErrorKind::Internal, "random: unknown distribution " + std::string(wanted));
}

namespace {

/// What a library draws, where there is one.
void require_library(Distribution what, std::span<const Parameter> given, Device* place) {
    const bool is_plain =
        std::none_of(given.begin(), given.end(), [](const Parameter& p) { return p.is_array; });
    if ((what != Distribution::Uniform && what != Distribution::Normal) || !is_plain)
        fail(ErrorKind::Unsupported,
             "random: CuRand draws uniform and normal numbers whose parameters are numbers; use "
             "un.random.Philox for others");
    DeviceLibraries* libraries = place ? libraries_of(*place) : nullptr;
    if (!libraries || !libraries->draws())
        fail(ErrorKind::Unsupported,
             "random: CuRand draws on CUDA devices where cuRAND is installed; got device='" +
                 (place ? place->info().name : std::string("cpu")) +
                 "'; see `python -m unisono doctor`, or use un.random.Philox");
}

void refuse_library(const RandomKey& key) {
    if (key.library)
        fail(ErrorKind::Unsupported,
             "random: CuRand draws uniform and normal numbers only; use un.random.Philox");
}

}  // namespace

Array draw(Distribution what, std::span<const Parameter> given, Dims shape, DType dtype,
           const RandomKey& key, Device* place) {
    if (key.library) require_library(what, given, place);
    Drawing drawing{what, key, {}, {-1, -1, -1}, dtype, primitives::Extents::of(shape)};
    std::vector<Array> inputs;
    for (std::size_t k = 0; k < given.size(); ++k) {
        drawing.value[k] = given[k].value;
        if (!given[k].is_array) continue;
        drawing.input[k] = static_cast<int>(inputs.size());
        inputs.push_back(packed(broadcast_to(given[k].array, shape)));
    }
    return made_by(primitives::random_numbers, inputs, drawing, place);
}

Array draw_integers(std::int64_t low, std::uint64_t span, Dims shape, DType dtype,
                    const RandomKey& key, Device* place) {
    refuse_library(key);
    return made_by(primitives::random_integers, {},
                   primitives::Range{low, span, key, dtype, primitives::Extents::of(shape)}, place);
}

Array draw_permutations(std::int64_t count, std::int64_t n, const RandomKey& key, Device* place) {
    refuse_library(key);
    return call(primitives::random_permutations, {}, {count, n, key}, nullptr, place);
}

}  // namespace unisono::library
