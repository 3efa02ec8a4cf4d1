#include "swift_runtime.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

// SIGKILL, by which the kernel and people end processes, is no crash. Neither is a signal that asks for an end.
static const int signals[] = {SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT};
enum { COUNT = sizeof signals / sizeof *signals };

static int mark = -1;
static struct sigaction former[COUNT];

// Only calls that signal-safety(7) allows.
static void crashed(int number, siginfo_t *information, void *context) {
    const unsigned char byte = (unsigned char)number;
    if (write(mark, &byte, 1) != 1) {
        // Nothing can be done about it here.
    }
    // A second fault, here or in the former handler, ends the process.
    signal(number, SIG_DFL);
    for (size_t index = 0; index < COUNT; index++) {
        if (signals[index] != number || former[index].sa_handler == SIG_DFL || former[index].sa_handler == SIG_IGN) continue;
        if (former[index].sa_flags & SA_SIGINFO) former[index].sa_sigaction(number, information, context);
        else former[index].sa_handler(number);
    }
    signal(number, SIG_DFL);
    // The signal is blocked here. It ends the process when this function returns.
    raise(number);
}

void authrefresh_mark_crashes(int descriptor) {
    mark = descriptor;
    for (size_t index = 0; index < COUNT; index++) {
        sigaction(signals[index], NULL, &former[index]);
        struct sigaction action = former[index];
        action.sa_flags |= SA_SIGINFO | SA_ONSTACK;
        action.sa_sigaction = crashed;
        sigaction(signals[index], &action, NULL);
    }
}
