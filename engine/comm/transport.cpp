// Finds and loads the plugin that carries messages.
#include "comm/transport.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>

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

/// An MPI that there is a plugin for.
struct Mpi {
    const char *library, *plugin, *name, *package;
};
constexpr Mpi open_mpi{"libmpi.so.40", "libunisono_mpi_openmpi.so", "Open MPI", "openmpi-bin"};
constexpr Mpi mpich{"libmpich.so.12", "libunisono_mpi_mpich.so", "MPICH", "mpich"};

/// The one that the process uses already, else that of the launcher, else Open MPI.
const Mpi& mpi_of_process() {
    for (const Mpi* mpi : {&open_mpi, &mpich}) {
        if (dlopen(mpi->library, RTLD_NOW | RTLD_NOLOAD)) return *mpi;
    }
    const bool by_mpich = std::getenv("PMI_RANK") && !std::getenv("OMPI_COMM_WORLD_RANK");
    return by_mpich ? mpich : open_mpi;
}

/// Loads the MPI of the machine, which the plugin does not name: the one that `mpirun` belongs to
/// must serve. Global: MPI loads components of its own, which look for its symbols.
const Mpi& load_mpi() {
    const Mpi& mpi = mpi_of_process();
    if (dlopen(mpi.library, RTLD_NOW | RTLD_GLOBAL)) return mpi;
    fail(ErrorKind::Comm, std::string("mesh: ") + mpi.name + " could not be loaded; got " +
                              loader_error() + "; expected " + mpi.library +
                              "; install it (Debian: " + mpi.package +
                              "), or put its folder into LD_LIBRARY_PATH");
}

/// The plugin's function of that name.
template <class Function>
Function* entry_of_plugin(const char* name) {
    const Mpi& mpi = load_mpi();
    std::string path = own_folder() + mpi.plugin;
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        fail(ErrorKind::Comm, "mesh: the MPI plugin could not be loaded; got " + loader_error() +
                                  "; build unisono where the headers of " + mpi.name +
                                  " are (Debian: libopenmpi-dev, libmpich-dev)");
    }
    auto entry = reinterpret_cast<Function*>(dlsym(library, name));
    if (!entry) fail(ErrorKind::Comm, "mesh: " + path + " is not a plugin of this version");
    return entry;
}

}  // namespace

std::string divergence_text(std::uint64_t number, std::span<const Program> programs) {
    std::string message =
        "mesh: the ranks run different programs; their operation number " + std::to_string(number);
    if (programs.size() == 1) {
        return message + " [" + programs[0].text +
               "] is the same, but statements before it are not: they do something else, or their "
               "slices begin elsewhere; all ranks must make the same statements on distributed "
               "arrays, and x.local is a rank's own part";
    }
    const char* separator = " is";
    for (const Program& p : programs) {
        const bool is_alone = std::ranges::count(programs, p.text, &Program::text) == 1;
        message += std::string(separator) + " [" + p.text + "]" +
                   (is_alone ? "" : " behind " + std::to_string(p.statements) + " statements") +
                   " on rank " + p.ranks;
        separator = " but";
    }
    return message +
           "; all ranks must make the same operations on distributed arrays in the same order";
}

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
