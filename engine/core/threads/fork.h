// Mutexes that work in a child of fork, where the threads that held them do not exist.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

namespace unisono {

/// Guards data of the whole process in short sections; lives as long as the process. Before a fork
/// all of them are taken, so that a child finds the data whole and the mutex free. A section takes
/// no other lock that may be held for long.
class ProcessMutex {
  public:
    ProcessMutex();
    ProcessMutex(const ProcessMutex&) = delete;
    ProcessMutex& operator=(const ProcessMutex&) = delete;
    void lock() { mutex_.lock(); }
    bool try_lock() { return mutex_.try_lock(); }
    void unlock() { mutex_.unlock(); }

  private:
    friend struct ForkHandlers;
    std::mutex mutex_;
    ProcessMutex* next_;
};

/// Guards an object in sections that may be long, as compilation is: a fork does not wait for them.
/// A child finds the mutex free and the data as the lost thread left it.
class LongMutex {
  public:
    void lock() {
        renew();
        mutex_.lock();
    }
    void unlock() { mutex_.unlock(); }

  private:
    void renew();
    std::mutex mutex_;
    std::atomic<unsigned> forks_{forks()};  ///< when the mutex was made

  public:
    /// How many forks lie between the process that loaded the engine and this one.
    static unsigned forks();
};

/// An object that is made at its first use and kept as long as the process. Threads that come at
/// the same time each make one, and the first stays: so a child of fork never waits for a thread
/// that is gone, as it would at the guard of a function's static. Objects with a ProcessMutex are
/// made when the library is loaded instead.
template <class T>
class FirstUse {
  public:
    constexpr FirstUse() = default;
    FirstUse(const FirstUse&) = delete;
    FirstUse& operator=(const FirstUse&) = delete;
    template <class Make>
    T& get(Make&& make) {
        if (T* known = made_.load(std::memory_order_acquire)) return *known;
        std::unique_ptr<T> mine(new T(make()));
        T* first = nullptr;
        if (made_.compare_exchange_strong(first, mine.get(), std::memory_order_acq_rel))
            return *mine.release();
        return *first;
    }

  private:
    std::atomic<T*> made_{nullptr};
};

}  // namespace unisono
