#include "swift_runtime.h"

#include <stddef.h>
#include <stdint.h>

// The declarations that we need from the Swift runtime and from libdispatch. Neither has headers for C targets.
struct job;
struct serial_executor {
    void *identity;
    uintptr_t implementation;
};

typedef void (*enqueue_original)(struct job *job) __attribute__((swiftcall));
extern void (*swift_task_enqueueGlobal_hook)(struct job *job, enqueue_original original) __attribute__((swiftcall));
extern void swift_job_run(struct job *job, struct serial_executor executor) __attribute__((swiftcall));

extern void *dispatch_queue_create(const char *label, void *attributes);
extern void dispatch_async_f(void *queue, void *context, void (*work)(void *context));

static void *task_queue;

static void run(void *context) {
    // Without an identity, this is the generic executor, which belongs to no actor.
    swift_job_run(context, (struct serial_executor){NULL, 0});
}

__attribute__((swiftcall)) static void enqueue(struct job *job, enqueue_original original) {
    (void)original;
    dispatch_async_f(task_queue, job, run);
}

void authrefresh_run_tasks_on_own_queue(void) {
    // One thread is enough: the tasks decode answers of a few KiB, and never block.
    task_queue = dispatch_queue_create("authrefreshd.tasks", NULL);
    swift_task_enqueueGlobal_hook = enqueue;
}
