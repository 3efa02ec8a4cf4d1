internal import CSystemd
internal import Glibc

/// A running `authctl login` after a click. There is no terminal, so its output is kept.
final class SignInProgram {
    /// The most bytes of output that are kept.
    private static let longest = 16 << 10
    /// The environment variable that identifies a click to the program that opens a window for it (xdg-activation).
    private static let activation = "XDG_ACTIVATION_TOKEN"

    let account: String
    /// The descriptor, which becomes readable when the program has ended.
    let descriptor: Int32
    private let pid: pid_t
    private let errors: Int32

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - authctl: its path.
    ///   - socket: the daemon's socket, if it is not the default.
    ///   - activationToken: the token of the click; nil if the desktop has none.
    /// - Returns: nil if it cannot be started.
    init?(authctl: String, account: String, socket: String?, activationToken: String?) {
        self.account = account
        // A socket pair can be created close-on-exec in one step. Its buffer holds the few lines of output, which are
        // read at the end.
        var ends: [Int32] = [0, 0]
        guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            return nil
        }
        defer { close(ends[1]) }
        let words = [authctl, "login", account] + (socket.map { ["--socket", $0] } ?? [])
        // A token in our own environment was for our own start, and is valid only once.
        let environment = activationToken.map { ["\(Self.activation)=\($0)"] } ?? []
        guard let pid = Self.spawn(words, adding: environment, errors: ends[1]),
            case let descriptor = pidfd_open(pid, 0), descriptor >= 0
        else {
            close(ends[0])
            return nil
        }
        (self.pid, self.descriptor, errors) = (pid, descriptor, ends[0])
    }

    deinit {
        close(descriptor)
        close(errors)
    }

    /// Reaps the program. Returns one sentence on why it failed; nil if it succeeded or was cancelled.
    func takeProblem() -> String? {
        var status: Int32 = 0
        while unsafe waitpid(pid, &status, 0) < 0 && errno == EINTR {}
        // 130: the user cancelled it, and knows that.
        guard status & 0x7F == 0, status >> 8 & 0xFF != 0, status >> 8 & 0xFF != 130 else { return nil }
        var bytes = [UInt8](repeating: 0, count: Self.longest)
        let count = unsafe recv(errors, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        let prefix = "authctl: error: "
        return text.split(separator: "\n").first { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    }

    private static func spawn(_ words: [String], adding variables: [String], errors: Int32) -> pid_t? {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        var environment = unsafe (inherited + variables).map { unsafe strdup($0) } + [nil]
        defer { unsafe environment.forEach { unsafe free($0) } }
        var pid: pid_t = 0
        guard unsafe posix_spawn(&pid, words[0], &actions, nil, &arguments, &environment) == 0 else { return nil }
        return pid
    }

    /// This program's environment, without the variable for its own start.
    private static var inherited: [String] {
        var next = unsafe environ
        var variables: [String] = []
        while let variable = unsafe next.pointee {
            unsafe variables.append(String(cString: variable))
            unsafe next += 1
        }
        return variables.filter { !$0.hasPrefix(activation + "=") }
    }
}
