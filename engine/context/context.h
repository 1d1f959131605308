// Contexts: all that one program on the engine owns, apart from other programs in its process.
//
// A context is a set of parts: the tape, interned layouts, storages to reuse, the mesh. A part is a
// class of the room that needs it and names its slot here; it is made at its first use, so a
// context costs nothing for what a program does not touch. Compiled code, plans and the memory pool
// belong to the process: contexts share them.
//
// Which context a thread works in is known to the thread. Until it enters another one, that is the
// main context, which is what Python's threads share under the interpreter's lock. A context is
// used by one thread at a time (whoever holds the engine); different contexts by different threads
// at once. Arrays belong to the context that they were made in: they are used and released there.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "context/counters.h"

namespace unisono {

class Context {
  public:
    /// In the order in which parts are destroyed, last to first.
    enum class Slot : std::uint8_t { Layouts, Overlaps, Places, Tape, Mesh };
    static constexpr std::size_t slots = 5;

    /// What a room keeps in a context; a class with `static constexpr Context::Slot slot`.
    class Part {
      public:
        virtual ~Part() = default;
        /// Whether something outside of the context still refers to it; it is not destroyed then.
        virtual bool is_referenced() const { return false; }
    };

    constexpr Context() {}
    /// What is pending is dropped. Arrays that are alive keep the memory of the context's parts
    /// from being freed.
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    /// The context that the calling thread works in.
    static Context& current() {
        Context* sole = sole_.load(std::memory_order_relaxed);
        return sole ? *sole : of_thread();
    }
    /// The process's own; never destroyed, since arrays may outlive static objects.
    static Context& main();

    /// The calling thread works in the context from now on (null: in the main one). Returns the one
    /// that it worked in, null for the main one.
    static Context* enter(Context* context);

    /// The calling thread works in the context while this lives.
    class Scope {
      public:
        explicit Scope(Context& context) : before_(enter(&context)) {}
        ~Scope() { enter(before_); }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

      private:
        Context* before_;
    };

    template <class T>
    [[gnu::always_inline]] T& part() {
        const auto& p = parts_[static_cast<std::size_t>(T::slot)];
        if (!p) [[unlikely]]
            make_part<T>();
        return static_cast<T&>(*p);
    }
    /// The same, null where it was never used.
    template <class T>
    T* part_if_made() {
        return static_cast<T*>(parts_[static_cast<std::size_t>(T::slot)].get());
    }

    Counters counters;
    /// What threads count that do not hold the engine.
    Counters apart;
    std::int64_t total(std::atomic<std::int64_t> Counters::*counter) const {
        return (counters.*counter).load(std::memory_order_relaxed) +
               (apart.*counter).load(std::memory_order_relaxed);
    }

  private:
    static Context& of_thread();
    template <class T>
    [[gnu::noinline]] void make_part() {
        parts_[static_cast<std::size_t>(T::slot)] = std::make_unique<T>();
    }

    /// The main context until some thread enters another one, then null: a program with one
    /// context, as Python's is, finds it without asking for the thread.
    static std::atomic<Context*> sole_;

    std::array<std::unique_ptr<Part>, slots> parts_;
};

/// The part of the calling thread's context.
template <class T>
[[gnu::always_inline]] inline T& current() {
    return Context::current().part<T>();
}

inline Counters& counters() { return Context::current().counters; }
inline Counters& counters_apart() { return Context::current().apart; }

}  // namespace unisono
