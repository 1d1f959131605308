// A kernel in two versions: with tests of what it accesses, and for launches whose numbers show
// that nothing is out of range.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "backends/backend.h"
#include "core/threads/fork.h"
#include "ir/clone.h"
#include "passes/lower.h"

namespace unisono {

/// The version without tests, as a module.
struct ProvenKernel {
    ir::Module module;
    std::unique_ptr<const passes::IntervalProgram> proof;

    explicit ProvenKernel(const ir::Module& kernel) { ir::append(module, kernel); }
    /// False where no launch gains by it.
    bool lower(passes::Target target);
};

class ProvenExecutable final : public Executable {
  public:
    /// Makes the version without tests, when the first such launch comes: one for ranges of whole
    /// groups, or one for any.
    using Make = std::function<std::unique_ptr<Executable>(bool fills_groups)>;
    /// Whether the device would not make the range larger.
    using FillsGroups = std::function<bool(const LaunchArgs&)>;

    ProvenExecutable(std::unique_ptr<Executable> checked,
                     std::shared_ptr<const ProvenKernel> kernel, Make make,
                     FillsGroups fills_groups);

    Fault launch(const LaunchArgs& args) override;
    std::shared_ptr<const PendingFault> submit(const LaunchArgs& args) override;
    void check(const LaunchArgs& args) override { version_for(args).check(args); }
    std::span<const ir::FaultSite> sites() const override { return sites_; }
    std::string source() const override { return checked_->source(); }
    std::string assembly() const override { return checked_->assembly(); }
    Listing listing() const override;

  private:
    Executable& version_for(const LaunchArgs& args) const;
    bool is_as_before(const LaunchArgs& args) const;
    bool is_proven(const LaunchArgs& args) const;
    passes::Interval value_of(std::size_t input, const LaunchArgs& args) const;
    /// How far the sites of the other version are behind those of the one with tests.
    std::int64_t first_site() const { return std::ssize(checked_->sites()); }

    std::unique_ptr<Executable> checked_;
    std::shared_ptr<const ProvenKernel> kernel_;
    std::vector<ir::FaultSite> sites_;   ///< of the version with tests, then of the other
    std::vector<std::size_t> position_;  ///< of an input's parameter among arrays or scalars
    Make make_;
    FillsGroups fills_groups_;
    mutable LongMutex mutex_;
    mutable std::unique_ptr<Executable> proven_[2];  ///< by fills_groups
    // Of the launch before.
    mutable Executable* last_version_ = nullptr;
    mutable NDRange last_range_;
    mutable std::vector<passes::Interval> last_;  ///< by input
};

}  // namespace unisono
