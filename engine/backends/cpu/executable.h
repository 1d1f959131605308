// A compiled module on the host.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "backends/backend.h"
#include "backends/codegen/compile.h"
#include "backends/cpu/compiler.h"
#include "backends/cpu/deferred.h"
#include "backends/cpu/loader.h"

namespace unisono::cpu {

/// Packs arguments and calls the code.
class CpuExecutable final : public Executable {
  public:
    CpuExecutable(ir::Module module, const CompileOptions& given);
    Fault launch(const LaunchArgs& args) override;
    /// Of functions that neither take nor give anything one, too: none means that there is no such
    /// call.
    std::size_t packed_slots() const override {
        return is_kernel_ ? 0 : std::max<std::size_t>(slots_, 1);
    }
    Fault launch_packed(std::int64_t* packed, int threads) override;
    std::span<const ir::FaultSite> sites() const override { return source_.sites(); }
    std::string source() const override;
    void* callback() const override { return callback_; }
    std::string assembly() const override;
    Listing listing() const override;

  private:
    using Entry = std::int64_t (*)(std::int64_t* args, Fault* fault);

    codegen::Target listing_target() const;

    mutable Source source_;  ///< runs the passes when something needs them
    std::string name_;
    bool is_kernel_;
    int dimensions_;
    std::vector<int> ranks_;  ///< per parameter of the entry; -1: a scalar
    std::size_t results_ = 0, slots_ = 0;
    mutable DeferredFunctions deferred_{source_};
    std::shared_ptr<LoadedCode> code_;
    Entry entry_ = nullptr;
    void* callback_ = nullptr;
};

}  // namespace unisono::cpu
