internal import AccountStorage
internal import Foundation
internal import Logging
internal import OAuthClient
internal import RefreshCore
internal import Systemd
internal import Varlink

/// The daemon, put together: configuration, store, coordinator, socket, service manager.
struct Daemon {
    private let options: DaemonOptions
    let paths: DaemonPaths
    let configuration: LoadedConfiguration

    var profileCount: Int { configuration.settings.profiles.names.count }

    /// - Throws: what is wrong with the command line, the environment or the configuration.
    init(options: DaemonOptions) throws(DaemonError) {
        self.options = options
        paths = try Self.paths(options)
        do {
            configuration = try LoadedConfiguration(paths: paths)
        } catch {
            throw .configuration(error)
        }
    }

    private static func paths(_ options: DaemonOptions) throws(DaemonError) -> DaemonPaths {
        try DaemonPaths(options: options, environment: ProcessInfo.processInfo.environment) {
            FileManager.default.fileExists(atPath: $0)
        }
    }

    /// Serves until SIGTERM or SIGINT.
    func run() async throws(DaemonError) {
        let (happenings, happened) = AsyncStream.makeStream(of: Happening.self)
        let signals = SignalWatch { happened.yield(.signal($0)) }
        defer { withExtendedLifetime(signals) {} }
        let logger = makeLogger()
        let changeLog = ChangeLog(logger: logger)
        do {
            try ProcessHardening.apply()
        } catch {
            throw .system(error)
        }
        let executor = DispatchQueueExecutor(label: "authrefreshd.coordinator")
        let manager = ServiceManagerLink(notifier: ServiceNotifier.fromEnvironment(), queue: executor.queue)
        let gate = ServiceGate(executor: executor) { happened.yield(.keyMayBeThere) }
        let server = try makeServer(gate, changeLog)
        let keyring = keyring()
        let store: AccountStore
        var isServing = false
        do {
            store = try openStore(keyring)
        } catch {
            guard case .key(let error) = error, error.isPassing else { throw error }
            await gate.lock(error)
            try await start(server)
            isServing = true
            let wait = KeyWait(
                keyring: keyring,
                busAddress: paths.sessionBus,
                gate: gate,
                manager: manager,
                changeLog: changeLog,
                happened: happened
            )
            guard await wait.run(happenings, because: error) else { return await server.shutdown() }
            store = try await openUnlocked(keyring, server)
        }
        try await serve(
            Parts(executor: executor, gate: gate, server: server, manager: manager, logger: logger),
            store,
            keyring,
            isServing: isServing,
            until: happenings
        )
    }

    /// What is there before the store is open.
    private struct Parts {
        let executor: DispatchQueueExecutor
        let gate: ServiceGate
        let server: VarlinkServer
        let manager: ServiceManagerLink
        let logger: Logger
    }

    private func openUnlocked(
        _ keyring: StoreKeyring,
        _ server: VarlinkServer
    ) async throws(DaemonError) -> sending AccountStore {
        do throws(DaemonError) {
            return try openStore(keyring)
        } catch {
            await server.shutdown()
            throw error
        }
    }

    private func serve(
        _ parts: Parts,
        _ store: sending AccountStore,
        _ keyring: StoreKeyring,
        isServing: Bool,
        until happenings: AsyncStream<Happening>
    ) async throws(DaemonError) {
        let changeLog = ChangeLog(logger: parts.logger)
        let client = OAuthClient(configuration: configuration.client)
        let coordinator = RefreshCoordinator(
            executor: parts.executor,
            store: store,
            keyring: keyring,
            client: client,
            settings: configuration.settings,
            timebase: try timebase(),
            changeLog: changeLog
        )
        let machine = MachineWatch(coordinator: coordinator, changeLog: changeLog)
        do throws(DaemonError) {
            try await begin(coordinator, machine, parts.manager)
            await parts.gate.open(AuthRefreshService(coordinator: coordinator, configurationError: configurationError))
            if !isServing { try await start(parts.server) }
        } catch {
            // Refreshes may have begun: their answers are worth more than a quick end.
            await coordinator.stop()
            try? await client.shutdown()
            if isServing { await parts.server.shutdown() }
            throw error
        }
        parts.manager.ready(status: await coordinator.statusLine)
        changeLog.write(.daemonStarted)

        for await case .signal(let signal) in happenings {
            guard signal == .hangUp else { break }
            await reload(coordinator, parts.manager, changeLog)
        }
        changeLog.write(.daemonStopping)
        parts.manager.stopping()
        await parts.server.stopAccepting()
        await coordinator.stop()
        await parts.server.shutdown()
        try? await client.shutdown()
    }

    private func begin(
        _ coordinator: RefreshCoordinator,
        _ machine: MachineWatch,
        _ manager: ServiceManagerLink
    ) async throws(DaemonError) {
        do {
            try await coordinator.start(watching: machine, onStatusChange: manager.statusChanged(of: coordinator))
        } catch {
            throw .store(error)
        }
    }

    /// Reads the configuration as a reload would, and only says what is wrong with it.
    private var configurationError: @Sendable () -> ConfigurationError? {
        { [options, paths] in
            do throws(ConfigurationError) {
                _ = try LoadedConfiguration(paths: (try? Self.paths(options)) ?? paths)
                return nil
            } catch {
                return error
            }
        }
    }

    /// Reads the configuration anew; one that cannot be used changes nothing.
    private func reload(_ coordinator: RefreshCoordinator, _ manager: ServiceManagerLink, _ changeLog: ChangeLog) async
    {
        manager.reloading()
        do {
            // Looked for anew: the file may have been made since the start.
            let loaded = try LoadedConfiguration(paths: try Self.paths(options))
            await coordinator.reload(loaded.settings)
            changeLog.write(.configurationReloaded)
        } catch {
            changeLog.write(.configurationRejected, [JournalKey.error: "\(error)"])
            await coordinator.configurationRejected()
        }
        manager.ready(status: await coordinator.statusLine)
    }
}
