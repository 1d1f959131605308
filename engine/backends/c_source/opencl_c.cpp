// How OpenCL C spells qualifiers, work-item functions, barriers and atomics.
#include "backends/c_source/opencl_c.h"

#include <algorithm>

#include "backends/c_source/helpers.h"
#include "core/error.h"
#include "ir/atomics.h"

namespace unisono::c_source {
using namespace ir;

namespace {

constexpr std::string_view fault_text =
    "struct un_fault {\n"
    "    int lock;\n"
    "    int failed;\n"
    "    long order;\n"
    "    long iteration;\n"
    "    long launch;\n"
    "    long site;\n"
    "    long values[4];\n"
    "};\n"
    "\n"
    "// Records a fault unless one of an earlier work-item (in row-major order) is there. The lock "
    "is taken and given\n"
    "// back inside one branch, so that work-items that run in lockstep cannot wait for each "
    "other.\n"
    "static void un_raise(__global long* memory, long site, long v0, long v1, long v2, long v3)\n"
    "{\n"
    "    volatile __global struct un_fault* record = (volatile __global struct un_fault*)memory;\n"
    "    const long order = ((long)get_global_id(2) * (long)get_global_size(1) + "
    "(long)get_global_id(1))\n"
    "        * (long)get_global_size(0) + (long)get_global_id(0);\n"
    "    bool done = false;\n"
    "    while (!done) {\n"
    "        if (atomic_cmpxchg(&record->lock, 0, 1) == 0) {\n"
    "            mem_fence(CLK_GLOBAL_MEM_FENCE);\n"
    "            if (!record->failed || order < record->order) {\n"
    "                record->failed = 1;\n"
    "                record->order = order;\n"
    "                record->iteration = (long)get_global_id(get_work_dim() - 1);\n"
    "                record->site = site;\n"
    "                record->values[0] = v0;\n"
    "                record->values[1] = v1;\n"
    "                record->values[2] = v2;\n"
    "                record->values[3] = v3;\n"
    "            }\n"
    "            mem_fence(CLK_GLOBAL_MEM_FENCE);\n"
    "            atomic_xchg(&record->lock, 0);\n"
    "            done = true;\n"
    "        }\n"
    "    }\n"
    "}\n";

/// The built-in of OpenCL that does op on 32-bit or 64-bit integers, or nothing.
std::string_view built_in(Op op) {
    switch (op) {
        case Op::Add: return "add";
        case Op::Sub: return "sub";
        case Op::Min: return "min";
        case Op::Max: return "max";
        case Op::And: return "and";
        case Op::Or: return "or";
        case Op::Xor: return "xor";
        default: return {};
    }
}

class OpenCLWriter final : public Writer {
  public:
    OpenCLWriter(const Module& module, const OpenCLFeatures& features, bool relaunches,
                 bool fills_groups)
        : Writer(module, relaunches, fills_groups), features_(features) {}

  protected:
    std::string prologue() const override {
        std::string out = "#pragma OPENCL FP_CONTRACT OFF\n";
        if (uses_float64_) out += "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n";
        if (uses_int64_atomics_) {
            out +=
                "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n"
                "#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable\n";
        }
        return out;
    }
    std::string kernel_head(const std::string& name) const override {
        return "__kernel void " + name;
    }
    std::string_view function_qualifier() const override { return "static "; }
    std::string_view array_qualifier(Space space) const override {
        return space == Space::Local ? "__local " : "";
    }
    std::string_view barrier() const override {
        return "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);";
    }
    std::string_view fence() const override {
        return "mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);";
    }
    std::string group_minimum(const std::string& variable,
                              const std::string& value) const override {
        return "atomic_min(&" + variable + ", " + value + ");";
    }
    std::string fault_helpers() const override { return std::string(fault_text); }
    std::string fault_field(const std::string& faults, std::size_t number,
                            std::string_view field) const override {
        return "((volatile __global struct un_fault*)" + faults + ")[" + std::to_string(number) +
               "]." + std::string(field);
    }
    bool has_generic_pointers() const override { return false; }
    codegen::NativeText native_text(const Function& f, const std::string& name,
                                    std::span<const Space> spaces) const override {
        return codegen::opencl_text(*f.native, f.symbol, name, spaces);
    }

    std::string pointer(Space space, DType t, bool writable) const override {
        return std::string(space == Space::Local     ? "__local "
                           : space == Space::Private ? "__private "
                                                     : "__global ") +
               (writable ? "" : "const ") + std::string(storage_type(t)) + "*";
    }

    std::string work_item(WorkItemQuery query, int axis) const override {
        std::string_view name;
        switch (query) {
            case WorkItemQuery::GlobalId: name = "get_global_id"; break;
            case WorkItemQuery::LocalId: name = "get_local_id"; break;
            case WorkItemQuery::GroupId: name = "get_group_id"; break;
            case WorkItemQuery::GlobalSize: name = "get_global_size"; break;
            case WorkItemQuery::LocalSize: name = "get_local_size"; break;
            case WorkItemQuery::GroupCount: name = "get_num_groups"; break;
            case WorkItemQuery::GlobalOffset: name = "get_global_offset"; break;
        }
        return "(long)" + std::string(name) + "(" + std::to_string(axis) + ")";
    }

    std::string bits_as(const std::string& text, DType, DType to) const override {
        return "as_" + std::string(c_type(to)) + "(" + text + ")";
    }

    std::string atomic_helper(const std::string& name, S atomic, DType t, Space space) override;
    std::string atomic_value(S atomic, DType t);
    std::string prefetch_helper(const std::string& name) const override;
    std::string streaming_helper(const std::string& name, DType t) const override;

    void need_type(DType t, Line line, std::string_view what) override {
        Writer::need_type(t, line, what);
        if (t == DType::Float64 && !features_.float64) {
            unsupported(
                line, "device '" + features_.device + "' has no float64; got " + std::string(what) +
                          " of float64; use float32, or a device whose has_float64 is true");
        }
    }

    void need_atomic(const Array& a, Line line) override {
        if (size_of(a.dtype) < 8) return;
        uses_int64_atomics_ = true;
        if (features_.int64_atomics) return;
        unsupported(line,
                    "device '" + features_.device +
                        "' has no 64-bit atomics; got an atomic operation on array '" + a.name +
                        "' of " + std::string(unisono::name(a.dtype)) +
                        "; use int32 or float32, or a device whose has_int64_atomics is true");
    }

  private:
    OpenCLFeatures features_;
};

/// Drivers for CPUs do nothing for OpenCL's own prefetch.
std::string OpenCLWriter::prefetch_helper(const std::string& name) const {
    return "void " + name +
           "(__global const void* at)\n{\n"
           "#ifdef __has_builtin\n"
           "#if __has_builtin(__builtin_prefetch)\n"
           "    __builtin_prefetch(at);\n"
           "#endif\n"
           "#endif\n}\n";
}

/// By a built-in of clang, of which most drivers for CPUs are made; other compilers store through
/// the caches. The lock by which a driver's thread tells that its work-groups are done orders these
/// stores.
std::string OpenCLWriter::streaming_helper(const std::string& name, DType t) const {
    constexpr std::int64_t line_bytes = 64, widest = 16;
    const std::string type(storage_type(t));
    const std::string width = std::to_string(std::min(widest, line_bytes / size_of(t)));
    return "void " + name + "(__global " + type + "* to, const " + type +
           "* from, long n)\n{\n"
           "    long i = 0;\n"
           "#ifdef __has_builtin\n"
           "#if __has_builtin(__builtin_nontemporal_store)\n"
           "    for (; i < n && ((uintptr_t)(to + i) & 63) != 0; ++i) to[i] = from[i];\n"
           "    for (; i + " +
           width + " <= n; i += " + width +
           ")\n"
           "        __builtin_nontemporal_store(vload" +
           width + "(0, from + i), (__global " + type + width +
           "*)(to + i));\n"
           "#endif\n"
           "#endif\n"
           "    for (; i < n; ++i) to[i] = from[i];\n}\n";
}

/// What the element `seen` becomes, in C.
std::string OpenCLWriter::atomic_value(S atomic, DType t) {
    switch (atomic_form(*atomic)) {
        case AtomicForm::Combine: return combined(atomic->op, t);
        case AtomicForm::Exchange: return "value";
        case AtomicForm::Compare: {
            const std::string bits = "as_" + std::string(size_of(t) == 8 ? "ulong" : "uint");
            return bits + "(seen) == " + bits + "(expected) ? value : seen";
        }
        case AtomicForm::CountUp: return "seen >= value ? 0 : seen + 1";
        case AtomicForm::CountDown: return "seen == 0 || seen > value ? value : seen - 1";
    }
    return {};
}

std::string OpenCLWriter::atomic_helper(const std::string& name, S atomic, DType t, Space space) {
    const Op op = atomic->op;
    const bool combines = atomic_form(*atomic) == AtomicForm::Combine;
    const bool gives = !atomic->outs.empty();
    const std::string give = gives ? "return " : "", leave = gives ? "return seen;" : "return;";
    std::string space_name = space == Space::Local ? "__local " : "__global ";
    std::string storage(storage_type(t)), type(c_type(t));
    std::string head = (gives ? type : "void") + " " + name + "(volatile " + space_name + storage +
                       "* at, " +
                       (atomic_form(*atomic) == AtomicForm::Compare ? type + " expected, " : "") +
                       type + " value)\n{\n";
    if (combines && is_integer(t) && size_of(t) == 4 && !built_in(op).empty())
        return head + "    " + give + "atomic_" + std::string(built_in(op)) + "(at, value);\n}\n";
    if (combines && is_integer(t) && size_of(t) == 8 && !built_in(op).empty())
        return head + "    " + give + "atom_" + std::string(built_in(op)) + "(at, value);\n}\n";
    if (size_of(t) <= 2) {
        // The element lies in an aligned word of 32 bits, whose other bytes are kept.
        const std::string bits = size_of(t) == 1 ? "uchar" : "ushort";
        const std::string mask = size_of(t) == 1 ? "0xffu" : "0xffffu";
        std::string seen =
            is_bool(t) ? "((old >> shift) & 0xff) != 0" : "(" + type + ")(old >> shift)";
        return head +
               "    const uint shift = 8 * (uint)((uintptr_t)at & 3);\n"
               "    volatile " +
               space_name + "uint* word = (volatile " + space_name +
               "uint*)((uintptr_t)at & ~(uintptr_t)3);\n"
               "    uint old = *word;\n"
               "    for (;;) {\n"
               "        const " +
               type + " seen = " + seen +
               ";\n"
               "        const uint next = (old & ~(" +
               mask + " << shift)) | ((uint)(" + bits + ")(" + atomic_value(atomic, t) +
               ") << shift);\n"
               "        const uint found = atomic_cmpxchg(word, old, next);\n"
               "        if (found == old) " +
               leave +
               "\n"
               "        old = found;\n"
               "    }\n}\n";
    }
    std::string word = size_of(t) == 8 ? "ulong" : "uint";
    std::string exchange = size_of(t) == 8 ? "atom_cmpxchg" : "atomic_cmpxchg";
    return head + "    volatile " + space_name + word + "* word = (volatile " + space_name + word +
           "*)at;\n"
           "    " +
           word +
           " old = *word;\n"
           "    for (;;) {\n"
           "        const " +
           type + " seen = as_" + type +
           "(old);\n"
           "        const " +
           word + " found = " + exchange + "(word, old, as_" + word + "((" + type + ")(" +
           atomic_value(atomic, t) +
           ")));\n"
           "        if (found == old) " +
           leave +
           "\n"
           "        old = found;\n"
           "    }\n}\n";
}

}  // namespace

Program write_opencl_c(const Module& module, const OpenCLFeatures& features, bool relaunches,
                       bool fills_groups) {
    return OpenCLWriter(module, features, relaunches, fills_groups).write();
}

}  // namespace unisono::c_source
