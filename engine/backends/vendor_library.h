// A vendor's library of the user's machine: where it is searched for, and how its functions are
// found.
#pragma once

#include <dlfcn.h>

#include <span>
#include <string>

namespace unisono {

/// One library of the process, never closed: its threads and the device's code live on.
struct Library {
    void* handle = nullptr;
    std::string text;  ///< its file, or why there is none
};

/// The first that loads of files with these names: of the folder that the setting
/// UNISONO_DEVICE_LIBRARIES names, or of the loader's and those of vendors' packages
/// (`packages` are folders there). None where the setting wants none.
Library open_library(std::span<const char* const> names,
                     std::span<const char* const> packages = {});
/// Whether the user named a folder: what is in it is to work.
bool libraries_are_named();

/// Looks up functions; one that is missing makes the library as good as absent.
class LibraryFunctions {
  public:
    explicit LibraryFunctions(Library& library) : library_(library) {}

    template <class F>
    void find(const std::string& name, F*& function) {
        if (!library_.handle) return;
        function = reinterpret_cast<F*>(dlsym(library_.handle, name.c_str()));
        if (function) return;
        library_.text += " lacks " + name;
        library_.handle = nullptr;
    }

  private:
    Library& library_;
};

}  // namespace unisono
