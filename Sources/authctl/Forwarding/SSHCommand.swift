internal import Glibc

/// Builds the `ssh` command, which forwards the socket and starts a shell that knows its path.
struct SSHCommand {
    /// Options that the user's configuration must not change. For each option, ssh uses the first value.
    private static let fixedOptions = [
        // Without the socket, the session is useless.
        "ExitOnForwardFailure=yes", "ClearAllForwardings=no",
        // The connection is not shared. A shared connection would outlive this session, and so would the socket.
        "ControlMaster=no", "ControlPath=none",
        "RemoteCommand=none",
    ]

    /// The script that `/bin/sh` runs on the other machine. The login shell, whatever it is, only has to understand
    /// quotes. `$1` is the socket, `$2` a command.
    ///
    /// The traps keep the shell alive until the command has ended. It then removes the socket, which sshd does not.
    /// sshd's own settings decide the umask of the socket (`StreamLocalBindMask`). A shell that was killed leaves its
    /// socket behind. The next one removes those of the same user at which nobody listens any more.
    private static let remoteScript =
        "trap : HUP INT QUIT TERM; trap \"rm -f $1\" EXIT; "
        + "test -S \"$1\" && test -O \"$1\" && chmod 600 \"$1\" "
        + "|| { echo \"authctl: error: sshd has not made the socket $1\" >&2; exit 69; }; "
        + "if test -r /proc/net/unix; then for s in \(remoteFolder)/\(remotePrefix)*; do "
        + "test -S \"$s\" && test -O \"$s\" && ! grep -qF \" $s\" /proc/net/unix && rm -f \"$s\"; done; fi; "
        + "AUTHREFRESH_SOCKET=$1; export AUTHREFRESH_SOCKET; "
        + "if test $# -gt 1; then \"${SHELL:-/bin/sh}\" -c \"$2\"; else \"${SHELL:-/bin/sh}\" -l; fi; exit $?"

    let host: String
    /// The values for `-o`.
    let options: [String]
    let localSocket: String
    let remoteSocket: String
    /// The command for the login shell; nil for an interactive shell.
    let command: String?
    /// Whether the login shell gets a terminal.
    let hasTerminal: Bool

    var words: [String] {
        var remote = ["exec", "/bin/sh", "-c", Self.quote(Self.remoteScript), "authctl-forward", remoteSocket]
        if let command { remote.append(Self.quote(command)) }
        return ["ssh"] + (Self.fixedOptions + options).flatMap { ["-o", $0] }
            + ["-R", "\(remoteSocket):\(localSocket)"]
            + (hasTerminal && command == nil ? ["-t"] : [])
            + ["--", host, remote.joined(separator: " ")]
    }

    /// We do not know where else the user may write.
    private static let remoteFolder = "/tmp"
    private static let remotePrefix = "authctl-"

    /// A new path for each connection, which nobody can guess.
    static func freshRemoteSocket() -> String {
        var random = SystemRandomNumberGenerator()
        let digits = (0..<2).map { _ in
            let half = String(random.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - half.count) + half
        }
        return "\(remoteFolder)/\(remotePrefix)\(digits.joined())"
    }

    /// Quotes one word for any shell. In fish, a backslash has a meaning even inside quotes.
    static func quote(_ text: String) -> String {
        let quoted = text.map { character in
            switch character {
            case "'": "'\\''"
            case "\\": "'\\\\'"
            default: String(character)
            }
        }
        return "'\(quoted.joined())'"
    }
}
