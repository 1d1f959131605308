#include "core/native/foreign.h"

#include <cxxabi.h>

#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <typeinfo>

#include "core/native/native.h"
#include "core/threads/fork.h"

namespace unisono {

namespace {

thread_local bool has_failed = false;  // the last call of this thread

ProcessMutex mutex;
std::optional<ForeignError> last;  // of all threads

std::string name_of_current() {
    const std::type_info* type = abi::__cxa_current_exception_type();
    if (!type) return "unknown";
    int status = 0;
    char* plain = abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
    std::string name = plain ? plain : type->name();
    std::free(plain);
    return name;
}

void note(ErrorKind kind, const std::string& text) {
    has_failed = true;
    std::lock_guard lock(mutex);
    last = ForeignError{.kind = kind, .text = text};
}

/// Inside of a handler. Python's classes as other bindings of C++ choose them.
void note_current() {
    try {
        throw;
    } catch (const std::bad_alloc& e) {
        note(ErrorKind::Memory, e.what());
    } catch (const std::out_of_range& e) {
        note(ErrorKind::Index, e.what());
    } catch (const std::invalid_argument& e) {
        note(ErrorKind::Value, e.what());
    } catch (const std::domain_error& e) {
        note(ErrorKind::Value, e.what());
    } catch (const std::length_error& e) {
        note(ErrorKind::Value, e.what());
    } catch (const std::overflow_error& e) {
        note(ErrorKind::Overflow, e.what());
    } catch (const std::exception& e) {
        note(ErrorKind::Runtime, name_of_current() + ": " + e.what());
    } catch (...) {
        note(ErrorKind::Runtime, "C++ threw an object of type " + name_of_current());
    }
}

/// [0]: [whether the last call through guard_cpp threw]
void cpp_failed(std::int64_t* v) noexcept {
    v[0] = has_failed;
    has_failed = false;
}

[[maybe_unused]] const bool is_added = add_natives({{"cpp_failed", cpp_failed}});

}  // namespace

void guard_cpp(void (*f)(void*), void* p) noexcept {
    try {
        f(p);
    } catch (...) {
        note_current();
    }
}

void note_foreign_error(ForeignError error) noexcept {
    std::lock_guard lock(mutex);
    last = std::move(error);
}

bool take_foreign_error(ForeignError& error) {
    std::lock_guard lock(mutex);
    if (!last) return false;
    error = std::move(*last);
    last.reset();
    return true;
}

}  // namespace unisono
