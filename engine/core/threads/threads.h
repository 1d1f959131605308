// How many threads parallel work may use: one setting for every executor.
#pragma once

namespace unisono {

/// CPUs that this process may use: its affinity mask, cut by a cgroup's quota; at least 1.
int available_cpus();

/// The setting: set_thread_count's value, else UNISONO_NUM_THREADS, else available_cpus().
int thread_count();

/// Sets the number of threads for later parallel work; throws a Value error where count < 1.
void set_thread_count(int count);

/// Overrides thread_count() on this thread while it lives; a count of 0 changes nothing.
class ThreadCountScope {
  public:
    explicit ThreadCountScope(int count);
    ~ThreadCountScope();
    ThreadCountScope(const ThreadCountScope&) = delete;
    ThreadCountScope& operator=(const ThreadCountScope&) = delete;

  private:
    int before_;
};

}  // namespace unisono
