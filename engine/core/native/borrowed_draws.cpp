// Keeps the tables and functions that compiled code draws with.
#include "core/native/borrowed_draws.h"

namespace unisono {

static BorrowedDraws normal_{}, exponential_{};

bool set_borrowed_draws(BorrowedDraws normal, BorrowedDraws exponential) {
    normal_ = normal;
    exponential_ = exponential;
    return true;
}

const ZigguratLayers* normal_layers() noexcept { return normal_.layers(); }
const ZigguratLayers* exponential_layers() noexcept { return exponential_.layers(); }
double rest_of_borrowed_normal(BitGenerator* from, std::uint64_t first) noexcept {
    return normal_.rest(from, first);
}
double rest_of_borrowed_exponential(BitGenerator* from, std::uint64_t first) noexcept {
    return exponential_.rest(from, first);
}

}  // namespace unisono
