package import AuthRefreshInterface
import Foundation
import TextEncodings
import Synchronization

/// A folder in which daemons run, one after the other, with everything that they need and nothing of the machine's own.
package final class DaemonStage: Sendable {
    package let folder: TemporaryFolder
    package let notify: NotifySocket
    /// The clocks of the running daemon, if the stage has its own.
    let clock: ShiftedClock
    private let hasOwnClock: Bool
    /// How far they are ahead of the machine's.
    private let ahead = Mutex(Duration.zero)

    /// - Parameter hasOwnClock: whether time can pass for the daemons alone, by `pass`.
    package init(hasOwnClock: Bool = false) throws {
        folder = try TemporaryFolder()
        clock = ShiftedClock(in: folder)
        self.hasOwnClock = hasOwnClock
        notify = try NotifySocket(at: folder.path + "/notify")
        for name in ["run", "state", "config"] {
            try FileManager.default.createDirectory(
                atPath: folder.path + "/" + name,
                withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700]
            )
        }
    }

    package var socket: String { folder.path + "/run/authrefreshd/io.authrefresh" }
    package var stateDirectory: String { folder.path + "/state/authrefreshd" }
    package var store: String { stateDirectory + "/accounts.sqlite" }
    package var key: String { stateDirectory + "/store-key" }
    package var configurationFile: String { folder.path + "/config/authrefreshd/authrefreshd.yaml" }

    package var environment: [String: String] {
        [
            "PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC", "HOME": folder.path,
            "XDG_RUNTIME_DIR": folder.path + "/run", "XDG_STATE_HOME": folder.path + "/state",
            "XDG_CONFIG_HOME": folder.path + "/config", "XDG_DATA_HOME": folder.path + "/data",
            "NOTIFY_SOCKET": notify.path,
        ]
    }

    /// The time that has passed for the daemons in addition to the machine's.
    var elapsed: Duration { ahead.withLock(\.self) }

    /// - Returns: the time that has then passed.
    func advance(by time: Duration) -> Duration {
        precondition(hasOwnClock, "the daemons of this stage use the machine's clocks")
        return ahead.withLock { ahead in
            ahead += time
            return ahead
        }
    }

    package func configure(_ yaml: String) throws {
        try folder.write(yaml, to: "config/authrefreshd/authrefreshd.yaml")
    }

    private var ownClock: [String: String] {
        !hasOwnClock ? [:] : clock.environment(ShiftedClock.Shift() + elapsed)
    }

    /// Starts a daemon. It may fail to start.
    ///
    /// - Parameters:
    ///   - listener: a socket that it is passed as a service manager does; nil lets it bind its own.
    ///   - logFile: the file for its log; nil keeps the log in memory.
    package func spawn(
        _ arguments: [String] = [],
        environment more: [String: String] = [:],
        listener: Int32? = nil,
        logFile: String? = nil
    ) throws -> DaemonProcess {
        try DaemonProcess(
            stage: self,
            arguments: arguments,
            // Both may have a library to preload.
            environment: environment.merging(ownClock) { $1 }.merging(more) {
                $0.hasSuffix(".so") ? $1 + ":" + $0 : $1
            },
            listener: listener,
            logFile: logFile
        )
    }

    /// Starts a daemon and waits until it is ready.
    package func start(
        _ arguments: [String] = [],
        environment more: [String: String] = [:],
        listener: Int32? = nil
    ) async throws -> DaemonProcess {
        let daemon = try spawn(arguments, environment: more, listener: listener)
        try await daemon.ready()
        return daemon
    }

    /// Runs `authctl` to its end, successful or not.
    package func authctl(_ arguments: String..., input: String = "") async throws -> CommandOutcome {
        try await authctl(arguments, input: input)
    }

    package func authctl(_ arguments: [String], input: String = "") async throws -> CommandOutcome {
        let program = try Program("authctl", arguments, environment: environment, input: input)
        let end = try await program.ended()
        return CommandOutcome(output: program.outputText, errors: program.errorText, end: end)
    }

    /// Calls a method on a new connection.
    ///
    /// - Throws: `refused` with the daemon's error; `VarlinkClientError` if there is no answer.
    package func ask<Reply: Decodable & Sendable>(
        _ method: AuthRefreshInterface.Method,
        _ parameters: some Encodable & Sendable,
        for type: Reply.Type,
        within limit: Duration = .patience
    ) async throws -> Reply {
        let json = String(decoding: try JSONEncoder().encode(parameters), as: UTF8.self)
        let reply = try await onOwnThread { [socket] in
            var connection = try VarlinkConnection(path: socket)
            return try connection.call(method.rawValue, parameters: json, timeoutMilliseconds: limit.milliseconds)
        }
        if let name = reply.error { throw TestFault.refused(name: name, parameters: reply.parameters.text) }
        return try JSONDecoder().decode(type, from: Data(reply.parameters.text.utf8))
    }
}

/// The output of a command, and how it ended.
package struct CommandOutcome: Sendable, Equatable {
    package let output: String
    package let errors: String
    package let end: ProgramEnd

    package init(output: String, errors: String, end: ProgramEnd) {
        self.output = output
        self.errors = errors
        self.end = end
    }
}
