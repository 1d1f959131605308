// Moves through rows, gathers and scatters strided operands, and calls the loops of one block.
#include "backends/block/worker.h"

#include <cstring>

#include "core/element_copies.h"
#include "core/streams.h"

namespace unisono::block {
namespace {

/// Strides in elements of rows and of the elements inside a row.
struct Strides {
    std::int64_t row, inner;
};

template <class T>
void copy_typed(T* out, Strides to, const T* in, Strides from, std::int64_t rows,
                std::int64_t columns) {
    if (from.inner == 0 && to.inner == 1 && to.row == columns) {
        if (spread_few(out, in, rows, from.row, columns)) return;
    }
    for (std::int64_t r = 0; r < rows; ++r, out += to.row, in += from.row) {
        if (from.inner == 0 && to.inner == 1) {
            const T value = *in;
            for (std::int64_t i = 0; i < columns; ++i) out[i] = value;
        } else if (from.inner == 1 && to.inner == 1) {
            std::memmove(out, in, static_cast<std::size_t>(columns) * sizeof(T));
        } else if (to.inner == 1) {
            for (std::int64_t i = 0; i < columns; ++i) out[i] = in[i * from.inner];
        } else {
            for (std::int64_t i = 0; i < columns; ++i) out[i * to.inner] = in[i * from.inner];
        }
    }
}

/// Copies rows of elements of 1, 2, 4, 8 or 16 bytes; a source stride of 0 spreads one element.
void copy_rows(char* out, Strides to, const char* in, Strides from, std::int64_t rows,
               std::int64_t columns, std::uint8_t bytes) {
    with_size(bytes, [&]<class T>() {
        copy_typed(reinterpret_cast<T*>(out), to, reinterpret_cast<const T*>(in), from, rows,
                   columns);
    });
}

}  // namespace

Worker::Worker(const Program& program, const GroupRun& run, const Plan& plan, std::int64_t block,
               Arena& arena)
    : program_(program),
      run_(run),
      plan_(plan),
      operands_(run.inputs.size() + run.outputs.size()),
      inner_(run.shape.size() - 1),
      reduce_axis_(reduced_axis(program, run)) {
    const std::size_t nodes = program.nodes.size();
    at_ = arena.take<char*>(nodes);
    base_ = arena.take<char*>(operands_);
    size_ = arena.take<std::int64_t>(operands_);
    index_ = arena.take<std::int64_t>(run.shape.size());
    const auto register_bytes =
        (static_cast<std::size_t>(block) * program.widest + 63) & ~std::size_t{63};
    const auto registers = static_cast<std::size_t>(program.registers);
    char* memory = static_cast<char*>(arena.take_bytes(registers * register_bytes));
    for (std::size_t k = 0; k < nodes; ++k) at_[k] = memory + program.nodes[k].reg * register_bytes;
    for (std::uint16_t k : program.scalar_nodes) {
        // A scalar is the low bytes of its bits: its first bytes, since hosts are little-endian.
        const std::uint64_t* bits = &run.scalars[program.nodes[k].operand[0]];
        at_[k] = const_cast<char*>(reinterpret_cast<const char*>(bits));
    }
    const auto inputs = static_cast<std::size_t>(program.inputs);
    for (std::size_t j = 0; j < inputs; ++j) {
        base_[j] = run.inputs[j].data;
        size_[j] = program.input_bytes[j];
    }
    values_ = arena.take<char*>(program.outputs.size());
    for (std::size_t o = 0; o < program.outputs.size(); ++o) {
        base_[inputs + o] = run.outputs[o].data;
        size_[inputs + o] = program.outputs[o].bytes;
        values_[o] = memory + program.outputs[o].reg * register_bytes;
    }
    for (std::size_t axis = 0; axis < run.shape.size(); ++axis) index_[axis] = 0;
}

void Worker::move(std::size_t axis, std::int64_t steps) {
    for (std::size_t j = 0; j < operands_; ++j)
        base_[j] += steps * operand(j).strides[axis] * size_[j];
    if (plan_.iotas.empty()) return;
    for (std::size_t later = axis + 1; later < run_.shape.size(); ++later)
        steps *= run_.shape[later];
    linear_ += steps;
}

void Worker::seek(std::int64_t row) {
    for (std::size_t axis = inner_; axis-- > 0;) {
        if (static_cast<int>(axis) == reduce_axis_) continue;
        std::int64_t wanted = row % run_.shape[axis];
        row /= run_.shape[axis];
        if (wanted != index_[axis]) move(axis, wanted - index_[axis]);
        index_[axis] = wanted;
    }
}

void Worker::next_row() {
    for (std::size_t axis = inner_; axis-- > 0;) {
        if (static_cast<int>(axis) == reduce_axis_) continue;
        move(axis, 1);
        if (++index_[axis] < run_.shape[axis]) return;
        move(axis, -run_.shape[axis]);
        index_[axis] = 0;
    }
}

void Worker::load(const Load& load, std::int64_t position, std::int64_t count) {
    const auto& strides = run_.inputs[load.operand].strides;
    const std::uint8_t bytes = program_.nodes[load.node].bytes;
    const char* in = base_[load.operand] + position * strides[inner_] * bytes;
    if (plan_.by_rows) {
        const std::int64_t columns = run_.shape[inner_];
        copy_rows(at_[load.node], {columns, 1}, in, {strides[inner_ - 1], strides[inner_]},
                  count / columns, columns, bytes);
    } else {
        copy_rows(at_[load.node], {0, 1}, in, {0, strides[inner_]}, 1, count, bytes);
    }
}

void Worker::store(const Store& store, std::int64_t position, std::int64_t count) {
    const std::uint8_t bytes = program_.outputs[store.output].bytes;
    const auto& strides = run_.outputs[store.output].strides;
    char* out = output(store.output) + position * strides[inner_] * bytes;
    const char* in = at_[store.node];
    const std::int64_t step = store.spread ? 0 : 1;
    if (store.stream) {
        copy_stream(out, in, static_cast<std::size_t>(count * bytes));
    } else if (plan_.by_rows) {
        const std::int64_t columns = run_.shape[inner_];
        copy_rows(out, {strides[inner_ - 1], strides[inner_]}, in, {columns * step, step},
                  count / columns, columns, bytes);
    } else {
        copy_rows(out, {0, strides[inner_]}, in, {0, step}, 1, count, bytes);
    }
}

void Worker::execute(std::int64_t position, std::int64_t count) {
    for (const Moving& m : plan_.moving) at_[m.node] = base_[m.operand] + position * m.step;
    for (const Load& l : plan_.loads) load(l, position, count);
    for (std::uint16_t node : plan_.iotas) {
        auto* r = reinterpret_cast<std::int64_t*>(at_[node]);
        for (std::int64_t i = 0; i < count; ++i) r[i] = linear_ + position + i;
    }
    for (const Call& c : plan_.calls) c.run(at_, count);
    for (const Store& s : plan_.stores) store(s, position, count);
    for (const Value& v : plan_.values) {
        if (v.spread) {
            copy_rows(values_[v.output], {0, 1}, at_[v.node], {0, 0}, 1, count,
                      program_.outputs[v.output].bytes);
        } else {
            values_[v.output] = at_[v.node];
        }
    }
}

}  // namespace unisono::block
