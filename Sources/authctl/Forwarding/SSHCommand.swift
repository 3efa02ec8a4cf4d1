internal import Glibc

/// How `ssh` is called: it forwards the socket, and starts a shell there that knows where it is.
struct SSHCommand {
    /// Options that the user's configuration must not change. ssh takes the first value of each.
    private static let fixedOptions = [
        // Without the socket nothing is to be had there.
        "ExitOnForwardFailure=yes", "ClearAllForwardings=no",
        // A connection of its own: that of another session would outlive this one, and the socket with it.
        "ControlMaster=no", "ControlPath=none",
        "RemoteCommand=none",
    ]

    /// Runs on the other machine, by `/bin/sh`: whatever the login shell is, it need only understand quotes. `$1` is the socket, `$2` a command.
    ///
    /// The traps keep the shell alive until the command has ended, so that it removes the socket, which sshd does not. What umask the
    /// socket was made with is up to sshd's own settings (`StreamLocalBindMask`). A shell that was killed leaves its socket behind: the
    /// next one removes those of the same user that nobody listens at any more.
    private static let remoteScript =
        "trap : HUP INT QUIT TERM; trap \"rm -f $1\" EXIT; "
        + "test -S \"$1\" && test -O \"$1\" && chmod 600 \"$1\" "
        + "|| { echo \"authctl: error: sshd has not made the socket $1\" >&2; exit 69; }; "
        + "if test -r /proc/net/unix; then for s in \(remoteFolder)/\(remotePrefix)*; do "
        + "test -S \"$s\" && test -O \"$s\" && ! grep -qF \" $s\" /proc/net/unix && rm -f \"$s\"; done; fi; "
        + "AUTHREFRESH_SOCKET=$1; export AUTHREFRESH_SOCKET; "
        + "if test $# -gt 1; then \"${SHELL:-/bin/sh}\" -c \"$2\"; else \"${SHELL:-/bin/sh}\" -l; fi; exit $?"

    let host: String
    /// `-o` each.
    let options: [String]
    let localSocket: String
    let remoteSocket: String
    /// For the login shell there; nil: that shell itself.
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

    /// Where else a user may write there is not known here.
    private static let remoteFolder = "/tmp"
    private static let remotePrefix = "authctl-"

    /// A path that nobody can guess, new for each connection.
    static func freshRemoteSocket() -> String {
        var random = SystemRandomNumberGenerator()
        let digits = (0..<2).map { _ in
            let half = String(random.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - half.count) + half
        }
        return "\(remoteFolder)/\(remotePrefix)\(digits.joined())"
    }

    /// One word for any shell: in fish a backslash between quotes means something, too.
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
