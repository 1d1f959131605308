// The library that holds the mathematical functions, shared by their scalar and array forms.
#pragma once

#include <dlfcn.h>

namespace unisono::math {

/// Handle of the library, opened at the first call; null where it is missing.
void* library();

/// Sets function to the one of that name and returns true, or returns false where it is missing.
template <class F>
bool find_function(const char* name, F& function) {
    void* found = library() ? dlsym(library(), name) : nullptr;
    function = reinterpret_cast<F>(found);
    return found != nullptr;
}

}  // namespace unisono::math
