package import AuthRefreshInterface
import Foundation
import StrictJSON
import VarlinkClient

/// A folder in which daemons run, one after the other, with everything that they need and nothing of the machine's own.
package final class DaemonStage: Sendable {
    package let folder: TemporaryFolder
    package let notify: NotifySocket

    package init() throws {
        folder = try TemporaryFolder()
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

    package func configure(_ yaml: String) throws {
        try folder.write(yaml, to: "config/authrefreshd/authrefreshd.yaml")
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
            environment: environment.merging(more) { $1 },
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
        let end = try await program.ended(within: .seconds(90))
        return CommandOutcome(output: program.outputText, errors: program.errorText, end: end)
    }

    /// Calls a method on a new connection.
    ///
    /// - Throws: `refused` with the daemon's error; `VarlinkClientError` if there is no answer.
    package func ask<Reply: Decodable & Sendable>(
        _ method: AuthRefreshInterface.Method,
        _ parameters: some Encodable & Sendable,
        for type: Reply.Type,
        within limit: Duration = .seconds(60)
    ) async throws -> Reply {
        let json = String(decoding: try JSONEncoder().encode(parameters), as: UTF8.self)
        let reply = try await onOwnThread { [socket] in
            var connection = try VarlinkConnection(path: socket)
            let milliseconds = Int32(limit.components.seconds * 1000)
            return try connection.call(method.rawValue, parameters: json, timeoutMilliseconds: milliseconds)
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
