// Kernels that take turns, given to the queue of a device.
#include "core/error.h"
#include "tape/run/bands/bands.h"

namespace unisono {

void Runner::Bands::submit() {
    try {
        if (!is_whole_ && !bind())
            fail(ErrorKind::Unsupported, "'" + device_->info().name + "' has no such kernels");
        begin_twins();
        complete_twins();
        if (is_whole_) {
            submit_whole();
        } else if (!submit_tiles()) {
            for_each_turn([&](std::size_t k, std::int64_t from, std::int64_t to) {
                run_rows(kernels_[k], schedule_.steps()[k], from, to);
            });
        }
    } catch (...) {
        for (Twin& twin : twins_) twin.anew.abandon();  // while its queue is known
        rings_.clear();
        throw;
    }
    for (Twin& twin : twins_) {
        if (times_turned(twin, count_) % 2 == 0) twin.anew.abandon();
    }
    rings_.clear();
}

}  // namespace unisono
