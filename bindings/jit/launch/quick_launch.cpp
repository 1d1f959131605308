#include "jit/launch/quick_launch.h"

#include "array/object.h"
#include "array/view.h"
#include "jit/dispatch.h"
#include "jit/fast_path.h"
#include "jit/launch/launch.h"

namespace unisono::python {

std::unique_ptr<const QuickLaunch> QuickLaunch::of(const Specialisation& made, std::size_t params) {
    const bool is_plain = made.may_wait && made.device && made.device == made.queue_device &&
                          made.key.size() == params + 1 && params <= most_arguments;
    if (!is_plain) return nullptr;
    auto quick = std::make_unique<QuickLaunch>();
    std::size_t arrays = 0;
    for (std::size_t k = 1; k < made.key.size(); ++k) {
        const std::uint32_t code = made.key[k];
        const bool is_array = (code & 15) == Arguments::ArrayCode;
        const bool is_number =
            (code & 15) == Arguments::ScalarCode && static_cast<Weak>(code >> 8 & 15) != Weak::None;
        if (!is_array && !is_number) return nullptr;
        if (is_array && arrays == made.effects.size()) return nullptr;
        quick->arguments_.push_back(
            {code, is_array ? made.effects[arrays++] : passes::ArrayEffect()});
    }
    quick->noalias_ = made.key[0] != 0;
    return quick;
}

bool QuickLaunch::submit(const std::shared_ptr<Specialisation>& made, PyObject* const* args,
                         std::size_t count, const NDRange& range, int threads) const {
    if (count != arguments_.size() || range.dimensions != made->dimensions) return false;
    ArrayArg arrays[most_arguments];
    std::int64_t numbers[most_arguments];
    Storage* storages[most_arguments];
    LaunchOperands operands;
    std::size_t array = 0, number = 0;
    bool meet = false;
    for (std::size_t k = 0; k < count; ++k) {
        const auto [code, effect] = arguments_[k];
        if ((code & 15) != Arguments::ArrayCode) {
            if (!pack_number(args[k], static_cast<Weak>(code >> 8 & 15), numbers[number++]))
                return false;
            continue;
        }
        ArrayView view;
        if (Py_TYPE(args[k]) != array_type || !view_of_array(args[k], view)) return false;
        const std::size_t rank = view.shape.size();
        const bool is_last_one = rank > 0 && view.strides.back() == 1;
        const std::uint32_t given =
            Arguments::array_code(view.dtype, static_cast<int>(rank), view.writable, is_last_one);
        Storage* s = view.storage;
        if (given != code || view.device != made->device ||
            !may_launch(*s, effect.reads, effect.writes))
            return false;
        for (std::size_t j = 0; j < array; ++j) meet |= storages[j] == s;
        storages[array] = s;
        arrays[array++] = {{}, view.offset, view.shape, view.strides};
        operands.add(array_of(args[k]).view(), effect.reads, effect.writes);
    }
    if (meet == noalias_) return false;
    for (std::size_t j = 0; j < array; ++j) {
        storages[j]->allocate();
        arrays[j].memory = storages[j]->memory;
        for (std::size_t i = 0; i < j; ++i) {
            if (storages[i] != storages[j] && arrays[i].memory.handle == arrays[j].memory.handle)
                return false;
        }
    }
    return submit_now(made,
                      {{arrays, array},
                       {reinterpret_cast<const std::uint64_t*>(numbers), number},
                       {},
                       range,
                       threads},
                      operands.all());
}

}  // namespace unisono::python
