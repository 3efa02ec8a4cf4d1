internal import CLinux

/// Memory that the process has freed, and that the C library keeps for later.
package enum FreedMemory {
    /// Has all threads take memory from one arena. Call it before there is a second thread.
    ///
    /// The C library would make arenas for the threads, up to eight for each processor. What is free in one of them is
    /// of no use to the other threads.
    package static func share() {
        _ = mallopt(M_ARENA_MAX, 1)
    }

    /// Gives the kernel all whole pages of it. Call it after the start and when nothing is under way any more.
    ///
    /// The C library does so by itself only at the end of an arena, and a few lasting pieces keep a whole arena. This
    /// takes about a millisecond.
    package static func giveBack() {
        _ = malloc_trim(0)
    }
}
