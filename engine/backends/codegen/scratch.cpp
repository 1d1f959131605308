// Finds the global arrays that a device kernel allocates.
#include "backends/codegen/compile.h"

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

}  // namespace unisono::codegen
