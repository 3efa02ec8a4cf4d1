#pragma once

/// Has Swift's tasks run on one serial queue of our own instead of libdispatch's global ones.
///
/// libdispatch on Linux watches the threads of its global queues by a timer that fires every second for ever, once one of them
/// was used (`_dispatch_workq_init_once` in its `event/workqueue.c`). A queue of our own draws on threads it does not watch, so an
/// idle daemon stays asleep. The hook is the Swift runtime's own (`swift_task_enqueueGlobal_hook`), meant for replacing the global
/// executor.
///
/// To be called once, before the first task is made.
void authrefresh_run_tasks_on_own_queue(void);
