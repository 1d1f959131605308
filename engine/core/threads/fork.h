// Mutexes that work in a child of fork, where the threads that held them do not exist.
#pragma once

#include <atomic>
#include <mutex>

namespace unisono {

/// Guards data of the whole process, or of an object, in short sections. Before a fork all of them
/// are taken, so that a child finds the data whole and the mutex free. A section takes no other
/// lock that may be held for long, and destroys none.
class ProcessMutex {
  public:
    ProcessMutex();
    ~ProcessMutex();
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

}  // namespace unisono
