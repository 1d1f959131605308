// Cuts a kernel's body at its barriers into regions, each of which all work-items of a group run
// before the next begins.
//
// A loop or branch with a barrier inside is control of the whole group: it moves outside the
// work-items (loop interchange) and its body is cut in turn. A variable that regions share becomes
// an array with an element per work-item unless it can be computed again in each region; so does a
// private array that regions share.
#pragma once

#include <vector>

#include "ir/rewrite.h"

namespace unisono::passes {

/// A run of statements without barriers, or control of the group around further pieces.
struct Piece {
    ir::S control = nullptr;  ///< null: a region
    bool counts = false;      ///< the control is a barrier that counts who reaches it
    std::vector<ir::S> region;
    std::vector<Piece> body, orelse;  ///< of the control
};

/// The pieces of a kernel's body.
std::vector<Piece> split_barriers(ir::S body);

/// What becomes of a kernel's variables and private arrays, decided over all pieces.
struct Sharing {
    enum class Kind : std::uint8_t {
        Own,         ///< stays a variable of the work-item
        Moved,       ///< as Own, but declared where its only region begins
        Recomputed,  ///< pure and assigned once: computed at the start of each region that reads it
        PerItem,     ///< an array with an element per work-item
    };
    std::vector<Kind> vars;
    std::vector<ir::E> values;  ///< of recomputed variables
    std::vector<bool> arrays;   ///< private arrays that need an axis for the work-item
};
/// Throws a Compile error where a group's control depends on the work-item.
Sharing decide_sharing(const ir::Function& f, const std::vector<Piece>& pieces);

/// The variables and arrays that statements mention.
struct Mentions {
    std::vector<bool> vars, arrays;
    explicit Mentions(const ir::Function& f)
        : vars(f.vars.size()), arrays(f.arrays.size()), f_(f) {}
    void add(ir::E e);
    void add(ir::S s);  ///< a declaration without value does not mention its variable

  private:
    void add_array(std::int32_t a);  ///< of a view also what tells where it is

    const ir::Function& f_;
};

}  // namespace unisono::passes
