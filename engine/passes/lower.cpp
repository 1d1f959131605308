// The pipeline: the one list of passes, in order. Read lower() aloud.
//
// Each pass is a page of its own with a contract of a few lines in its header. The verifier runs
// before the first and, in debug builds, after each. UNISONO_DEBUG=5 prints the tree after each
// pass that changed it.
#include "passes/lower.h"

#include <string>

#include "core/settings.h"
#include "ir/build.h"
#include "passes/cleanup/borrowed_blocks.h"
#include "passes/cleanup/cold_splitting.h"
#include "passes/cleanup/copy_propagation.h"
#include "passes/cleanup/domain_tests.h"
#include "passes/cleanup/full_unrolling.h"
#include "passes/cleanup/licm.h"
#include "passes/cleanup/simplify.h"
#include "passes/cleanup/stack_promotion.h"
#include "passes/cleanup/storage_coalescing.h"
#include "passes/kernels/inline_calls.h"
#include "passes/kernels/note_prints.h"
#include "passes/kernels/private_slots.h"
#include "passes/kernels/prove_accesses.h"
#include "passes/kernels/wrap_work_items.h"
#include "passes/loops/bits_by_table.h"
#include "passes/loops/index_set_splitting.h"
#include "passes/loops/points_in_lanes.h"
#include "passes/loops/products_ahead.h"
#include "passes/loops/rows_together.h"
#include "passes/loops/scalar_promotion.h"
#include "passes/loops/skew.h"
#include "passes/loops/speculate_faults.h"
#include "passes/loops/steps_by_rows.h"
#include "passes/loops/sums_in_lanes.h"
#include "passes/loops/unroll_and_jam.h"
#include "passes/loops/updates_in_strips.h"
#include "passes/lowering/expand_math.h"
#include "passes/lowering/hoist_bounds.h"
#include "passes/lowering/lower_access.h"
#include "passes/lowering/parallel_sums.h"
#include "passes/lowering/reductions.h"
#include "passes/lowering/split_complex.h"

namespace unisono::passes {
namespace {

#ifdef UNISONO_DEBUG_BUILD
constexpr bool verifies_each_pass = true;
#else
constexpr bool verifies_each_pass = false;
#endif

/// Runs passes one by one, checks and prints what they made.
class Pipeline {
  public:
    explicit Pipeline(ir::Module& module) : module_(module), prints_(debug_level() >= 5) {
        ir::verify(module_);
        if (prints_) show("as built");
    }

    template <class Pass>
    void operator()(const char* name, Pass pass) {
        pass(module_);
        if (verifies_each_pass) check(name);
        if (prints_) show(name);
    }

  private:
    void check(const char* name) {
        try {
            ir::verify(module_);
        } catch (const Error& e) {
            throw Error(e.kind(), std::string(e.what()) + " (after pass " + name + ")");
        }
    }

    void show(const char* name) {
        std::string now = ir::print(module_);
        if (now != shown_) debug_log("IR after " + std::string(name) + "\n" + now);
        shown_ = std::move(now);
    }

    ir::Module& module_;
    bool prints_;
    std::string shown_;
};

}  // namespace

std::shared_ptr<const HostProgram> lower(ir::Module& module, const Target& target) {
    std::shared_ptr<const HostProgram> host;
    Pipeline run(module);
    bool is_host = target.kind == TargetKind::Host;
    int range_axes = 0;
    if (!is_host) run("inline_calls", inline_calls);
    if (!is_host) {
        run("cut_at_grid_barriers", [&](ir::Module& m) { range_axes = cut_at_grid_barriers(m); });
    }
    if (!is_host) run("note_prints", note_prints);
    if (!is_host) run("parallel_sums", parallel_sums);
    if (is_host) run("wrap_work_items", wrap_work_items);
    if (is_host) run("borrowed_blocks", borrowed_blocks);
    if (is_host) run("copy_propagation", copy_propagation);
    if (is_host) run("domain_tests", domain_tests);
    if (is_host && !target.keep_checks_visible) {
        run("simplify", simplify);
        run("steps_by_rows", steps_by_rows);
        run("rows_together", rows_together);
    }
    if (is_host) run("storage_coalescing", storage_coalescing);
    if (is_host) run("products_ahead", products_ahead);
    run("reductions", reductions);
    run("split_complex", [&](ir::Module& m) { split_complex(m, target.has_float64); });
    run("simplify", simplify);
    if (is_host && !target.keep_checks_visible) {
        run("bits_by_table", bits_by_table);
        run("full_unrolling", [](ir::Module& m) {
            if (full_unrolling(m)) simplify(m);
        });
    }
    if (!target.keep_checks_visible) {
        run("hoist_bounds", [&](ir::Module& m) { hoist_bounds(m, is_host); });
    }
    if (target.proof)
        run("prove_accesses", [&](ir::Module& m) { *target.proof = prove_accesses(m); });
    auto split_cold = [&](const char* suffix) {
        if (!target.splits_cold) return;
        run("cold_splitting", [&](ir::Module& m) { cold_splitting(m, suffix); });
    };
    split_cold("checked");
    run("lower_access", [&](ir::Module& m) { lower_access(m, target.keep_checks_visible); });
    run("simplify", simplify);
    if (is_host && !target.keep_checks_visible) {
        run("index_set_splitting", [](ir::Module& m) {
            if (index_set_splitting(m)) simplify(m);
        });
        run("stack_promotion", stack_promotion);
        run("sums_in_lanes", sums_in_lanes);
        run("updates_in_strips", updates_in_strips);
        run("scalar_promotion", scalar_promotion);
        run("unroll_and_jam", unroll_and_jam);
        run("skew", skew);
        run("points_in_lanes", points_in_lanes);
        run("speculate_faults", speculate_faults);
        split_cold("strips");
        run("licm", licm);
    }
    if (!target.keep_checks_visible && target.has_float64) {
        run("expand_math", [&](ir::Module& m) { expand_math(m, is_host); });
    }
    if (!is_host) {
        run("private_slots", private_slots);
        run("map_to_grid", [&](ir::Module& m) {
            host = map_to_grid(m, target.run_length, target.pack_bytes, range_axes);
        });
        if (host && debug_level() >= 5) debug_log("host program\n" + ir::print(host->function));
    }
    return host;
}

std::vector<ir::FaultSite> all_sites(const ir::Module& module) {
    std::vector<ir::FaultSite> all;
    for (const ir::Function& f : module.functions)
        all.insert(all.end(), f.sites.begin(), f.sites.end());
    return all;
}

std::vector<std::int32_t> first_sites(const ir::Module& module) {
    std::vector<std::int32_t> first;
    std::int32_t next = 0;
    for (const ir::Function& f : module.functions) {
        first.push_back(next);
        next += static_cast<std::int32_t>(f.sites.size());
    }
    return first;
}

}  // namespace unisono::passes
