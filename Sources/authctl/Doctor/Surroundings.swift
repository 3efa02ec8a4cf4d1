internal import Basics
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

    /// The process that started this one: its ID, its start time in ticks (proc_pid_stat(5)) and its program's file; nil
    /// if it is not visible, for example from a container.
    ///
    /// No two processes have the first two since the machine started. But a process may become another program: the
    /// kubectl of Google Cloud asks the cluster for its version, and executes the kubectl of that version.
    var parentProcess: String? {
        let pid = getppid()
        // The second field is a name in parentheses that may contain anything. The 22nd field is the start time.
        guard pid > 0, let stat = text("/proc/\(pid)/stat"), let name = stat.lastIndex(of: ")") else { return nil }
        let fields = stat[name...].split(separator: " ")
        guard fields.count > 20 else { return nil }
        let program = file("/proc/\(pid)/exe")?.identity
        return ["\(pid)", "\(fields[20])", program].compactMap(\.self).joined(separator: ".")
    }

    /// The folder of the person's settings (XDG Base Directory Specification); nil if the home folder is unknown.
    var settingsFolder: String? { environment("XDG_CONFIG_HOME") ?? environment("HOME").map { "\($0)/.config" } }

    /// The folders of programs' data, the person's own first (XDG Base Directory Specification).
    var dataFolders: [String] {
        let own = environment("XDG_DATA_HOME") ?? environment("HOME").map { "\($0)/.local/share" }
        let shared = environment("XDG_DATA_DIRS") ?? "/usr/local/share:/usr/share"
        return [own].compactMap(\.self) + shared.split(separator: ":").map(String.init)
    }

    /// Whether this Linux runs in Windows (WSL), which sets the variable for every process.
    var isInWindows: Bool { environment("WSL_DISTRO_NAME") != nil }

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
        // A larger passwd file has thousands of users. The current user's name then comes from a variable.
        let bytes = try? NamedFile.contents(of: path, limit: 256 << 10)
        return bytes.map { String(decoding: $0, as: UTF8.self) }
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

    var text = ""
    var end: ProgramRun.End
}

extension CommandOutput {
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
        let run = ProgramRun(
            words,
            input: .nothing,
            collectsErrors: true,
            limitMilliseconds: limitMilliseconds,
            bytesMax: longest
        )
        let notice = StandardError.isTerminal ? awaited : nil
        let (bytes, end) = run.output(
            quietMilliseconds: Self.quietMilliseconds,
            notice: notice.map { subject in
                { StandardError.noteWait(for: subject, atMost: limitMilliseconds / 1000) }
            }
        )
        // For our callers, a program with too much output is one that does not end.
        self.init(text: String(decoding: bytes, as: UTF8.self), end: end == .tooMuch ? .timedOut : end)
    }
}
