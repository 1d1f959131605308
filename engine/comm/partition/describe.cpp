// What a window will do, as text.
#include "comm/partition.h"
#include "comm/partition/entries.h"

namespace unisono::comm {

namespace {

std::string text_of(const Entry& e) {
    switch (e.kind) {
        case EntryKind::Map: return std::string(info(e.op).numpy_name);
        case EntryKind::Copy: return "copy";
        case EntryKind::Select: return "where";
        case EntryKind::Iota: return "arange";
        case EntryKind::Reduce: return std::string(info(e.op).numpy_name) + " reduction";
        default: return e.call ? e.call->name() : "statement";
    }
}

std::string text_of(const Held& held) {
    if (held.kind == Held::Kind::All) return "on every rank";
    if (held.kind == Held::Kind::At) return "on rank " + std::to_string(held.owner);
    std::string axes;
    for (const Split& s : held.splits()) {
        if (s.axis >= 0) axes += (axes.empty() ? " " : " and ") + std::to_string(s.axis);
    }
    if (axes.empty()) return "on some ranks";
    if (held.is_cyclic()) return "in turns along axis" + axes;
    return (held.kind == Held::Kind::Grid ? "split along axes" : "split along axis") + axes;
}

}  // namespace

std::string Partition::describe() {
    std::vector<Entry> window(tape_.pending().begin(), tape_.pending().end());
    if (window.empty()) return "mesh: nothing is recorded\n";
    const Forget forget{*this};
    if (deals_) note_steps(window);
    want(window);
    plan(window);
    std::string text = "mesh: " + std::to_string(window.size()) + " recorded statements\n";
    for (const Entry& e : window) {
        const Held iteration = held(e.out);
        text +=
            "  " + text_of(e) + " " + shape_text(e.out.layout->shape()) + ", " + text_of(iteration);
        if (tape_.hooks.decode_line && e.line.code)
            text += ", line " + std::to_string(tape_.hooks.decode_line(e.line).line);
        for_each_read(e, [&](const View& v) {
            if (!is_on_mesh(v)) return;
            const Operand& in = operand(v);
            const Held& array = held_of(*in.block);
            const Held has = held_by(array, v, in.steps);
            const std::string what = "; of " + shape_text(v.layout->shape());
            if (!is_elementwise(e)) {
                text += what + " " + text_of(has);
                return;
            }
            if (has.kind == Held::Kind::All || has == iteration) return;
            const auto halos = halos_between(has, iteration, array);
            if (halos && is_near(*halos, array)) {
                for (std::size_t k = 0; k < array.splits().size(); ++k) {
                    const Halo& halo = (*halos)[k];
                    if (halo.none()) continue;
                    text += what + " a halo of " + std::to_string(halo.before) + " before and " +
                            std::to_string(halo.after) + " after";
                    if (array.kind == Held::Kind::Grid)
                        text += " along axis " + std::to_string(array.splits()[k].axis);
                }
            } else {
                text += what + ", " + text_of(has) + ", what others have";
            }
        });
        text += "\n";
    }
    return text;
}

}  // namespace unisono::comm
