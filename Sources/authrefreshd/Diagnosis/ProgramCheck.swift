internal import AuthRefreshInterface
internal import Basics
internal import Glibc

/// Checks the executable of the running daemon. After an upgrade, there is another file in its place.
struct ProgramCheck {
    /// The kernel appends this to the path of a file that was replaced or removed (proc(5), `/proc/PID/exe`).
    private static let mark = " (deleted)"

    /// The path of the executable, with the kernel's mark.
    let program: String
    /// Whether there is a file at a path.
    let exists: (String) -> Bool

    init(program: String, exists: @escaping (String) -> Bool) {
        self.program = program
        self.exists = exists
    }

    /// Checks this process; nil if /proc does not name its executable.
    init?() {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX) + Self.mark.utf8.count)
        let count = unsafe readlink("/proc/self/exe", &bytes, bytes.count)
        guard count > 0 else { return nil }
        let path = String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        self.init(program: path) { unsafe access($0, F_OK) == 0 }
    }

    var finding: Finding {
        guard program.hasSuffix(Self.mark) else {
            return .ok(.program, "it runs '\(program)', version \(Version.text)")
        }
        let path = String(program.dropLast(Self.mark.count))
        guard exists(path) else {
            return .warning(
                .program,
                "'\(path)' was removed while the daemon was running: it cannot start again",
                needs: .repair,
                advice: "install it again, then: \(Command(program: "systemctl", "--user", "restart", "authrefreshd"))"
            )
        }
        return .warning(
            .program,
            "'\(path)' was replaced after the daemon started: the installed version is not the one that runs",
            needs: .repair,
            advice: Hint(Command(program: "systemctl", "--user", "restart", "authrefreshd"))
        )
    }
}
