internal import Glibc
internal import MovingIn

/// Runs a program that prints its accounts. The output contains secrets; it comes through a pipe and stays in memory.
struct SourceCommand {
    /// The time limit in s. A person may have to type a password.
    static let limitSeconds = 120

    let words: [String]
    /// The file for its standard input; nil for the terminal.
    var inputFile: String?

    /// The command for display.
    var origin: String { words.joined(separator: " ") }

    /// Runs the program and returns its output.
    ///
    /// - Throws: `programMissing`, `programFailed`, `programTimedOut`, `tooLarge`, `unreadable`.
    func output() throws(MovingInError) -> [UInt8] {
        var ends: [Int32] = [0, 0]
        // A socket pair can be created close-on-exec in one step. Swift's pipe(2) cannot do that.
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw .unreadable(origin: origin, errno: errno) }
        defer { close(ends[0]) }
        var terminal = termios()
        let isTerminal = unsafe tcgetattr(STDIN_FILENO, &terminal) == 0
        var child: pid_t = 0
        let failure = spawn(&child, output: ends[1])
        close(ends[1])
        guard failure != ENOENT else { throw .programMissing(origin: origin, program: words[0]) }
        guard failure == 0 else { throw .unreadable(origin: origin, errno: failure) }
        let bytes = readAll(ends[0])
        // A program with more output would wait forever for its reader.
        if (bytes?.count ?? .max) > MovingInLimit.sourceBytesMax {
            kill(child, SIGKILL)
            // It may have been stopped while asking for a password.
            if isTerminal { unsafe tcsetattr(STDIN_FILENO, TCSANOW, &terminal) }
        }
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) < 0 && errno == EINTR {}
        guard let bytes else {
            throw .programTimedOut(origin: origin, program: words[0], seconds: Self.limitSeconds)
        }
        guard bytes.count <= MovingInLimit.sourceBytesMax else {
            throw .tooLarge(origin: origin, bytesMax: MovingInLimit.sourceBytesMax)
        }
        guard status == 0 else {
            let code = status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
            throw .programFailed(origin: origin, program: words[0], status: code)
        }
        return bytes
    }

    private func spawn(_ child: inout pid_t, output: Int32) -> Int32 {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        if let inputFile {
            unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, inputFile, O_RDONLY, 0)
        }
        unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var defaults = sigset_t()
        unsafe sigemptyset(&defaults)
        unsafe sigaddset(&defaults, SIGPIPE)
        unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        return unsafe posix_spawnp(&child, words[0], &actions, &attributes, &arguments, environ)
    }

    /// Reads everything, but at most one byte more than the limit; nil if that takes too long.
    private func readAll(_ descriptor: Int32) -> [UInt8]? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 14)
        let end = ContinuousClock.now + .seconds(Self.limitSeconds)
        while bytes.count <= MovingInLimit.sourceBytesMax {
            let left = max(.zero, end - .now).components
            var interest = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let wait = Int32(left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000)
            let ready = unsafe poll(&interest, 1, wait)
            if ready < 0, errno == EINTR { continue }
            guard ready > 0 else { return nil }
            let count = unsafe read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return bytes }
            bytes += chunk[..<count]
        }
        return bytes
    }
}
