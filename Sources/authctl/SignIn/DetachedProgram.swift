internal import Glibc

/// A program that is started and left to itself: it outlives this one, and has neither its terminal nor its signals.
struct DetachedProgram {
    /// POSIX_SPAWN_SETSID of spawn.h, which Swift sees only with _GNU_SOURCE.
    private static let newSession: Int16 = 0x80

    let pid: pid_t

    /// Starts a program of `PATH`, without a shell.
    ///
    /// - Returns: nil if it cannot be started.
    init?(_ words: [String]) {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        // What a browser complains about is not for this terminal.
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            unsafe posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // A session of its own: Ctrl-C and the end of the terminal are not meant for it. Signals as they are without us.
        var none = sigset_t()
        var all = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        let flags = Self.newSession | Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF)
        unsafe posix_spawnattr_setflags(&attributes, flags)

        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        var child: pid_t = 0
        guard unsafe posix_spawnp(&child, words[0], &actions, &attributes, &arguments, environ) == 0 else { return nil }
        pid = child
    }

    /// How it has ended; nil while it runs.
    func takeEnd() -> CommandOutput.End? {
        var status: Int32 = 0
        guard unsafe waitpid(pid, &status, WNOHANG) == pid else { return nil }
        return .exited(status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F)
    }
}
