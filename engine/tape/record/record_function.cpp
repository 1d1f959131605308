// Records applications of users' scalar functions.
#include <algorithm>

#include "core/error.h"
#include "ops/scalar_eval.h"
#include "tape/record/element_function.h"
#include "tape/record/record.h"

namespace unisono {

/// A scalar operand in the dtype of its parameter, as the first bytes of its bits.
static std::uint64_t scalar_bits(const Arg& a, DType t) { return cast(a.scalar(), t).bits; }

static Array known_result(const ElementFunction& f, std::span<const Arg> args) {
    std::uint64_t bits[ElementFunction::most_params] = {}, result = 0;
    const char* in[ElementFunction::most_params] = {};
    for (std::size_t k = 0; k < args.size(); ++k) {
        bits[k] = scalar_bits(args[k], f.params()[k]);
        in[k] = reinterpret_cast<const char*>(&bits[k]);
    }
    f.run(reinterpret_cast<char*>(&result), in, 0, 1);
    // Narrow results left the upper bytes as they were: zero, where signs are extended.
    Scalar made{result, f.result()};
    if (is_signed(made.dtype) && size_of(made.dtype) < 8) {
        auto unused = 64 - 8 * size_of(made.dtype);
        made = Scalar::of(made.dtype, static_cast<std::int64_t>(result << unused) >> unused);
    }
    return Array::known(made);
}

Array apply(const std::shared_ptr<const ElementFunction>& function, std::span<const Arg> args) {
    const ElementFunction& f = *function;
    UNISONO_ASSERT(args.size() == f.params().size());
    std::vector<Dims> shapes;
    Device* device = nullptr;
    for (const Arg& a : args) {
        if (a.is_scalar()) continue;
        Device* own = a.view.storage->device;
        if (!shapes.empty() && own != device) {
            fail(ErrorKind::Device, f.name() + ": operands live on different devices; got " +
                                        device_name(device) + " and " + device_name(own) +
                                        "; move one with .to_device(...)");
        }
        device = own;
        shapes.push_back(a.view.layout->shape());
    }
    if (shapes.empty()) return known_result(f, args);
    Array made = empty(broadcast_shapes(f.name().c_str(), shapes), f.result(), device);
    if (made.rank() == 0) made = Array::of(made.view(), true);
    Entry e{};
    e.kind = EntryKind::Function;
    e.compute = f.result();
    e.inputs = static_cast<std::uint8_t>(args.size());
    e.out = made.view();
    Array keep[ElementFunction::most_params];
    for (std::size_t k = 0; k < args.size(); ++k) {
        if (args[k].is_scalar()) {
            e.in[k] = scalar_operand({scalar_bits(args[k], f.params()[k]), f.params()[k]});
            continue;
        }
        keep[k] = broadcast_to(Array::of(args[k].view), made.shape());
        e.in[k] = keep[k].view();
    }
    e.call = new ElementCall(function);  // owned by the tape
    Tape::of(device).append(e);
    return made;
}

}  // namespace unisono
