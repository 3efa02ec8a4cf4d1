internal import CommandLineProgram
internal import Glibc

/// The machine as this process sees it. Tests replace it.
struct Surroundings: Sendable {
    /// The file at a path, after following symbolic links.
    struct File: Sendable, Equatable {
        var owner: UInt32
        /// The permission bits.
        var mode: UInt32
        var kind: Kind
        /// An identity that is the same for all paths of one file; nil if it is unknown.
        var identity: String?

        enum Kind: Sendable {
            case socket, folder, regular, other
        }
    }

    /// The effective user ID.
    var user: UInt32
    /// The value of a variable; nil if it is not set or is empty.
    var environment: @Sendable (String) -> String?
    /// The file at a path; nil if there is none, or if it cannot be reached.
    var file: @Sendable (String) -> File?
    /// The text of a small file; nil if it cannot be read.
    var text: @Sendable (String) -> String?
    /// The path of this program.
    var program: String
    /// Runs a program from `PATH` until it ends.
    var run: @Sendable ([String]) -> CommandOutput
    /// The target of a path after following symbolic links.
    var target: @Sendable (String) -> String = { $0 }

    static var real: Surroundings {
        Surroundings(
            user: geteuid(),
            environment: { environmentValue($0) },
            file: status,
            text: contents,
            program: realPath("/proc/self/exe"),
            run: { CommandOutput(of: $0) },
            target: realPath
        )
    }

    /// The user's name; nil if neither `/etc/passwd` nor a variable contains it.
    ///
    /// getpwuid(3) is not used, because a static program cannot load its modules.
    var userName: String? {
        let lines = text("/etc/passwd")?.split(separator: "\n") ?? []
        for line in lines {
            let fields = line.split(separator: ":", omittingEmptySubsequences: false)
            if fields.count > 2, fields[2] == String(user) { return String(fields[0]) }
        }
        return environment("LOGNAME") ?? environment("USER")
    }

    /// The folder of this program.
    var programFolder: String {
        program.split(separator: "/").dropLast().reduce(into: "") { $0 += "/\($1)" }
    }

    /// The path of a program: `name` itself if it is a path, or else the first match in `path`; nil if there is none.
    ///
    /// - Parameter path: folders separated by colons; nil uses `PATH`.
    func program(named name: String, in path: String? = nil) -> String? {
        let folders = (path ?? environment("PATH"))?.split(separator: ":").map(String.init) ?? []
        let candidates = name.contains("/") ? [name] : folders.map { "\($0)/\(name)" }
        return candidates.first { path in
            guard let file = file(path) else { return false }
            return file.kind == .regular && file.mode & 0o111 != 0
        }
    }

    private static func status(_ path: String) -> File? {
        var raw = stat()
        guard unsafe stat(path, &raw) == 0 else { return nil }
        let kind: File.Kind =
            switch raw.st_mode & S_IFMT {
            case S_IFSOCK: .socket
            case S_IFDIR: .folder
            case S_IFREG: .regular
            default: .other
            }
        let identity = "\(raw.st_dev):\(raw.st_ino)"
        return File(owner: raw.st_uid, mode: raw.st_mode & 0o7777, kind: kind, identity: identity)
    }

    private static func contents(_ path: String) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // A larger passwd file has thousands of users. The current user's name then comes from a variable.
        var bytes = [UInt8](repeating: 0, count: 256 << 10)
        let count = unsafe read(descriptor, &bytes, bytes.count)
        return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    private static func realPath(_ path: String) -> String {
        guard let resolved = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }
}

/// A program's output, and how it ended.
struct CommandOutput: Equatable, Sendable {
    /// The time limit. systemctl itself waits 25 s for a manager that does not answer.
    private static let limitMilliseconds: Int32 = 5_000
    /// After this time a person at a terminal is told what is waited for.
    private static let quietMilliseconds: Int32 = 2_000
    /// The most output that is read.
    private static let longest = 64 << 10

    enum End: Equatable, Sendable {
        case exited(Int32)
        /// The program could not be started; `errno` is ENOENT if it does not exist.
        case notStarted(Int32)
        case timedOut
    }

    var text = ""
    var end: End

    init(text: String = "", end: End) {
        self.text = text
        self.end = end
    }

    /// Runs a program from `PATH` without a shell, and collects standard output and error together.
    ///
    /// - Parameters:
    ///   - limitMilliseconds: the time limit.
    ///   - longest: the most bytes of output that are read.
    ///   - awaited: what the wait is for. A person at a terminal is told after two seconds; nil says nothing.
    init(
        of words: [String],
        limitMilliseconds: Int32 = Self.limitMilliseconds,
        longest: Int = Self.longest,
        waitingFor awaited: String? = nil
    ) {
        var ends: [Int32] = [0, 0]
        // A socket pair can be created close-on-exec in one step. Swift's pipe(2) cannot do that.
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            self.init(end: .notStarted(errno))
            return
        }
        var child: pid_t = 0
        let failure = Self.spawn(words, output: ends[1], &child)
        close(ends[1])
        defer { close(ends[0]) }
        guard failure == 0 else {
            self.init(end: .notStarted(failure))
            return
        }
        let (bytes, isEnded) = Self.read(from: ends[0], limitMilliseconds, longest, awaited)
        if !isEnded { kill(child, SIGKILL) }
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) < 0 && errno == EINTR {}
        let code = status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
        self.init(text: String(decoding: bytes, as: UTF8.self), end: isEnded ? .exited(code) : .timedOut)
    }

    private static func spawn(_ words: [String], output: Int32, _ child: inout pid_t) -> Int32 {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO)
        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        return unsafe posix_spawnp(&child, words[0], &actions, nil, &arguments, environ)
    }

    /// Reads everything until the end, the time limit or the size limit.
    private static func read(
        from descriptor: Int32,
        _ limitMilliseconds: Int32,
        _ longest: Int,
        _ awaited: String?
    ) -> (bytes: [UInt8], isEnded: Bool) {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        let end = milliseconds + Int64(limitMilliseconds)
        var notice = StandardError.isTerminal ? awaited : nil
        let noticeAt = milliseconds + Int64(quietMilliseconds)
        while bytes.count < longest {
            var interest = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let next = notice == nil ? end : min(end, noticeAt)
            let ready = unsafe poll(&interest, 1, Int32(clamping: max(0, next - milliseconds)))
            if ready < 0, errno == EINTR { continue }
            if ready == 0, let words = notice, next < end {
                StandardError.note(.waiting(subject: words, seconds: limitMilliseconds / 1000))
                notice = nil
                continue
            }
            guard ready > 0 else { return (bytes, false) }
            let count = unsafe Glibc.read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return (bytes, true) }
            bytes += piece.prefix(count)
        }
        return (bytes, false)
    }

    private static var milliseconds: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
