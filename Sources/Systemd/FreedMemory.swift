internal import CLinux

/// Memory that the process has freed, and that the C library keeps for later.
package enum FreedMemory {
    /// Gives the freed pages back to the kernel. Call it after the start, and when no request is in progress.
    ///
    /// By itself, the C library gives back only the end of an arena, and a few lasting pieces keep a whole arena. This
    /// takes about a millisecond.
    package static func giveBack() {
        _ = malloc_trim(0)
    }
}
