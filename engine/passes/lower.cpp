// The pipeline: the one list of passes, in order. Read lower() aloud.
//
// Each pass is a page of its own with a contract of a few lines in its header. The verifier runs
// before the first and, in debug builds, after each. UNISONO_DEBUG=5 prints the tree after each
// pass that changed it.
#include "passes/lower.h"

#include <string>

#include "core/settings.h"
#include "ir/build.h"
#include "passes/bits_by_table.h"
#include "passes/defer_rare.h"
#include "passes/expand_math.h"
#include "passes/hoist_bounds.h"
#include "passes/hold_elements.h"
#include "passes/lower_access.h"
#include "passes/map_to_grid.h"
#include "passes/points_in_lanes.h"
#include "passes/products_ahead.h"
#include "passes/reductions.h"
#include "passes/rows_in_flight.h"
#include "passes/rows_together.h"
#include "passes/settle_names.h"
#include "passes/share_slots.h"
#include "passes/shared_loads.h"
#include "passes/simplify.h"
#include "passes/split_complex.h"
#include "passes/steps_by_rows.h"
#include "passes/steps_together.h"
#include "passes/sums_in_lanes.h"
#include "passes/unroll_few.h"
#include "passes/updates_in_strips.h"
#include "passes/wrap_work_items.h"

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

void lower(ir::Module& module, const Target& target) {
    Pipeline run(module);
    bool is_host = target.kind == TargetKind::Host;
    if (is_host) run("wrap_work_items", wrap_work_items);
    if (is_host) run("settle_names", settle_names);
    if (is_host && !target.keep_checks_visible) {
        run("simplify", simplify);
        run("steps_by_rows", steps_by_rows);
        run("rows_together", rows_together);
    }
    if (is_host) run("share_slots", share_slots);
    if (is_host) run("products_ahead", products_ahead);
    run("reductions", reductions);
    run("split_complex", split_complex);
    run("simplify", simplify);
    if (is_host && !target.keep_checks_visible) {
        run("bits_by_table", bits_by_table);
        run("unroll_few", [](ir::Module& m) {
            if (unroll_few(m)) simplify(m);
        });
    }
    if (!target.keep_checks_visible) {
        run("hoist_bounds", [&](ir::Module& m) { hoist_bounds(m, is_host); });
    }
    if (target.defers_rare) run("defer_rare", defer_rare);
    run("lower_access", [&](ir::Module& m) { lower_access(m, target.keep_checks_visible); });
    run("simplify", simplify);
    if (is_host && !target.keep_checks_visible) {
        run("sums_in_lanes", sums_in_lanes);
        run("updates_in_strips", updates_in_strips);
        run("hold_elements", hold_elements);
        run("steps_together", steps_together);
        run("rows_in_flight", rows_in_flight);
        run("points_in_lanes", points_in_lanes);
        run("shared_loads", shared_loads);
    }
    if (!target.keep_checks_visible && target.has_float64) {
        run("expand_math", [&](ir::Module& m) { expand_math(m, is_host); });
    }
    if (!is_host) run("map_to_grid", [&](ir::Module& m) { map_to_grid(m, target.run_length); });
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
