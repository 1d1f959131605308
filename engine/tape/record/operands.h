// What operands become before they are recorded: broadcast views, snapshots, fresh outputs.
#pragma once

#include <span>
#include <string_view>

#include "tape/array.h"

namespace unisono {

/// A view on new memory with the packed layout of that shape.
View fresh_view(const Layout* packed, DType t, Device* device);
/// Throws where the device has no numbers of that dtype.
void require_dtype(const Device* device, DType t);
View broadcast_view(const View& v, const Layout* packed);
/// The packed layout of the shape that all arrays among the operands broadcast to.
const Layout* broadcast_layout(std::string_view what, std::span<const Arg> args);
Device* common_device(std::string_view what, std::span<const Arg> args);
/// The device of operands beside others that go there by themselves, else null: Python's complex
/// numbers, which have memory of their own on the host, and, beside arrays on a mesh, arrays of the
/// host, which all ranks have alike.
Device* far_device(std::span<const Arg> args);
/// The operand there, kept in `keep`; itself where it is one that does not go by itself.
Arg beside(const Arg& near, Device* device, Array& keep);

[[noreturn]] void mixed_devices(std::string_view what, const Device* a, const Device* b);
/// Reading `in` while `out` is written through another index map needs the value from before: a
/// copy, which `keep` holds.
View snapshot_if_overlapping(const View& in, const View& out, Array& keep);
/// Whether large operands that are yet to be computed read `out` at other points than it has, as in
/// `u[1:-1] += u[2:] - u[:-2]`: no kernel that computes them can store into it.
bool reads_around(std::span<const Arg> args, const View& out);
void check_writable(std::string_view what, const Array& out);
void check_out_shape(std::string_view what, const Array& out, const Layout* packed);
/// A known scalar as an operand of dtype t; groups make complex numbers of it themselves.
View scalar_as(const Arg& a, DType t);

}  // namespace unisono
