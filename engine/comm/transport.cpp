// Finds and loads the plugin that carries messages.
#include "comm/transport.h"

#include <dlfcn.h>

#include "core/error.h"

namespace unisono::comm {

namespace {

/// The folder of this shared object: plugins lie beside it.
std::string own_folder() {
    Dl_info found{};
    if (!dladdr(reinterpret_cast<const void*>(&own_folder), &found) || !found.dli_fname) return {};
    std::string path = found.dli_fname;
    auto slash = path.rfind('/');
    return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

}  // namespace

std::unique_ptr<Transport> load_transport(const std::string& kind,
                                          const TransportOptions& options) {
    if (kind != "mpi") {
        fail(ErrorKind::Value,
             "mesh: there is no kind of mesh of that name; got '" + kind + "'; expected 'mpi'");
    }
    std::string path = own_folder() + "libunisono_mpi_openmpi.so";
    // Global: MPI loads components of its own, which look for its symbols.
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        const char* why = dlerror();
        fail(ErrorKind::Comm, "mesh: the MPI plugin could not be loaded; got " +
                                  std::string(why ? why : "no reason") +
                                  "; install Open MPI (libopenmpi-dev) and build unisono again");
    }
    using Make = Transport* (*)(const TransportOptions*);
    auto make = reinterpret_cast<Make>(dlsym(library, "unisono_mpi_transport"));
    if (!make) fail(ErrorKind::Comm, "mesh: " + path + " is no plugin of this version");
    return std::unique_ptr<Transport>(make(&options));
}

}  // namespace unisono::comm
