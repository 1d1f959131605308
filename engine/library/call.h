// Records operations on whole arrays (sorts, scans, gathers, products) on the tape.
//
// A library operation is ordinary code over host memory. `call` orders it on the tape like any
// statement: it runs when its result is wanted, after what writes its inputs and before what
// overwrites them. Code whose result shape depends on data asks for `host_data` instead and runs at
// once.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tape/array.h"

namespace unisono::library {

/// What runs: it reads `in`, writes all of `out`. Views may have any strides; their memory is in
/// place and on the host. It runs without the engine's lock, so it touches no Python object, no
/// handle and no layout count; it uses core/threads/parallel.h for threads and throws Error where
/// it fails.
using Work = std::function<void(std::span<const View> in, const View& out)>;

inline constexpr std::size_t most_inputs = 3;  ///< of a call with one result

/// The same for several results.
using WideWork = std::function<void(std::span<const View> in, std::span<const View> out)>;
/// A result of a call.
struct Result {
    std::vector<std::int64_t> shape;
    DType dtype;
};

/// What a call reads and writes.
struct CallOperands {
    const View* in;
    const View* out;
};
/// Does the work of the first call and of those later ones that share a pass over memory with it,
/// of which one may read what the first writes; returns a bit for each that was done. None, having
/// done nothing, where that does not go.
using Together = std::uint64_t (*)(std::span<const CallOperands> calls);

/// A new array that `work` fills. `name` is what explain and the debug log call it.
/// Calls with the same `together` are offered to it.
Array call(const std::string& name, std::span<const Array> in, Dims shape, DType dtype, Work work,
           Together together = nullptr);
/// New arrays that one entry of the tape fills, of any number of operands: they are computed
/// together, when the first of them is wanted.
std::vector<Array> call_wide(const std::string& name, std::span<const Array> in,
                             std::span<const Result> results, WideWork work);
/// A call that picks the elements of in[0] for which the packed mask in[1] is set.
Array select_call(std::span<const Array> in, Dims shape, DType dtype, Work work);

/// The same into memory that exists and keeps what `work` does not write. An input that shares
/// memory with `out` is copied first.
void call_into(const std::string& name, std::span<const Array> in, const Array& out, Work work);

/// The array with a storage: a value known on the host gets one.
Array stored(const Array& a);

/// The array itself where it is row-major without gaps, else a packed copy.
Array packed(const Array& a);

}  // namespace unisono::library
