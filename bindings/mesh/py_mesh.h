// Python's handle on a mesh.
#pragma once

#include "array/owner.h"
#include "comm/mesh.h"

namespace unisono::python {

class PyMesh {
  public:
    explicit PyMesh(comm::Mesh& mesh) : mesh_(&mesh) {}
    /// For use; refused on other ranks than its own.
    comm::Mesh* operator->() const {
        if (owner_.get() != owner_here()) [[unlikely]]
            refuse_owner("mesh: it", owner_.get());
        return mesh_;
    }
    comm::Mesh& operator*() const { return *operator->(); }
    /// To compare and show.
    const comm::Mesh& shown() const { return *mesh_; }

  private:
    comm::Mesh* mesh_;
    OwnerRef owner_;
};

}  // namespace unisono::python
