// Says what a mesh has in common with a device, and that it is none.
#include "comm/place.h"

#include <limits>

#include "comm/mesh.h"
#include "core/error.h"

namespace unisono::comm {

Place::Place(Mesh& mesh, const std::string& kind) : mesh_(mesh) {
    info_.name = "mesh:" + kind;
    info_.kind = "mesh";
    info_.description = "the ranks of a job";
    info_.compute_units = 1;
    info_.memory_bytes = std::numeric_limits<std::int64_t>::max() / 2;
}

Mesh* Place::mesh_of(const Device* device) {
    const auto* place = dynamic_cast<const Place*>(device);
    return place ? &place->mesh_ : nullptr;
}

void Place::refuse(const char* what) const {
    fail(ErrorKind::Unsupported, std::string(what) + ": an array spread over " + info_.name +
                                     " was given; expected one on a device: take this rank's part, "
                                     "or move it with .to_device(\"cpu\")");
}

Memory Place::allocate(std::int64_t) { refuse("memory"); }
void Place::copy_in(Memory, std::int64_t, const void*, std::int64_t) { refuse("copy"); }
void Place::copy_out(void*, Memory, std::int64_t, std::int64_t) { refuse("copy"); }
void Place::copy(Memory, std::int64_t, Memory, std::int64_t, std::int64_t) { refuse("copy"); }
std::unique_ptr<Executable> Place::compile(ir::Module, const CompileOptions&) {
    refuse("compiled function");
}

}  // namespace unisono::comm
