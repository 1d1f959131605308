// Puts the parts of the loops together: by the processor once, by the dtype of the operands each
// time.
#include "backends/block/loops.h"

#include "core/processor.h"

#include <array>

namespace unisono::block {
namespace {

using Parts = std::array<LoopTable, part_count>;

const Parts& v3_parts() {
    static const Parts parts{loops_x86_64_v3_narrow(), loops_x86_64_v3_wide(),
                             loops_x86_64_v3_float(), loops_complex()};
    return parts;
}

const Parts& widest_parts() {
#if defined(__x86_64__)
    if (has_avx512()) {
        static const Parts parts{loops_avx512_narrow(), loops_avx512_wide(), loops_avx512_float(),
                                 loops_complex()};
        return parts;
    }
#endif
    return v3_parts();
}

template <const Parts& (*parts)()>
const LoopTable& part(DType t) {
    return parts()[static_cast<std::size_t>(part_of(t))];
}

template <const Parts& (*parts)()>
constexpr LoopTable joined = {
    [](Op op, DType t) { return part<parts>(t).operation(op, t); },
    [](DType from, DType to) { return part<parts>(is_complex(to) ? to : from).cast(from, to); },
    // By size alone: one part holds them all.
    [](DType t) { return part<parts>(size_of(t) > 8 ? t : DType::Float64).select(t); },
    [](Op op, DType t) { return part<parts>(t).leaf(op, t); },
    [](Op op, DType t) { return part<parts>(t).leaves(op, t); },
};

}  // namespace

const LoopTable& loops_x86_64_v3() { return joined<v3_parts>; }
const LoopTable& loops() { return joined<widest_parts>; }

}  // namespace unisono::block
