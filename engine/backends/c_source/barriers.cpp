// Kernels with barriers in which work-items can fault: a fault ends the work-group, and no
// work-item waits for ever.
//
// How it works. Between barriers control may diverge; at barriers it is uniform. The text is cut
// into runs of statements without barriers. A work-item that faults in a run notes the number of
// the barrier that comes next in un_failed_at, a variable of the group, and goes to the end of the
// run. There all meet at a barrier (the user's, or one that is added), and after it all return if
// un_failed_at has been set to that barrier's number or a lower one. A faster work-item may already
// have noted a later barrier: that is why numbers are compared.
#include <algorithm>

#include "backends/c_source/writer.h"
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
        found |= s->kind == StmtKind::Barrier;
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
    line(std::string(array_qualifier(Space::Local)) + "volatile int un_failed_at;");
    line("int un_barriers = 0;");
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
    line("if (un_failed_at <= un_barriers++) {");
    ++indent_;
    line("return;");
    --indent_;
    line("}");
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
        write_run(std::span(flat).subspan(i, end - i), is_top && end == flat.size());
        i = end;
        bool is_at_barrier = i < flat.size() && flat[i]->kind == StmtKind::Barrier;
        if (sync_label_.empty()) continue;
        line(sync_label_ + ":");
        sync_label_.clear();
        write_barrier(is_at_barrier ? flat[i]->line : Line{});
        if (is_at_barrier) ++i;
    }
}

/// Writes statements without barriers. Afterwards sync_label_ is set if a fault among them jumps
/// there.
void Writer::write_run(std::span<const S> run, bool is_last) {
    class Faults final : public Visitor {
      public:
        explicit Faults(const std::vector<Usage>& usage) : usage_(usage) {}
        bool found = false;
        void stmt(S s) override {
            found |= s->kind == StmtKind::Return && s->fault >= 0;
            found |= s->kind == StmtKind::Call && usage_[static_cast<std::size_t>(s->id)].can_fault;
            children(s);
        }

      private:
        const std::vector<Usage>& usage_;
    } faults(usage_);
    for (S s : run) faults.stmt(s);
    if (faults.found && !is_last) sync_label_ = "un_sync_" + std::to_string(++sync_count_);
    in_run_ = true;
    for (S s : run) statement(s);
    in_run_ = false;
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
