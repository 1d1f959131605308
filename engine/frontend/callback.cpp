// Wraps a compiled function in one whose result has the type that C declares.
#include "frontend/callback.h"

#include "ir/build.h"
#include "ir/clone.h"

namespace unisono::frontend {

ir::Module with_result(ir::Module module, std::optional<DType> result) {
    const ir::Function& inner = module.entry();
    bool same = result ? inner.results == std::vector{*result} : inner.results.empty();
    if (same) return module;
    ir::Module made;
    ir::Function& f = made.functions.emplace_back(inner.name + "_result");
    ir::Builder b(f);
    std::vector<ir::E> scalars;
    std::vector<std::int32_t> arrays, outs;
    for (const ir::Param& p : inner.params) {
        if (!p.is_array()) {
            scalars.push_back(b.param(b.scalar_param(p.name, p.dtype)));
            continue;
        }
        const ir::Array& a = inner.arrays[static_cast<std::size_t>(p.array)];
        arrays.push_back(b.array_param(p.name, a.dtype, a.rank, a.writable, a.strides));
    }
    for (DType t : inner.results) outs.push_back(b.var("result", t));
    std::vector<ir::S> body;
    for (auto v : outs) body.push_back(b.declare(v, nullptr));
    body.push_back(b.call(1, scalars, arrays, outs));
    f.files = inner.files;
    if (result) {
        f.results = {*result};
        ir::E values[] = {b.cast(b.read(outs.front()), *result)};
        body.push_back(b.ret(values));
    }
    f.body = b.block(body);
    ir::append(made, module);
    return made;
}

}  // namespace unisono::frontend
