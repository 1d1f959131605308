// Finds the memory that a device kernel uses beside its parameters'.
#include <set>

#include "backends/codegen/compile.h"
#include "ir/rewrite.h"

namespace unisono::codegen {

static void collect(const ir::Function& f, ir::S s, std::vector<Scratch>& all) {
    if (s->kind == ir::StmtKind::Allocate) {
        const ir::Array& a = f.arrays[static_cast<std::size_t>(s->id)];
        if (a.space == ir::Space::Global) {
            std::int64_t bytes = size_of(a.dtype);
            for (ir::E e : s->args) {
                UNISONO_ASSERT(e->kind == ir::ExprKind::Const);
                bytes *= static_cast<std::int64_t>(e->bits);
            }
            all.push_back({s->id, bytes});
        }
    }
    for (ir::S inner : s->body) collect(f, inner, all);
    for (ir::S inner : s->orelse) collect(f, inner, all);
}

std::vector<Scratch> scratch_of(const ir::Function& f) {
    std::vector<Scratch> all;
    if (f.body) collect(f, f.body, all);
    return all;
}

namespace {

class FindSlots final : public ir::Visitor {
  public:
    explicit FindSlots(const ir::Function& f) : f_(f) {}
    void expr(ir::E e) override {
        if (e->kind == ir::ExprKind::Load) note(e->id);
        children(e);
    }
    void stmt(ir::S s) override {
        if (s->kind == ir::StmtKind::Store || s->kind == ir::StmtKind::Atomic) note(s->id);
        for (const std::int32_t array : s->arrays) note(array);
        children(s);
    }
    std::set<std::int32_t> found;

  private:
    void note(std::int32_t array) {
        const ir::Array& a = f_.arrays[static_cast<std::size_t>(array)];
        if (a.is_slot) found.insert(array);
        if (a.is_view()) note(a.base);
    }
    const ir::Function& f_;
};

}  // namespace

std::vector<std::int32_t> slots_of(const ir::Function& f) {
    FindSlots find(f);
    if (f.body) find.stmt(f.body);
    return {find.found.begin(), find.found.end()};
}

}  // namespace unisono::codegen
