// Runs programs whole, in turn, and says what each run took. In C and small, because Linux counts the memory of the one
// who starts a program (by vfork) into the peak of the program.
// usage: runner time ROUNDS -- PROGRAM ARGUMENT... [-- PROGRAM ARGUMENT...]...
//            one line a run: index of the program, wall ns, CPU ns, peak RSS in KiB
//        runner count PROGRAM ARGUMENT...
//            one line: how many system calls the program makes, its threads' included
// Standard output of the programs is dropped. Status 1 if one fails; 77 if it may not be traced.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int nowhere;

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static uint64_t nanoseconds(struct timeval time) {
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_usec * 1000;
}

static int timeOne(int index, char **command) {
    uint64_t from = now();
    pid_t child = vfork();
    if (child == 0) {
        dup2(nowhere, 1);
        execv(command[0], command);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0) return 1;
    uint64_t took = now() - from;
    printf("%d %llu %llu %ld\n", index, (unsigned long long)took,
           (unsigned long long)(nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime)), usage.ru_maxrss);
    return 0;
}

static int timeAll(int rounds, int count, char **words) {
    char **commands[8];
    int commandCount = 0;
    for (int i = 0; i < count; i++) {
        if (strcmp(words[i], "--") != 0) continue;
        words[i] = NULL;
        if (commandCount == 8) return 64;
        commands[commandCount++] = words + i + 1;
    }
    for (int round = 0; round < rounds; round++)
        for (int index = 0; index < commandCount; index++)
            if (timeOne(index, commands[index]) != 0) {
                fprintf(stderr, "%s failed\n", commands[index][0]);
                return 1;
            }
    return 0;
}

// Counts the entries into system calls, including the execve that starts the program, as strace does.
static int count(char **command) {
    pid_t child = fork();
    if (child == 0) {
        dup2(nowhere, 1);
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(77);
        raise(SIGSTOP);
        execv(command[0], command);
        _exit(127);
    }
    int status, isEntry = 1;
    unsigned long calls = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return 1;
    if (!WIFSTOPPED(status)) return 77;
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC;
    if (ptrace(PTRACE_SETOPTIONS, child, NULL, options) != 0) return 77;
    int delivered = 0, hasBegun = 0;
    for (;;) {
        if (ptrace(PTRACE_SYSCALL, child, NULL, (long)delivered) != 0) return 77;
        if (waitpid(child, &status, 0) != child) return 1;
        if (WIFEXITED(status) || WIFSIGNALED(status)) break;
        int signal = WSTOPSIG(status);
        delivered = 0;
        if (signal == (SIGTRAP | 0x80)) {
            if (isEntry && hasBegun) calls++;
            isEntry = !isEntry;
        } else if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
            hasBegun = 1;
            calls = 1;
        } else {
            delivered = signal;
        }
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return 1;
    printf("%lu\n", calls);
    return 0;
}

int main(int argc, char **argv) {
    nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0) return 71;
    if (argc > 4 && strcmp(argv[1], "time") == 0) return timeAll(atoi(argv[2]), argc - 3, argv + 3);
    if (argc > 2 && strcmp(argv[1], "count") == 0) return count(argv + 2);
    return 64;
}
