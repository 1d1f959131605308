// This rank's part of an array that is spread over a mesh, and copies of its neighbours' elements.
//
// The part lies packed in an array of the host; along each split axis its extent is
//
//     halo before, of others | own | halo after, of others
//
// How much of the halos is current is known on every rank, because every rank records the same
// program: a write makes all of it stale, an exchange makes it current.
#pragma once

#include <optional>

#include "comm/mesh.h"
#include "comm/steps.h"
#include "tape/array.h"
#include "tape/windows.h"

namespace unisono::comm {

class Block : public PlacedMemory {
  public:
    /// Of an array of that shape; how it is split is not decided yet.
    Block(Mesh& mesh, const Layout* shape, DType dtype);

    /// Of storage that lies on a mesh: its block; the first call makes it.
    static Block& of(Mesh& mesh, const View& all);
    static Block* of(const Storage& storage);
    static Block* of(void* owner);  ///< of such storage

    Mesh& mesh() const { return mesh_; }
    ~Block() override { shape_->release(); }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    Dims shape() const { return shape_->shape(); }
    /// Whether the view is the whole array as it lies.
    bool shows_all(const View& view) const {
        return view.layout == shape_ && view.offset == 0 && shape_->size() > 0;
    }
    bool shows(const View& view) const override;
    bool keeps(Storage& storage) override;
    bool has_shape(const Layout* layout) const { return shape_ == layout->packed(); }
    DType dtype() const { return dtype_; }
    bool is_split() const { return held_.has_value(); }
    const Held& held() const { return *held_; }
    const Layout* layout() const { return shape_; }
    /// The packed local array, and how far its halos reach and are current.
    const Array& local() const { return local_; }
    const Halos& room() const { return room_; }
    const Halos& current() const { return current_; }
    /// Lies as a block did that was recorded before.
    void lie(const Held& held, const Halos& room, const Halos& current, Array local);
    /// `room`: for halos that are to come, so that they need no copy.
    void decide(Held held, const Halos& room = {});
    /// Decides to be where the rank's results lie already; `part` is packed.
    void adopt(Held held, Array part);
    /// Of a rank alone: how a block is spread, and that by a number: equal ones, equal held.
    struct Spread {
        const Held* held;
        std::uint64_t number;
    };
    Spread spread() {
        if (spread_ == 0) spread_ = mesh_.next_spread();
        return {&*held_, spread_};
    }
    /// Of a rank alone: new memory of the mesh's place, spread so, with the contents of `local`;
    /// null: with memory that is yet to be written.
    static Array alike(Mesh& mesh, const Spread& spread, Storage* local, const Layout* packed,
                       DType dtype);

    /// As the array's shape is for views of that dtype: of complex numbers the parts are an axis.
    std::optional<Steps> steps(const View& view) const;

    /// Of a rank alone, whose part is the whole: the view as one of that.
    View alone(const View& view) const;
    /// The local window on these indices of the view; they must be here.
    Array part(const View& view, const Steps& steps, const Box& box) const;
    /// All that is owned, without halos.
    Array own() const;
    /// Makes elements that far before and after the own ones current, on all ranks.
    void ensure_halo(const Halos& wanted);
    void ensure_room(const Halos& wanted);
    /// `kept`: how far beyond the own elements this rank wrote what their owners did.
    void written(const Halos& kept = {}) { current_ = kept; }
    /// Waits until the contents are valid.
    void complete() const;
    std::string text() const;

  private:
    Few<std::int64_t> extended(Dims shape, const Halos& halos) const;
    std::int64_t first_dealt(const Split& split, const View& view, const Steps& steps,
                             const Box& box) const;
    static Block& made(Mesh& mesh, Storage& s, const Layout* shape, DType dtype);
    void renew(const Layout* shape, DType dtype);
    void keep(Array local);
    void hold(Storage* local, const Layout* packed_local, DType dtype);
    void set(Held held) {
        held_ = std::move(held);
        spread_ = 0;
    }
    /// Along a split axis, counted from the first own element; of others with what halos are there.
    Array slab(std::size_t along, std::int64_t begin, std::int64_t end) const;
    void grow(const Halos& room);
    void exchange(std::size_t along, Halo wanted);

    Mesh& mesh_;
    const Layout* shape_;
    DType dtype_;
    std::optional<Held> held_;
    std::uint64_t spread_ = 0;  ///< 0: not numbered yet
    Array local_;
    Halos room_, current_;  ///< of each split
};

}  // namespace unisono::comm
