// Finds and loads the plugin that carries messages.
#include "comm/transport.h"

#include <dlfcn.h>

#include "comm/messages.h"
#include "core/error.h"

namespace unisono::comm {

namespace {

/// The folder of this shared object: plugins lie beside it.
std::string own_folder() {
    Dl_info found{};
    if (!dladdr(reinterpret_cast<const void*>(&own_folder), &found) || !found.dli_fname) return {};
    std::string path = found.dli_fname;
    auto newer = path.rfind("/glibc-hwcaps/");  // as in codegen/plugin.cpp
    if (newer != std::string::npos) path.resize(newer + 1);
    auto slash = path.rfind('/');
    return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

std::string loader_error() {
    const char* why = dlerror();
    return why ? why : "no reason";
}

/// The MPI of the machine, which the plugin does not name: the one that `mpirun` belongs to must
/// serve. Global: MPI loads components of its own, which look for its symbols.
void load_mpi() {
    if (dlopen("libmpi.so.40", RTLD_NOW | RTLD_GLOBAL)) return;
    fail(ErrorKind::Comm, "mesh: Open MPI could not be loaded; got " + loader_error() +
                              "; expected libmpi.so.40 of Open MPI 4 or 5; install it (Debian: "
                              "openmpi-bin), or put its folder into LD_LIBRARY_PATH");
}

/// The plugin's function of that name.
template <class Function>
Function* entry_of_plugin(const char* name) {
    load_mpi();
    std::string path = own_folder() + "libunisono_mpi_openmpi.so";
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        fail(ErrorKind::Comm, "mesh: the MPI plugin could not be loaded; got " + loader_error() +
                                  "; build unisono where Open MPI's headers are (libopenmpi-dev)");
    }
    auto entry = reinterpret_cast<Function*>(dlsym(library, name));
    if (!entry) fail(ErrorKind::Comm, "mesh: " + path + " is no plugin of this version");
    return entry;
}

}  // namespace

std::unique_ptr<Transport> load_transport(const std::string& kind,
                                          const TransportOptions& options) {
    if (kind != "mpi") {
        fail(ErrorKind::Value, "mesh: unknown kind of mesh; got '" + kind + "'; expected 'mpi'");
    }
    auto* make = entry_of_plugin<Transport*(const TransportOptions*)>("unisono_mpi_transport");
    return std::unique_ptr<Transport>(make(&options));
}

std::unique_ptr<Job> load_job(const JobOptions& options) {
    auto* make = entry_of_plugin<Job*(const JobOptions*)>("unisono_mpi_job");
    return std::unique_ptr<Job>(make(&options));
}

}  // namespace unisono::comm
