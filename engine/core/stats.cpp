// The one set of counters.
#include "core/stats.h"

namespace unisono {

Stats& stats() {
    static Stats all;
    return all;
}

}  // namespace unisono
