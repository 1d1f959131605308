// Calls of compiled functions and kernels as launches (tape/launch.h). On the host they complete
// before the call returns; on a device those without results go to its queue, or are recorded.
#pragma once

#include "jit/dispatch.h"
#include "tape/launch.h"

namespace unisono::python {

/// Runs a call at once: its memory is ready. `launch`: all but the arrays.
Fault launch_ready(const Specialisation& made, Arguments& arguments, LaunchArgs& launch);
/// Runs it behind what has to come before; sets Storage::evaluation of what it makes.
Fault launch_waiting(const Specialisation& made, Arguments& arguments, LaunchArgs& launch,
                     std::uint32_t& evaluation);
/// Gives a launch of arrays of ours and numbers to its device's queue, where nothing has to come
/// before; false where launches there are recorded. What is wrong with its range is raised here.
bool submit_now(const std::shared_ptr<Specialisation>& made, const LaunchArgs& launch,
                std::span<const LaunchOperand> operands);
/// The same, but records the launch where it cannot be given to the queue. What is wrong with its
/// range is raised here, faults when it runs.
void record_launch(const std::shared_ptr<Specialisation>& made, Arguments& arguments,
                   LaunchArgs& launch);

/// The fault as an Error that whoever wants what the launch writes meets.
[[noreturn]] void throw_late_fault(const Specialisation& s, const Fault& fault);

}  // namespace unisono::python
