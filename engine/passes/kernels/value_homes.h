// Where the values of variables live while a function is split (split_kernels.h), and the serial
// pieces that compute them.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "ir/build.h"
#include "ir/ir.h"
#include "passes/kernels/split_kernels.h"

namespace unisono::passes {

/// Whether e asks where memory is.
bool has_memory(ir::E e);

/// Whether s returns from the function, other than by a fault.
bool returns(ir::S s);

/// Variables that are to have one home wherever they are assigned, found out by earlier walks.
struct Decisions {
    std::set<std::int32_t> on_host, on_device;
    std::set<std::int32_t> wanted;  ///< the host program's control needs them
    std::map<std::pair<ir::S, std::int32_t>, Home> first;  ///< of a loop's later iterations
};

class ValueHomes {
  public:
    ValueHomes(ir::Function& f, Decisions& decisions) : build(f), decided(decisions), f_(f) {}

    ir::Builder build;
    Decisions& decided;
    KernelSplit split;
    std::vector<ir::S>* out = nullptr;  ///< where the host program goes on
    Homes homes;                        ///< at this place of the walk
    std::set<std::int32_t> addresses;   ///< variables that hold where memory is
    bool must_repeat = false;           ///< the walk, with what was decided

    // ---- Values

    Home home(std::int32_t var) const;
    /// Whether the host program can evaluate e as it stands.
    bool is_on_host(ir::E e) const;
    bool uses_address(ir::E e) const;
    /// e as the host program evaluates it: with the known variables replaced.
    ir::E as_host(ir::E e);
    /// What control depends on, as the host program evaluates it; what only the device knows is
    /// read from there.
    ir::E host_value(ir::E e, const char* name);
    /// Memory for a variable's value.
    std::int32_t keep(std::int32_t var);
    /// Gives memory to what one piece computes and another one uses, and a parameter to what the
    /// host program computes.
    void bring_used(const KernelPiece& piece);

    // ---- Paths that meet

    void decide(std::set<std::int32_t>& where, std::int32_t var);
    /// Where a variable without a value is to be: in its one home, if it has such.
    Home decided_home(std::int32_t var, const Home& otherwise) const;
    /// The home of a variable where paths meet.
    Home merged(std::int32_t var, const Home& a, const Home& b);
    Homes merged(const Homes& a, const Homes& b);

    // ---- Serial pieces

    /// Puts a statement into the open piece, which leaves what it assigns on the device.
    void serial(ir::S s);
    void close_serial();
    void launch(KernelPiece piece);

    // ---- Assignments

    void set_on_host(std::int32_t var, ir::E value, ir::Line line);
    void assign(ir::S s);
    void declare(ir::S s);

  private:
    /// e with the known variables replaced, or null if something else than the function's own
    /// parameters remains.
    ir::E known(ir::E e);
    void want_variables(ir::E e);
    /// The parameter that brings a variable of the host program to kernels.
    void pass_to_kernels(std::int32_t var);
    /// Adds a statement to the open piece, which finds the variables that it has not met so far
    /// where they are now.
    void push(ir::S s);

    ir::Function& f_;
    std::vector<ir::S> current_;   ///< the open run of serial statements
    std::set<std::int32_t> open_;  ///< the variables that it mentions
    Homes serial_homes_;
};

}  // namespace unisono::passes
