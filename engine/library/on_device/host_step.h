// Rows whose algorithm is not written for devices yet: the host's implementation, on copies.
//
// The step is a part of the entry: operands are copied to the host once what writes them is done,
// and results back. Stats count the bytes (bytes_copied).
#pragma once

#include <memory>
#include <vector>

#include "primitives/row.h"

namespace unisono::library {

/// Host memory that stands for a packed view on a device; copies go out of the device, and in.
class HostCopy {
  public:
    HostCopy(const View& far, Device& device);
    HostCopy(HostCopy&& other) noexcept = default;
    HostCopy(const HostCopy&) = delete;
    HostCopy& operator=(const HostCopy&) = delete;
    ~HostCopy();
    const View& view() const { return near_; }
    void copy_out() const;
    void copy_in() const;

  private:
    std::int64_t bytes() const { return far_.layout->size() * size_of(far_.dtype); }
    std::unique_ptr<Storage> storage_;
    View far_, near_;
    Device* device_;
};

/// Calls host(in, out) with views on the host's memory for packed ones on the device.
template <class F>
void step_on_host(Views in, Views out, Device& device, F&& host) {
    std::vector<HostCopy> copies;
    std::vector<View> near;
    copies.reserve(in.size() + out.size());
    for (Views views : {in, out}) {
        for (const View& v : views) near.push_back(copies.emplace_back(v, device).view());
    }
    for (std::size_t k = 0; k < in.size(); ++k) copies[k].copy_out();
    const Views all = near;
    host(all.first(in.size()), all.subspan(in.size()));
    for (std::size_t k = in.size(); k < copies.size(); ++k) copies[k].copy_in();
}

}  // namespace unisono::library
