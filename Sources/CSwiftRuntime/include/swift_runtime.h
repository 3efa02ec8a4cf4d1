#pragma once

/// Makes Swift's tasks run on one serial queue of our own instead of libdispatch's global queues.
///
/// Once a global queue has been used, libdispatch on Linux watches the threads of these queues with a timer that fires every second
/// (`_dispatch_workq_init_once` in its `event/workqueue.c`). It does not watch the threads of our own queue, so an idle daemon stays
/// asleep. The hook is the Swift runtime's own (`swift_task_enqueueGlobal_hook`), meant for replacing the global executor.
///
/// Call this once, before the first task is made.
void authrefresh_run_tasks_on_own_queue(void);

/// From now on, a signal that tells of an error in this program (SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT) writes its number, as one
/// byte, to `descriptor` before it ends the process.
///
/// A handler that exists, such as that of Swift's crash reporter, runs after the byte is written. Call this once.
void authrefresh_mark_crashes(int descriptor);
