package import Glibc

/// Runs a program from `PATH` without a shell, and collects its output. The output may contain secrets; it comes through
/// a socket pair and stays in memory.
package struct ProgramRun {
    /// Where the program reads its standard input.
    package enum Input {
        case nothing
        /// Where this program reads it, for example a terminal.
        case ours
        case file(String)
    }

    /// How a run ended.
    package enum End: Equatable, Sendable {
        /// The exit status; 128 and the signal's number if a signal ended the program, as in a shell.
        case exited(Int32)
        /// The program could not be started; `errno` is ENOENT if it does not exist.
        case notStarted(Int32)
        /// The program ran longer than `limitMilliseconds`, and was killed.
        case timedOut
        /// The program printed more than `bytesMax`, and was killed.
        case tooMuch
    }

    private let words: [String]
    private let input: Input
    private let collectsErrors: Bool
    private let limitMilliseconds: Int32
    private let bytesMax: Int

    /// - Parameters:
    ///   - collectsErrors: whether standard error is collected with the output. Otherwise it is this program's.
    package init(
        _ words: [String],
        input: Input,
        collectsErrors: Bool,
        limitMilliseconds: Int32,
        bytesMax: Int
    ) {
        self.words = words
        self.input = input
        self.collectsErrors = collectsErrors
        self.limitMilliseconds = limitMilliseconds
        self.bytesMax = bytesMax
    }

    /// Runs the program until it ends, or until it is killed at a limit.
    ///
    /// - Parameters:
    ///   - quietMilliseconds: how long the wait may be silent.
    ///   - notice: called once after that time; nil for nothing.
    /// - Returns: what it printed, `bytesMax` bytes and a little more at most, and how it ended.
    package func output(
        quietMilliseconds: Int32 = 0,
        notice: (() -> Void)? = nil
    ) -> (bytes: [UInt8], end: End) {
        var ends: [Int32] = [0, 0]
        // A socket pair can be created close-on-exec in one step. Swift's pipe(2) cannot do that.
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { return ([], .notStarted(errno)) }
        defer { close(ends[0]) }
        var child: pid_t = 0
        let failure = spawn(&child, output: ends[1])
        close(ends[1])
        guard failure == 0 else { return ([], .notStarted(failure)) }
        let (bytes, cause) = readAll(from: ends[0], quietMilliseconds, notice)
        // A program with more output would wait for its reader for ever.
        if cause != nil { kill(child, SIGKILL) }
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) < 0 && errno == EINTR {}
        return (bytes, cause ?? .exited(status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F))
    }

    private func spawn(_ child: inout pid_t, output: Int32) -> Int32 {
        unsafe Self.start(words, &child) { actions in
            switch input {
            case .nothing: unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
            case .ours: break
            case .file(let path): unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, path, O_RDONLY, 0)
            }
            unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
            if collectsErrors { unsafe posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO) }
        }
    }

    /// Starts a program from `PATH` without a shell.
    ///
    /// - Parameters:
    ///   - mask: the signals that it blocks; nil for those of this process.
    ///   - numbers: the signals that have their usual effect. Our programs ignore two that its own children need.
    ///   - flags: further flags of posix_spawnattr_setflags(3p).
    ///   - prepare: sets up its descriptors.
    /// - Returns: 0 or the error number.
    package static func start(
        _ words: [String],
        _ child: inout pid_t,
        blocking mask: sigset_t? = nil,
        resetting numbers: [Int32] = [SIGPIPE, SIGXFSZ],
        flags: Int16 = 0,
        _ prepare: (inout posix_spawn_file_actions_t) -> Void = { _ in }
    ) -> Int32 {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe prepare(&actions)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var defaults = sigset_t()
        unsafe sigemptyset(&defaults)
        for number in numbers { unsafe sigaddset(&defaults, number) }
        unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
        var flags = flags | Int16(POSIX_SPAWN_SETSIGDEF)
        if var mask {
            unsafe posix_spawnattr_setsigmask(&attributes, &mask)
            flags |= Int16(POSIX_SPAWN_SETSIGMASK)
        }
        unsafe posix_spawnattr_setflags(&attributes, flags)
        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        return unsafe posix_spawnp(&child, words[0], &actions, &attributes, &arguments, environ)
    }

    /// Reads until the program closes its output, or until a limit, which is then the cause.
    private func readAll(
        from descriptor: Int32,
        _ quietMilliseconds: Int32,
        _ notice: (() -> Void)?
    ) -> (bytes: [UInt8], cause: End?) {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        let end = Self.milliseconds + Int64(limitMilliseconds)
        var notice = notice
        let noticeAt = Self.milliseconds + Int64(quietMilliseconds)
        while bytes.count <= bytesMax {
            var interest = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let next = notice == nil ? end : min(end, noticeAt)
            let ready = unsafe poll(&interest, 1, Int32(clamping: max(0, next - Self.milliseconds)))
            if ready < 0, errno == EINTR { continue }
            if ready == 0, let tell = notice, next < end {
                tell()
                notice = nil
                continue
            }
            guard ready > 0 else { return (bytes, .timedOut) }
            let count = unsafe read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return (bytes, nil) }
            bytes += piece.prefix(count)
        }
        return (bytes, .tooMuch)
    }

    private static var milliseconds: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
