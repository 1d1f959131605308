// A mesh as a place: what arrays that are spread over it name as their device.
#pragma once

#include "backends/backend.h"

namespace unisono::comm {

class Mesh;

class Place final : public Device {
  public:
    explicit Place(Mesh& mesh, const std::string& kind);
    /// The mesh of arrays on the device, else null.
    static Mesh* mesh_of(const Device* device);

    const DeviceInfo& info() const override { return info_; }
    // Statements on spread arrays become statements on each rank's own: nothing reaches these.
    Memory allocate(std::int64_t bytes) override;
    void free(Memory) noexcept override {}
    void copy_in(Memory, std::int64_t, const void*, std::int64_t) override;
    void copy_out(void*, Memory, std::int64_t, std::int64_t) override;
    void copy(Memory, std::int64_t, Memory, std::int64_t, std::int64_t) override;
    std::unique_ptr<Executable> compile(ir::Module module, const CompileOptions&) override;
    void synchronize() override {}

  private:
    [[noreturn]] void refuse(const char* what) const;

    Mesh& mesh_;
    DeviceInfo info_;
};

}  // namespace unisono::comm
