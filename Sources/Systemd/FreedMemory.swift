internal import CLinux

/// Memory that the process has freed, and that the C library keeps for later.
package enum FreedMemory {
    /// Makes all threads take memory from one arena. Call it before there is a second thread.
    ///
    /// Otherwise the C library makes arenas for the threads, up to eight for each processor. Free memory in one of them
    /// is of no use to the other threads.
    package static func share() {
        _ = mallopt(M_ARENA_MAX, 1)
    }

    /// Gives the freed pages back to the kernel. Call it after the start, and when no request is in progress.
    ///
    /// By itself, the C library gives back only the end of an arena, and a few lasting pieces keep a whole arena. This
    /// takes about a millisecond.
    package static func giveBack() {
        _ = malloc_trim(0)
    }
}
