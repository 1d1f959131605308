// What primitives do on devices: memory for the time of a call, and launches of algorithms.
//
// All goes to the device's queue, which runs it in order; nothing waits but `read`. Data stays on
// the device.
#pragma once

#include <array>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "backends/backend.h"
#include "core/scalar.h"
#include "tape/storage.h"

namespace unisono::library {

using Views = std::span<const View>;

/// Elements that lie side by side on a device.
struct DeviceVector {
    Memory memory;
    std::int64_t offset = 0;  ///< in elements
    std::int64_t size = 0;
    DType dtype = DType::Int64;

    DeviceVector from(std::int64_t first, std::int64_t count) const {
        return {memory, offset + first, count, dtype};
    }
    /// The same bytes as elements of another dtype, whose size divides the offset: whole ones.
    DeviceVector as(DType t) const {
        const std::int64_t from = size_of(dtype), to = size_of(t);
        return {memory, offset * from / to, size * from / to, t};
    }
};

/// What a kernel is given: a vector, a Python integer, a number of a dtype, or one of the functions
/// in engine/algorithms.
class DeviceArgument {
  public:
    DeviceArgument(const DeviceVector& v)  // NOLINT(google-explicit-constructor): lists of them
        : vector(v), is_vector(true) {}
    DeviceArgument(std::int64_t n)  // NOLINT(google-explicit-constructor)
        : number(Scalar::of(DType::Int64, n)) {}
    DeviceArgument(Scalar s) : number(s), is_typed(true) {}  // NOLINT(google-explicit-constructor)
    DeviceArgument(const char* name) : function(name) {}     // NOLINT(google-explicit-constructor)

    DeviceVector vector;
    Scalar number;
    const char* function = nullptr;
    bool is_vector = false, is_typed = false;
};

class DeviceWork {
  public:
    explicit DeviceWork(Device& device) : device_(device) {}
    DeviceWork(const DeviceWork&) = delete;
    DeviceWork& operator=(const DeviceWork&) = delete;
    /// Gives the memory back; the device keeps it until what was launched is done.
    ~DeviceWork();

    Device& device() const { return device_; }
    /// Whether work-items run one after the other on few cores with caches, so that long serial
    /// loops are best; elsewhere many small work-items are. Both give the same bits.
    bool has_cores() const { return test_cores_.value_or(device_.info().kind == "cpu"); }
    /// In tests: what has_cores() says, whatever the device.
    static void set_cores_in_tests(std::optional<bool> has_cores) { test_cores_ = has_cores; }
    /// Memory that lives as long as this object, with anything in it.
    DeviceVector scratch(DType t, std::int64_t size);
    DeviceVector filled(std::int64_t size, Scalar value);
    /// Runs a kernel for each point of `items` (the innermost axis last), in groups of `local`
    /// work-items of the first axis if it is not 0.
    void run(std::string_view kernel, std::initializer_list<DeviceArgument> args,
             std::initializer_list<std::int64_t> items, std::int64_t local = 0);
    /// Runs it for each of `items` pieces of serial work: each core of a CPU takes one at a time.
    void run_pieces(std::string_view kernel, std::initializer_list<DeviceArgument> args,
                    std::int64_t items);
    /// Pieces in which `size` elements of serial work are best shared, of `least` elements or more.
    std::int64_t pieces(std::int64_t size, std::int64_t least) const;
    /// The offsets (in elements) of the points of axes in row-major order.
    DeviceVector offsets(Dims shape, Dims strides);
    /// The elements of a view side by side: its own memory where they lie so.
    DeviceVector packed(const View& v);
    /// The first elements, once all before them is done.
    template <class T>
    void read(const DeviceVector& v, std::span<T> to) {
        device_.copy_out(to.data(), v.memory, v.offset * static_cast<std::int64_t>(sizeof(T)),
                         static_cast<std::int64_t>(to.size_bytes()));
    }
    /// The element, once all before it is done.
    template <class T>
    T read(const DeviceVector& v, std::int64_t k = 0) {
        T value;
        device_.copy_out(&value, v.memory, (v.offset + k) * static_cast<std::int64_t>(sizeof(T)),
                         sizeof(T));
        return value;
    }

  private:
    Device& device_;
    std::vector<Memory> memory_;
    static std::optional<bool> test_cores_;
};

/// All of a packed view; of any other the storage from its first element on.
DeviceVector vector_of(const View& v);
/// The whole storage: the view's first element is number `v.offset`.
DeviceVector storage_of(const View& v);
/// The unsigned dtype of elements of that size (8 bytes at most), which moves them.
DType bits_dtype(DType t);

}  // namespace unisono::library
