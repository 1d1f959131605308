// Reads a launch's numbers as intervals and chooses the version of the kernel by them.
#include "backends/proven_executable.h"

#include <algorithm>
#include <mutex>

#include "backends/listing.h"
#include "context/context.h"

namespace unisono {

using passes::Interval;
using passes::LaunchInput;

bool ProvenKernel::lower(passes::Target target) {
    target.proof = &proof;
    passes::lower(module, target);
    return proof != nullptr;
}

ProvenExecutable::ProvenExecutable(std::unique_ptr<Executable> checked,
                                   std::shared_ptr<const ProvenKernel> kernel, Make make,
                                   FillsGroups fills_groups)
    : checked_(std::move(checked)),
      kernel_(std::move(kernel)),
      sites_(checked_->sites().begin(), checked_->sites().end()),
      make_(std::move(make)),
      fills_groups_(std::move(fills_groups)) {
    const auto more = passes::all_sites(kernel_->module);
    sites_.insert(sites_.end(), more.begin(), more.end());
    const ir::Function& f = kernel_->module.entry();
    for (const LaunchInput& input : kernel_->proof->inputs) {
        std::size_t position = 0;
        const bool is_array = input.kind == LaunchInput::Kind::Extent;
        for (std::int32_t p = 0; p < input.param; ++p)
            position += f.params[static_cast<std::size_t>(p)].is_array() == is_array;
        position_.push_back(position);
    }
}

namespace {

bool same_range(const NDRange& a, const NDRange& b) {
    return a.dimensions == b.dimensions && a.global == b.global && a.local == b.local &&
           a.offset == b.offset;
}

/// What the query gives in any work-item. Where the device chooses the groups, they are of up to
/// twice the range's size.
Interval of_range(ir::WorkItemQuery query, std::size_t axis, const NDRange& range) {
    const bool has_axis = static_cast<int>(axis) < range.dimensions;
    const std::int64_t global = has_axis ? range.global[axis] : 1;
    const std::int64_t local = has_axis ? range.local[axis] : 1;
    const std::int64_t offset = has_axis ? range.offset[axis] : 0;
    const std::int64_t groups = local > 0 ? (global + local - 1) / local : global;
    switch (query) {
        case ir::WorkItemQuery::GlobalId: return {offset, offset + global - 1};
        case ir::WorkItemQuery::LocalId:
            return {0, (local > 0 ? std::min(local, global) : global) - 1};
        case ir::WorkItemQuery::GroupId: return {0, groups - 1};
        case ir::WorkItemQuery::GlobalSize: return {global, global};
        case ir::WorkItemQuery::LocalSize:
            return local > 0 ? Interval{local, local} : Interval{1, 2 * global};
        case ir::WorkItemQuery::GroupCount: return {local > 0 ? groups : 1, groups};
        case ir::WorkItemQuery::GlobalOffset: return {offset, offset};
    }
    return Interval::of_type(DType::Int64);
}

}  // namespace

Interval ProvenExecutable::value_of(std::size_t k, const LaunchArgs& args) const {
    const LaunchInput& input = kernel_->proof->inputs[k];
    const auto axis = static_cast<std::size_t>(input.axis);
    if (input.kind == LaunchInput::Kind::WorkItem) return of_range(input.query, axis, args.range);
    std::int64_t value = 0;
    if (input.kind == LaunchInput::Kind::Extent)
        value = args.arrays[position_[k]].shape[axis];
    else
        value = Scalar{args.scalars[position_[k]], input.dtype}.as<std::int64_t>();
    return {value, value};
}

bool ProvenExecutable::is_as_before(const LaunchArgs& args) const {
    if (!last_version_ || !same_range(last_range_, args.range)) return false;
    for (std::size_t k = 0; k < last_.size(); ++k) {
        const bool is_of_range = kernel_->proof->inputs[k].kind == LaunchInput::Kind::WorkItem;
        if (!is_of_range && value_of(k, args) != last_[k]) return false;
    }
    return true;
}

bool ProvenExecutable::is_proven(const LaunchArgs& args) const {
    last_.clear();
    for (std::size_t k = 0; k < kernel_->proof->inputs.size(); ++k)
        last_.push_back(value_of(k, args));
    return kernel_->proof->run(last_) < 0;
}

Executable& ProvenExecutable::version_for(const LaunchArgs& args) const {
    std::lock_guard lock(mutex_);
    if (is_as_before(args)) return *last_version_;
    last_version_ = nullptr;
    if (is_proven(args)) {
        const bool fills_groups = fills_groups_ && fills_groups_(args);
        std::unique_ptr<Executable>& proven = proven_[fills_groups];
        if (!proven) proven = make_(fills_groups);
        last_version_ = proven.get();
    } else {
        last_version_ = checked_.get();
    }
    last_range_ = args.range;
    return *last_version_;
}

namespace {

/// A fault of the version without tests that depends on elements, as one of both versions' sites.
class FaultBehind final : public PendingFault {
  public:
    FaultBehind(std::shared_ptr<const PendingFault> fault, std::int64_t sites)
        : fault_(std::move(fault)), sites_(sites) {}
    Fault read() const override {
        Fault found = fault_->read();
        if (found.site >= 0) found.site += sites_;
        return found;
    }

  private:
    std::shared_ptr<const PendingFault> fault_;
    std::int64_t sites_;
};

}  // namespace

Fault ProvenExecutable::launch(const LaunchArgs& args) {
    Executable& version = version_for(args);
    if (&version == checked_.get()) return version.launch(args);
    count_apart(counters_apart().launches_proven);
    Fault fault = version.launch(args);
    if (fault.site >= 0) fault.site += first_site();
    return fault;
}

std::shared_ptr<const PendingFault> ProvenExecutable::submit(const LaunchArgs& args) {
    Executable& version = version_for(args);
    if (&version == checked_.get()) return version.submit(args);
    count_apart(counters_apart().launches_proven);
    auto fault = version.submit(args);
    return fault ? std::make_shared<FaultBehind>(std::move(fault), first_site()) : nullptr;
}

Listing ProvenExecutable::listing() const { return checked_->listing(); }

}  // namespace unisono
