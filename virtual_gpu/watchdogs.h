// ProcessGroupNCCL's watchdogs, in step with the clock.
//
// A watchdog looks every 100 ms at the events behind its collectives (kWatchdogThreadSleepMillis,
// ProcessGroupNCCL.cpp); what has completed gives up its tensors at the next collective (shelvesToUnstash_,
// workEnqueue; torch 2.8 and later).  So memory depends on when it looks.  Here it looks every 100 ms of the clock: a
// thread that comes to a collective later than that waits, in real time, until the watchdogs have seen what had
// completed; between such moments they are told that nothing has.  Under `late` they have always just looked when
// something completes, and see it 100 ms after.
#pragma once

namespace tidemark {

bool this_thread_watches();
/// The answer to a watchdog that asks for an event.
bool watchdog_sees(const void* event);

/// Before a collective is queued on `stream`; the event that is recorded there next is the collective's end.
void before_collective(const void* stream);
void event_was_recorded(const void* event, const void* stream);
void event_was_destroyed(const void* event);

}  // namespace tidemark

extern "C" {
/// For the part inside PyTorch: the program is over, and with it all its work.
__attribute__((visibility("default"))) void tidemark_let_watchdogs_finish();
}
