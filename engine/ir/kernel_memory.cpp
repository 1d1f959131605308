// Adds up the arrays that a module's functions allocate.
#include "ir/kernel_memory.h"

#include "ir/rewrite.h"

namespace unisono::ir {

namespace {

class Sum final : public Visitor {
  public:
    Sum(const Function& f, KernelMemory& sum) : f_(f), sum_(sum) {}

    void stmt(S s) override {
        if (s->kind == StmtKind::Allocate) add(s);
        Visitor::stmt(s);
    }

  private:
    void add(S s) {
        const Array& a = f_.arrays[static_cast<std::size_t>(s->id)];
        if (a.space == Space::Global) return;
        std::int64_t bytes = size_of(a.dtype);
        for (E extent : s->args) {
            if (extent->kind != ExprKind::Const) return;
            bytes *= static_cast<std::int64_t>(extent->bits);
        }
        (a.space == Space::Local ? sum_.group : sum_.item) += bytes;
    }

    const Function& f_;
    KernelMemory& sum_;
};

}  // namespace

KernelMemory kernel_memory(const Module& module) {
    KernelMemory sum;
    for (const Function& f : module.functions) {
        if (!f.body) continue;
        Sum walk(f, sum);
        walk.stmt(f.body);
    }
    return sum;
}

}  // namespace unisono::ir
