// The transport of a virtual rank.
#include "comm/virtual/world.h"
#include "core/error.h"

namespace unisono::comm {

class VirtualTransport final : public Transport {
  public:
    VirtualTransport(std::shared_ptr<World> world, int position)
        : world_(std::move(world)), position_(position) {}

    int rank() const override { return world_->rank_at(position_); }
    int size() const override { return world_->size(); }
    void exchange(const Stamp& stamp, const char* from, std::span<const Part> sends, char* to,
                  std::span<const Part> receives, bool settle) override {
        world_->exchange(position_, stamp, from, sends, to, receives, settle);
    }
    void finish(const Stamp& stamp) override {
        world_->exchange(position_, stamp, nullptr, {}, nullptr, {}, true);
    }
    [[noreturn]] void abort(int, double) override {
        fail(ErrorKind::Comm, "mesh: a virtual rank was ended");
    }

  private:
    std::shared_ptr<World> world_;
    int position_;
};

std::unique_ptr<Transport> World::transport(std::shared_ptr<World> self, int position) {
    return std::make_unique<VirtualTransport>(std::move(self), position);
}

}  // namespace unisono::comm
