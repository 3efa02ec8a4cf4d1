internal import Foundation
internal import TestSupport

/// `authctl forward` with a stand-in for ssh: `Tests/Integration/forward` has a real sshd.
extension IntegrationScene {
    /// How the stand-in behaves.
    enum StandIn: String {
        /// Ends at once.
        case shortLived = "short-lived"
        /// Prints the path of the forwarded socket, and keeps running.
        case lasting

        fileprivate var script: String {
            switch self {
            case .shortLived: "#!/bin/sh\necho 'ssh was started'\n"
            case .lasting:
                """
                #!/bin/sh
                for word in "$@"; do
                    case $word in /tmp/authctl-*:*) echo "socket ${word#*:}" ;; esac
                done
                exec sleep 600
                """
            }
        }
    }

    /// Forwards an account, to nowhere.
    func forward(_ account: String, by standIn: StandIn) throws -> Program {
        let folder = "programs-\(standIn.rawValue)"
        try stage.folder.write(standIn.script, to: "\(folder)/ssh", mode: 0o700)
        let path = ["PATH": "\(stage.folder.path)/\(folder):/usr/bin:/bin"]
        return try Program(
            "authctl",
            ["forward", "host", account],
            environment: stage.environment.merging(path) { $1 }
        )
    }

    /// Runs `authctl` as on the other machine: it has the forwarded socket, and nothing else of this machine.
    func authctlElsewhere(_ arguments: String...) async throws -> CommandOutcome {
        let program = try Program(
            "authctl",
            arguments,
            environment: ["AUTHREFRESH_SOCKET": forwardedSocket, "PATH": "/usr/bin:/bin", "HOME": stage.folder.path]
        )
        let end = try await program.ended()
        return CommandOutcome(output: program.outputText, errors: program.errorText, end: end)
    }
}
