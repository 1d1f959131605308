// The last error of a thread, as C sees it.
#include <new>
#include <string>

#include "api/handle.h"
#include "api/tables.h"
#include "core/error.h"

namespace unisono::api {

static_assert(static_cast<int>(ErrorKind::Value) == UN_VALUE_ERROR &&
              static_cast<int>(ErrorKind::Compile) == UN_COMPILE_ERROR &&
              static_cast<int>(ErrorKind::Interrupt) == UN_KEYBOARD_INTERRUPT &&
              static_cast<int>(ErrorKind::LinAlg) == UN_LINALG_ERROR);

namespace {

struct Kept {
    std::string message, file;
    un_error error{UN_INTERNAL_ERROR, "", "", 0};
};
thread_local Kept kept;

void keep(un_error_kind kind, const char* message, const SourcePlace& place = {}) noexcept {
    try {
        kept.message = message;
        kept.file = place.file;
        kept.error = {kind, kept.message.c_str(), kept.file.c_str(), place.line};
    } catch (...) {
        kept.error = {UN_MEMORY_ERROR, "out of memory", "", 0};
    }
}

}  // namespace

void remember_current_error() noexcept {
    try {
        throw;
    } catch (const Error& e) {
        keep(static_cast<un_error_kind>(e.kind()), e.what(), e.place());
    } catch (const std::bad_alloc&) {
        keep(UN_MEMORY_ERROR, "out of memory");
    } catch (const std::exception& e) {
        keep(UN_INTERNAL_ERROR, e.what());
    } catch (...) {  // of the language above, which keeps its own record
        keep(UN_RUNTIME_ERROR, "an exception of a callback");
    }
}

const un_error* last_error() noexcept { return &kept.error; }

void set_error(un_error_kind kind, const char* message, const char* file, int line) noexcept {
    remembering(0, [&] {
        keep(kind, message ? message : "", {file ? file : "", line});
        return 0;
    });
}

}  // namespace unisono::api
