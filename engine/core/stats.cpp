// The one set of counters.
#include "core/stats.h"

namespace unisono {

Stats all_stats;

}  // namespace unisono
