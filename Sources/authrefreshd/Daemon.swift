internal import AccountStorage
internal import AuthRefreshInterface
internal import Dispatch
internal import Foundation
internal import Logging
internal import OAuthClient
internal import RefreshCore
internal import Systemd
internal import Varlink

/// The daemon, put together: configuration, store, coordinator, socket, service manager.
struct Daemon {
    private let options: DaemonOptions
    private let paths: DaemonPaths
    private let configuration: LoadedConfiguration

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
        let signals = SignalWatch()
        let logger = makeLogger()
        let changeLog = ChangeLog(logger: logger)
        let notifier = ServiceNotifier.fromEnvironment()
        do {
            try ProcessHardening.apply()
        } catch {
            throw .system(error)
        }
        let keyring = keyring()
        let store = try openStore(keyring)
        let timebase = try timebase()
        let client = OAuthClient(configuration: configuration.client)
        let coordinator = RefreshCoordinator(
            executor: DispatchQueueExecutor(label: "authrefreshd.coordinator"),
            store: store,
            keyring: keyring,
            client: client,
            settings: configuration.settings,
            timebase: timebase,
            changeLog: changeLog
        )
        let manager = ServiceManagerLink(notifier: notifier, coordinator: coordinator)
        let machine = MachineWatch(coordinator: coordinator, logger: logger)
        let server: VarlinkServer
        do throws(DaemonError) {
            server = try await begin(coordinator, machine, manager, changeLog)
        } catch {
            // Refreshes may have begun: their answers are worth more than a quick end.
            await coordinator.stop()
            try? await client.shutdown()
            throw error
        }
        await manager.ready()
        changeLog.write(.daemonStarted)

        for await signal in signals.signals {
            guard signal == .hangUp else { break }
            await reload(coordinator, manager, changeLog)
        }
        changeLog.write(.daemonStopping)
        manager.stopping()
        await server.stopAccepting()
        await coordinator.stop()
        await server.shutdown()
        try? await client.shutdown()
    }

    private func begin(
        _ coordinator: RefreshCoordinator,
        _ machine: MachineWatch,
        _ manager: ServiceManagerLink,
        _ changeLog: ChangeLog
    ) async throws(DaemonError) -> VarlinkServer {
        do {
            try await coordinator.start(watching: machine, onStatusChange: manager.statusChanged)
        } catch {
            throw .store(error)
        }
        return try await serve(coordinator, changeLog)
    }

    private func makeLogger() -> Logger {
        let level = Logger.Level(rawValue: configuration.file.logLevel) ?? .notice
        return Logger(label: "authrefreshd") { _ in JournalLogHandler(logLevel: level) }
    }

    private func timebase() throws(DaemonError) -> Timebase {
        do {
            return try Timebase.system()
        } catch {
            throw .system(error)
        }
    }

    private func keyring() -> StoreKeyring {
        StoreKeyring(
            source: StoreKeySource(
                credentialsDirectory: paths.credentialsDirectory,
                stateDirectory: paths.stateDirectory
            ),
            secretService: SecretServiceKeys(
                load: { () throws(StoreKeyError) in throw .secretServiceUnavailable(reason: "not built yet") },
                add: { (_, _) throws(StoreKeyError) in throw .secretServiceUnavailable(reason: "not built yet") },
                removeOthers: { (_) throws(StoreKeyError) in throw .secretServiceUnavailable(reason: "not built yet") }
            ),
            usesSecretService: configuration.settings.usesSecretService
        )
    }

    private func openStore(_ keyring: StoreKeyring) throws(DaemonError) -> sending AccountStore {
        do {
            return try keyring.openStore(at: paths.stateDirectory + "/" + AccountStore.fileName)
        } catch {
            switch error {
            case .key(let error): throw .key(error)
            case .store(let error): throw .store(error)
            }
        }
    }

    private func serve(
        _ coordinator: RefreshCoordinator,
        _ changeLog: ChangeLog
    ) async throws(DaemonError) -> VarlinkServer {
        let service = AuthRefreshService(coordinator: coordinator)
        var serverConfiguration = VarlinkServerConfiguration(endpoint: try endpoint())
        serverConfiguration.limits = CallerLimits.server
        serverConfiguration.observe = { event in
            changeLog.record(event)
        }
        let server = VarlinkServer(
            configuration: serverConfiguration,
            service: VarlinkService(
                info: ServiceInfo(
                    vendor: "authrefreshd",
                    product: "authrefreshd",
                    version: Version.text,
                    url: "https://authrefreshd.example/"
                ),
                interfaces: [Interface.name: Interface.text],
                refusalError: { $0.interfaceError },
                handle: { call, peer, responder in service.handle(call, from: peer, responder) }
            )
        )
        do {
            try await server.start()
        } catch {
            await server.shutdown()
            throw .socket(error)
        }
        return server
    }

    /// The socket that systemd passed, or else our own path: the same server behind either.
    private func endpoint() throws(DaemonError) -> VarlinkServerConfiguration.Endpoint {
        do {
            let sockets = try ListenSockets.received()
            guard let socket = sockets.first else { return .path(paths.socket) }
            guard sockets.count == 1 else { throw DaemonError.tooManySockets(sockets.count) }
            return .descriptor(socket.descriptor)
        } catch let error as SystemdError {
            throw .system(error)
        } catch let error as DaemonError {
            throw error
        } catch {
            preconditionFailure("passed sockets fail with SystemdError only: \(type(of: error))")
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
        }
        await manager.ready()
    }
}
