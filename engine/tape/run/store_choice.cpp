// Keeps the times of a kernel's two variants, and compares them.
#include "tape/run/store_choice.h"

#include <algorithm>
#include <cstdio>

namespace unisono {

namespace {

/// The variant that the size does not suggest must be faster by this factor.
constexpr double clearly_faster = 0.97;

std::string milliseconds(double seconds) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g ms", seconds * 1e3);
    return text;
}

}  // namespace

void StoreChoice::ran(bool past, double begin, double end) {
    const double period = end - last_end_;
    last_end_ = end;
    last_ = past;
    if (past != past_caches()) return;  // a setting decides
    if (runs_ < turns * runs_per_turn && runs_ % runs_per_turn != 0) {
        Times& times = times_[past];
        times.run = std::min(times.run, end - begin);
        times.period = std::min(times.period, period);
    }
    if (++runs_ == turns * runs_per_turn) settle();
    if (runs_ < runs_until_next) return;
    runs_ = 0;
    times_[0] = times_[1] = Times{};
}

void StoreChoice::settle() {
    const Times &as_suggested = times_[suggested_], &other = times_[!suggested_];
    // Faster stores that make the program slower, whose next kernel reads the result, are no gain.
    const bool gains =
        other.run < clearly_faster * as_suggested.run && other.period < as_suggested.period;
    chosen_ = suggested_ != gains;
}

std::string StoreChoice::text() const {
    static const std::string names[] = {"through the caches", "past the caches"};
    if (runs_ < turns * runs_per_turn) return names[last_] + " (not timed yet)";
    return names[last_] + " (fastest run " + milliseconds(times_[last_].run) + ", " +
           names[!last_] + " " + milliseconds(times_[!last_].run) + ")";
}

}  // namespace unisono
