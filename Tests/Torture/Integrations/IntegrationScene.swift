internal import AuthRefreshInterface
internal import DemoIssuer
internal import Foundation
internal import Glibc
internal import NIOCore
internal import Synchronization
internal import TestSupport

/// A daemon with an account for each integration, and a server that can be shut.
final class IntegrationScene: Sendable {
    let stage: DaemonStage
    let rows: [Integration]
    let files: FaultyFiles
    let issuer: DemoIssuer
    private let door: ServerDoor
    private let faultyFolder: String
    /// The socket of a daemon that is activated; nil if the daemon binds its own.
    let listener: Int32?
    let state = Mutex(State())

    struct State {
        var url = ""
        var daemon: DaemonProcess?
        /// Of daemons that have ended.
        var logs = ""
        var tokens: [String: IntegrationTokens] = [:]
        /// The server's numbers of the accounts' grants.
        var families: [String: Int] = [:]
        var serviceManager: ServiceManager?
        /// `authctl forward`.
        var forwarding: Program?
        var forwardedSocket = ""
    }

    /// The account that is forwarded all the time.
    static let forwardedAccount = "forwarded"

    /// Starts the server and the daemon, and signs all accounts in.
    init(_ rows: [Integration], for fault: IntegrationFault) async throws {
        stage = try DaemonStage(hasOwnClock: true)
        self.rows = rows
        files = FaultyFiles(in: stage.folder)
        door = ServerDoor()
        let tokens = stage.folder.path + "/run/authrefreshd/tokens"
        faultyFolder = fault == .readOnly ? tokens : stage.folder.path
        listener = fault == .activated ? try Self.listener(at: stage) : nil
        var policy = GrantPolicy()
        policy.refreshesIDTokens = true
        var configuration = IssuerConfiguration(clients: [DemoClient(id: "app")], policy: policy)
        configuration.now = stage.now
        configuration.prepareConnection = door.receive
        issuer = DemoIssuer(configuration: configuration)
        let url = try await issuer.start()
        state.withLock { $0.url = url }
        try stage.configure("on_change: ['\(try writeChangeCommand())']\n")
        try await startServiceManager()
        try await startDaemon()
        for row in rows { try await add(row) }
        for row in rows where row.asksFirst { try await askFirst(row.account) }
        if let row = rows.first(where: { $0.account == Self.forwardedAccount }) {
            let program = try forward(row.account, by: .lasting)
            let line = try await program.output.first("the socket") { $0.hasPrefix("socket ") }
            state.withLock { ($0.forwarding, $0.forwardedSocket) = (program, String(line.dropFirst("socket ".count))) }
        }
    }

    deinit {
        state.withLock { state in
            state.serviceManager?.abandon()
            if let program = state.forwarding, program.isRunning { program.signal(SIGKILL) }
        }
        if let listener { close(listener) }
    }

    var tokenFolder: String { stage.folder.path + "/run/authrefreshd/tokens" }

    /// Ends everything, however it is.
    func shutdown() async {
        if let program = state.withLock({ $0.forwarding }), program.isRunning {
            program.signal(SIGTERM)
            _ = try? await program.ended()
        }
        if let daemon = state.withLock({ $0.daemon }), daemon.isRunning { _ = try? await daemon.terminate() }
        try? await endServiceManager()
        await issuer.shutdown()
    }

    // MARK: The daemon

    /// - Throws: `unreadable` before the first start.
    var daemon: DaemonProcess {
        get throws {
            guard let daemon = state.withLock({ $0.daemon }) else { throw TestFault.unreadable("no daemon yet") }
            return daemon
        }
    }

    func startDaemon() async throws {
        let daemon = try await stage.start(environment: files.environment(for: faultyFolder), listener: listener)
        state.withLock { $0.daemon = daemon }
    }

    func endDaemon() async throws {
        let daemon = try daemon
        let end = try await daemon.terminate()
        guard end == .exited(0) else { throw TestFault.failed(program: "authrefreshd: \(end)", errors: daemon.logText) }
        state.withLock { $0.logs += daemon.logText }
    }

    func killAndStartDaemon() async throws {
        let daemon = try daemon
        try await daemon.kill()
        state.withLock { $0.logs += daemon.logText }
        try await startDaemon()
    }

    /// What all daemons have logged.
    var logs: String { state.withLock { $0.logs + ($0.daemon?.logText ?? "") } }

    func removeRuntimeFolder() async throws {
        // The daemon may have created it again before the removal is complete.
        _ = try await SecretsStage.output("rm -rf '\(stage.folder.path)/run/authrefreshd' 2> /dev/null; true")
        try await daemon.says("was removed, and is back")
    }

    // MARK: The command of on_change

    /// Makes the service manager listen on its socket.
    func startServiceManager() async throws {
        let folder = stage.folder.path + "/run/systemd"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let manager = try await ServiceManager(at: folder + "/private")
        state.withLock { $0.serviceManager = manager }
    }

    func endServiceManager() async throws {
        try await state.withLock { $0.serviceManager }?.end()
        state.withLock { $0.serviceManager = nil }
        try FileManager.default.removeItem(atPath: stage.folder.path + "/run/systemd")
    }

    /// Writes a program that records what it learns of a change.
    private func writeChangeCommand() throws -> String {
        let script = """
            #!/bin/sh
            echo "$AUTHREFRESH_ACCOUNT $AUTHREFRESH_EVENT $AUTHREFRESH_STATE" >> '\(newsFile)'
            env >> '\(newsFile)'
            """
        return try stage.folder.write(script, to: "on-change", mode: 0o700)
    }

    private var newsFile: String { stage.folder.path + "/news" }

    /// What the command learned, and its whole environment, one line each.
    var news: [Substring] {
        ((try? String(contentsOfFile: newsFile, encoding: .utf8)) ?? "").split(separator: "\n")
    }

    // MARK: The server

    func closeServer() async {
        await door.close()
    }

    func openServer() {
        door.open()
    }

    /// How often a refresh token was sent that the server had replaced.
    var spentTokenUses: Int { get async { await issuer.counters.spentTokenUses } }

    /// Whether the server takes the account's grant, and how often it was refreshed.
    func grant(of account: String) async -> (stands: Bool, generation: Int) {
        guard let family = state.withLock({ $0.families[account] }), let grant = await issuer.grant(family) else {
            return (false, 0)
        }
        return (grant.revokedBy == nil, grant.generation)
    }

    // MARK: Programs

    /// The socket that `authctl forward` serves on the other machine.
    var forwardedSocket: String { state.withLock { $0.forwardedSocket } }

    /// Runs a program to its end.
    func run(
        _ program: String,
        _ arguments: [String],
        environment more: [String: String] = [:]
    ) async throws -> CommandOutcome {
        let environment = stage.environment.merging(more) { $1 }
        let program = try Program(program, arguments, environment: environment)
        let end = try await program.ended()
        return CommandOutcome(output: program.outputText, errors: program.errorText, end: end)
    }

    /// Asks again and again, because there is no event for it.
    func wait(_ what: String, until isSo: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .patience
        while try await !isSo() {
            guard ContinuousClock.now < end else { throw TestFault.timedOut(waitingFor: what) }
        }
    }
}

/// Lets clients in, or cuts them off before they have said anything.
private final class ServerDoor: Sendable {
    private struct State {
        var isOpen = true
        /// The connections of clients that were let in.
        var channels: [any Channel] = []
    }

    private let state = Mutex(State())

    func open() {
        state.withLock { $0.isOpen = true }
    }

    /// Lets no client in, and ends the connections of those who are in.
    func close() async {
        let channels = state.withLock { state in
            defer { state = State(isOpen: false) }
            return state.channels
        }
        for channel in channels { try? await channel.close() }
    }

    /// - Throws: `Shut`, for the server to close the connection.
    @Sendable func receive(_ channel: any Channel) throws {
        let isOpen = state.withLock { state in
            state.channels.removeAll { !$0.isActive }
            if state.isOpen { state.channels.append(channel) }
            return state.isOpen
        }
        guard isOpen else { throw Shut() }
    }

    private struct Shut: Error {}
}
