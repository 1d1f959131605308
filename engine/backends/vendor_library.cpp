// Finds vendors' libraries: in a folder that the user names, where the loader looks, in packages.
#include "backends/vendor_library.h"

#include <unistd.h>

#include <vector>

#include "backends/device_libraries.h"
#include "core/settings.h"

namespace unisono {

std::vector<std::string> (*library_folders)() = nullptr;

namespace {

/// In the order in which they are asked; an empty one is the loader's own.
std::vector<std::string> folders_with(std::span<const char* const> packages) {
    const std::string& chosen = setting("device_libraries");
    if (chosen == "none") return {};
    if (chosen != "auto") return {chosen + "/"};
    std::vector<std::string> all{""};
    if (!library_folders || packages.empty()) return all;
    for (const std::string& folder : library_folders()) {
        for (const char* package : packages) all.push_back(folder + "/" + package + "/lib/");
    }
    return all;
}

}  // namespace

Library open_library(std::span<const char* const> names, std::span<const char* const> packages) {
    Library found;
    const auto folders = folders_with(packages);
    if (folders.empty()) {
        found.text = "not wanted";
        return found;
    }
    std::string reason = "not found";
    for (const char* name : names) {
        for (const std::string& folder : folders) {
            const std::string path = folder + name;
            found.handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
            const char* why = dlerror();
            if (found.handle) {
                found.text = path;
                return found;
            }
            // One that is there lacks a library of its own, or is for another machine.
            if (why && access(path.c_str(), F_OK) == 0) reason = why;
        }
    }
    found.text = reason;
    return found;
}

bool libraries_are_named() {
    const std::string& chosen = setting("device_libraries");
    return chosen != "auto" && chosen != "none";
}

}  // namespace unisono
