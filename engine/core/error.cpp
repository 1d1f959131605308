// Reports broken invariants of the engine.
#include "core/error.h"

namespace unisono {

void internal_failure(const char* condition, const char* file, int line) {
    std::string where(file);
    if (auto slash = where.rfind("engine/"); slash != std::string::npos) where.erase(0, slash);
    throw Error(ErrorKind::Internal, "unisono: internal error: " + std::string(condition) +
                                         " does not hold (" + where + ":" + std::to_string(line) +
                                         "); please report this program");
}

}  // namespace unisono
