// Kernels with barriers in which work-items can fault: a fault ends the work-group, and no
// work-item waits for ever.
//
// How it works. Between barriers control may diverge; at barriers it is uniform. The text is cut
// into runs of statements without barriers. A work-item that faults in a run notes the number of
// the barrier that comes next in un_failed_at, a variable of the group, and goes to the end of the
// run. There all meet at a barrier (the user's, or one that is added), and after it un_ended is set
// if un_failed_at is that barrier's number or a lower one. A faster work-item may already have
// noted a later barrier: that is why numbers are compared. un_ended is thus the same for the whole
// group: where it is set, all skip runs, leave loops, and still meet at what barriers come. Nobody
// returns in front of a barrier, as PoCL 3.1 lets all work-items run what one should behind a
// barrier that comes behind a second such return.
#include <algorithm>

#include "backends/c_source/writer.h"
#include "ir/fence.h"
#include "ir/rewrite.h"

namespace unisono::c_source {
using namespace ir;

namespace {

/// Finds what cuts a run: barriers, and jumps of a loop that lies outside of the statement.
class Cuts final : public Visitor {
  public:
    bool found = false;
    void stmt(S s) override {
        bool is_loop = s->kind == StmtKind::For || s->kind == StmtKind::While;
        found |= is_barrier(s);
        found |= depth_ == 0 && (s->kind == StmtKind::Break || s->kind == StmtKind::Continue);
        depth_ += is_loop ? 1 : 0;
        children(s);
        depth_ -= is_loop ? 1 : 0;
    }

  private:
    int depth_ = 0;
};

bool ends_run(S s) {
    Cuts cuts;
    cuts.stmt(s);
    return cuts.found;
}

}  // namespace

/// Declares the group's record of faults and the count of barriers passed.
void Writer::begin_group_faults() {
    sync_count_ = 0;
    may_have_ended_ = false;
    line(std::string(array_qualifier(Space::Local)) + "volatile int un_failed_at;");
    program_.kernels.back().local_bytes += static_cast<std::int64_t>(sizeof(std::int32_t));
    line("int un_barriers = 0;");
    // PoCL 3.1 lets all work-items run what stands behind a loop with barriers where it knows the
    // value on some path out of it.
    line("volatile bool un_ended = false;");
    std::string first;
    for (int axis = 0; axis < 3; ++axis) {
        first += (axis ? " && " : "") + work_item(WorkItemQuery::LocalId, axis) + " == 0";
    }
    line("if (" + first + ") {");
    ++indent_;
    line("un_failed_at = 2147483647;");
    --indent_;
    line("}");
    line(std::string(barrier()));
}

void Writer::write_barrier(Line where) {
    line(std::string(barrier()), where);
    if (!guards_barriers_) return;
    line("un_ended = un_failed_at <= un_barriers++;");
    may_have_ended_ = true;
}

/// A condition that is false where the group has ended. What it loads is not loaded then: the
/// checks of its indices were skipped.
std::string Writer::unless_ended(const std::string& condition, bool repeats) const {
    const bool is_needed = guards_barriers_ && !in_run_ && (may_have_ended_ || repeats);
    return is_needed ? "!un_ended && (" + condition + ")" : condition;
}

/// Likewise a value, which is 0 there.
std::string Writer::zero_if_ended(const std::string& text) const {
    const bool is_needed = guards_barriers_ && !in_run_ && may_have_ended_;
    return is_needed ? "un_ended ? 0 : " + text : text;
}

void Writer::statements_between_barriers(std::span<const S> list) {
    std::vector<S> flat;
    flatten(list, flat);
    bool is_top = indent_ == 1;
    for (std::size_t i = 0; i < flat.size();) {
        if (ends_run(flat[i])) {
            statement(flat[i++]);
            continue;
        }
        std::size_t end = i;
        while (end < flat.size() && !ends_run(flat[end])) ++end;
        const bool has_faults =
            write_run(std::span(flat).subspan(i, end - i), is_top && end == flat.size());
        i = end;
        if (sync_label_.empty()) continue;
        const bool is_at_barrier = i < flat.size() && is_barrier(flat[i]);
        const bool meets = is_at_barrier || has_faults;
        line(sync_label_ + (meets ? ":" : ":;"));
        sync_label_.clear();
        if (meets) write_barrier(is_at_barrier ? flat[i]->line : Line{});
        if (is_at_barrier) ++i;
    }
}

/// Writes statements without barriers, and tells whether one may fault. Afterwards sync_label_ is
/// set if something jumps to the end of the run.
bool Writer::write_run(std::span<const S> run, bool is_last) {
    class Faults final : public Visitor {
      public:
        explicit Faults(const std::vector<Usage>& usage) : usage_(usage) {}
        bool found = false, acts = false;
        void stmt(S s) override {
            found |= s->kind == StmtKind::Return && s->fault >= 0;
            found |= s->kind == StmtKind::Call && usage_[static_cast<std::size_t>(s->id)].can_fault;
            acts |= s->kind != StmtKind::Block && s->kind != StmtKind::Allocate &&
                    (s->kind != StmtKind::Declare || !s->args.empty());
            children(s);
        }

      private:
        const std::vector<Usage>& usage_;
    } faults(usage_);
    for (S s : run) faults.stmt(s);
    const bool skips = faults.acts && may_have_ended_;
    if (!is_last && (faults.found || skips))
        sync_label_ = "un_sync_" + std::to_string(++sync_count_);
    if (skips) {
        line("if (un_ended) {");
        ++indent_;
        line(is_last ? std::string("return;") : "goto " + sync_label_ + ";");
        --indent_;
        line("}");
    }
    in_run_ = true;
    for (S s : run) statement(s);
    in_run_ = false;
    return faults.found;
}

/// What a work-item does after it has recorded a fault.
void Writer::leave_after_fault() {
    if (sync_label_.empty()) {
        line(is_kernel(current_) ? "return;" : "return true;");
    } else {
        line(group_minimum("un_failed_at", "un_barriers"));
        line("goto " + sync_label_ + ";");
    }
}

}  // namespace unisono::c_source
