internal import Glibc

/// What this process can see of the machine around it; tests put in their own.
struct Surroundings: Sendable {
    /// What there is at a path; symbolic links are followed.
    struct File: Sendable, Equatable {
        var owner: UInt32
        /// Permission bits.
        var mode: UInt32
        var kind: Kind

        enum Kind: Sendable {
            case socket, folder, regular, other
        }
    }

    /// The effective user.
    var user: UInt32
    /// A variable's value; nil if it is not set, or empty.
    var environment: @Sendable (String) -> String?
    /// Nil if there is nothing, or it cannot be reached.
    var file: @Sendable (String) -> File?
    /// The text of a small file; nil if it cannot be read.
    var text: @Sendable (String) -> String?
    /// The path of this program.
    var program: String
    /// Runs a program of `PATH` to its end.
    var run: @Sendable ([String]) -> CommandOutput

    static var real: Surroundings {
        Surroundings(
            user: geteuid(),
            environment: { name in
                guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
                return unsafe String(cString: value)
            },
            file: status,
            text: contents,
            program: realPath("/proc/self/exe"),
            run: { CommandOutput(of: $0) }
        )
    }

    /// The user's name; nil if it is not in `/etc/passwd` and no variable tells it.
    ///
    /// getpwuid(3) is not asked: a static program cannot load the modules that it needs.
    var userName: String? {
        let lines = text("/etc/passwd")?.split(separator: "\n") ?? []
        for line in lines {
            let fields = line.split(separator: ":", omittingEmptySubsequences: false)
            if fields.count > 2, fields[2] == String(user) { return String(fields[0]) }
        }
        return environment("LOGNAME") ?? environment("USER")
    }

    /// Where a program is: the path itself if it is one, else the first place in `PATH`; nil if there is none.
    func program(named name: String) -> String? {
        let folders = environment("PATH")?.split(separator: ":").map(String.init) ?? []
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
        return File(owner: raw.st_uid, mode: raw.st_mode & 0o7777, kind: kind)
    }

    private static func contents(_ path: String) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // A passwd of thousands of users is longer; the user who asks is then named by a variable.
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
