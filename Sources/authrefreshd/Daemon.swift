internal import AccountStorage
internal import AuthRefreshInterface
internal import Basics
internal import Dispatch
internal import Foundation
internal import Logging
internal import OAuthClient
internal import OAuthMessages
internal import RefreshCore
internal import Systemd
internal import Varlink

/// The daemon with all its parts: configuration, store, coordinator, socket, service manager.
struct Daemon {
    private let options: DaemonOptions
    let paths: DaemonPaths
    private(set) var configuration: LoadedConfiguration
    /// The configuration that the parts were created with.
    private let startedWith: DaemonConfiguration

    var profileCount: Int { configuration.settings.profiles.names.count }

    /// Prepares the daemon.
    ///
    /// - Throws: an error in the command line, the environment or the configuration.
    init(options: DaemonOptions) throws(ProgramError) {
        self.options = options
        paths = try Self.paths(options)
        configuration = try LoadedConfiguration(paths: paths)
        startedWith = configuration.file
    }

    private static func paths(_ options: DaemonOptions) throws(ProgramError) -> DaemonPaths {
        try DaemonPaths(options: options, environment: ProcessInfo.processInfo.environment) {
            FileManager.default.fileExists(atPath: $0)
        }
    }

    /// Serves until SIGTERM or SIGINT.
    mutating func run() async throws(ProgramError) {
        let (events, happened) = AsyncStream.makeStream(of: DaemonEvent.self)
        Task { for await signal in SignalWatch.signals { happened.yield(.signal(signal)) } }
        do {
            try OwnProcess.hideMemory()
        } catch {
            throw ProgramError(error)
        }
        var parts = try makeParts(happened)
        do throws(ProgramError) {
            guard let store = try await openStore(&parts, events) else { return await end(parts) }
            try await serve(parts, store, until: events, happened)
        } catch {
            await end(parts)
            throw error
        }
    }

    /// Stops serving, and delivers the last news to the service manager.
    private func end(_ parts: Parts) async {
        await parts.server.shutdown()
        await parts.manager.drain(within: .seconds(2))
    }

    private mutating func serve(
        _ parts: Parts,
        _ store: sending AccountStore,
        until events: AsyncStream<DaemonEvent>,
        _ happened: AsyncStream<DaemonEvent>.Continuation
    ) async throws(ProgramError) {
        let client = OAuthClient(configuration: configuration.client)
        store.activity = parts.storeActivity
        parts.manager.watch(Watchdog.Loop { [executor = client.executor] in executor.execute($0) })
        let timebase = try timebase()
        let coordinator = RefreshCoordinator(
            executor: parts.executor,
            store: store,
            keyring: parts.keyring,
            client: client,
            settings: configuration.settings,
            timebase: timebase,
            changeLog: parts.changeLog,
            tokenFolder: paths.tokenFolder,
            runtimeDirectory: paths.runtimeDirectory,
            crashMark: CrashMark(in: paths.stateDirectory),
            configurationError: configurationError
        )
        do throws(ProgramError) {
            try await begin(coordinator, parts.manager, happened)
            await parts.router.open(coordinator)
            if !parts.isServing { try await start(parts.server) }
        } catch {
            // Refreshes may be under way. Their answers are worth more than a quick end.
            await coordinator.shutDown()
            await client.shutdown()
            throw error
        }
        parts.manager.ready(status: await coordinator.statusLine)
        parts.changeLog.write(.daemonStarted)
        // Reading the configuration used memory that is free again.
        OwnProcess.giveBackMemory()

        let reason = await serve(coordinator, parts, until: events)
        parts.changeLog.write(.daemonStopping)
        parts.manager.stopping()
        await parts.server.stopAccepting()
        await coordinator.shutDown()
        await end(parts)
        await client.shutdown()
        if let reason { throw reason }
    }

    /// Handles signals and other process events until the daemon has to end.
    ///
    /// - Returns: the error with which it ends; nil if somebody ends it.
    private mutating func serve(
        _ coordinator: RefreshCoordinator,
        _ parts: Parts,
        until events: AsyncStream<DaemonEvent>
    ) async -> ProgramError? {
        for await event in events {
            switch event {
            case .signal(.hangUp): await reload(coordinator, parts)
            case .signal(.terminate), .signal(.interrupt): return nil
            case .storeReplaced(let error): return ProgramError(error)
            case .descriptors(let areLacking):
                await coordinator.descriptorsChanged(areLacking: areLacking)
            case .store: continue
            }
        }
        return nil
    }

    private func begin(
        _ coordinator: RefreshCoordinator,
        _ manager: ServiceManagerLink,
        _ happened: AsyncStream<DaemonEvent>.Continuation
    ) async throws(ProgramError) {
        do {
            try await coordinator.start(
                watchesMachine: true,
                onStatusChange: manager.statusChanged(of: coordinator),
                onStoreReplaced: { happened.yield(.storeReplaced($0)) }
            )
        } catch {
            throw ProgramError(error)
        }
    }

    /// Reads the configuration like a reload does, but only returns its error.
    private var configurationError: @Sendable () -> ProgramError? {
        { [options, paths] in
            do throws(ProgramError) {
                _ = try LoadedConfiguration(paths: (try? Self.paths(options)) ?? paths)
                return nil
            } catch {
                return error
            }
        }
    }

    private mutating func reload(_ coordinator: RefreshCoordinator, _ parts: Parts) async {
        parts.manager.reloading()
        await reload(parts.changeLog) { settings in
            if let settings {
                await coordinator.reload(settings)
            } else {
                await coordinator.configurationRejected()
            }
        }
        await coordinator.checkStoreKey()
        parts.manager.ready(status: await coordinator.statusLine)
    }

    /// Reads the configuration again. An invalid configuration is ignored; the previous one stays in force.
    ///
    /// - Parameter take: applies the settings; nil if the configuration was rejected.
    mutating func reload(_ changeLog: ChangeLog, _ take: (RefreshConfiguration?) async -> Void) async {
        do {
            // Search again, because the file may have been created since the start.
            configuration = try LoadedConfiguration(paths: try Self.paths(options))
            await take(configuration.settings)
            let waiting = startedWith.keysAwaitingRestart(in: configuration.file)
            changeLog.write(.configurationReloaded(awaitingRestart: waiting))
        } catch {
            changeLog.write(.configurationRejected(error))
            await take(nil)
        }
    }
}

/// The parts of the daemon.
extension Daemon {
    func makeLogger() -> Logger {
        let level = Logger.Level(rawValue: configuration.file.logLevel) ?? .notice
        return Logger(label: "authrefreshd") { _ in JournalLogHandler(logLevel: level) }
    }

    func timebase() throws(ProgramError) -> Timebase {
        do {
            return try Timebase.system()
        } catch {
            throw ProgramError(error)
        }
    }

    func makeKeyring() -> StoreKeyring {
        StoreKeyring(
            source: StoreKeySource(
                credentialsDirectory: paths.credentialsDirectory,
                stateDirectory: paths.stateDirectory
            ),
            secretService: .onSessionBus(paths.sessionBus, stateDirectory: paths.stateDirectory),
            usesSecretService: configuration.settings.usesSecretService
        )
    }

    /// Asks the user's service manager to restart our socket unit; nil if there is none.
    private func restorePassedSocket(
        _ changeLog: ChangeLog
    ) -> (@Sendable (@escaping @Sendable (Bool) -> Void) -> Void)? {
        guard let unit = SocketUnit.ofThisProcess(), let folder = paths.runtimeDirectory else { return nil }
        return { answer in
            DispatchQueue.global(qos: .utility).async {
                do throws(SystemdError) {
                    try unit.restart(runtimeDirectory: folder)
                    answer(true)
                } catch {
                    changeLog.logger.info(
                        "the socket unit cannot be restarted",
                        metadata: [JournalKey.error.rawValue: "\(error)"]
                    )
                    answer(false)
                }
            }
        }
    }

    func makeServer(
        _ endpoint: VarlinkServerConfiguration.Endpoint,
        _ router: CallRouter,
        _ changeLog: ChangeLog,
        _ happened: AsyncStream<DaemonEvent>.Continuation
    ) throws(ProgramError) -> VarlinkServer {
        var serverConfiguration = VarlinkServerConfiguration(endpoint: endpoint)
        serverConfiguration.limits = CallerLimits.server
        serverConfiguration.limits.connectionsMax = configuration.file.maxConnections
        let descriptors = serverConfiguration.limits.connectionsMax + CallerLimits.otherDescriptors
        let granted = OwnProcess.raiseDescriptorLimit(to: descriptors)
        if granted < descriptors { changeLog.write(.descriptorsLimited(to: granted, of: descriptors)) }
        serverConfiguration.observe = { event in
            changeLog.record(event)
            if let areLacking = event.areDescriptorsLacking { happened.yield(.descriptors(areLacking: areLacking)) }
        }
        serverConfiguration.restorePassedSocket = restorePassedSocket(changeLog)
        return VarlinkServer(
            configuration: serverConfiguration,
            service: VarlinkService(
                info: ServiceInfo(
                    vendor: "authrefreshd",
                    product: "authrefreshd",
                    version: Version.text,
                    // org.varlink.service requires this field, but the project has no web page.
                    url: ""
                ),
                interfaces: [Interface.name: { Interface.text }],
                refusalError: { $0.interfaceError },
                handle: { call, peer, responder in router.handle(call, from: peer, responder) }
            )
        )
    }

    /// The daemon counts as alive if all its loops run: the coordinator's queue, the queue of the tasks, and the
    /// socket's thread. The network's loops are added later. While the coordinator waits for the store, the others feed
    /// the watchdog.
    func makeManager(
        _ executor: DispatchQueueExecutor,
        _ server: VarlinkServer,
        _ storeActivity: StoreActivity
    ) -> ServiceManagerLink {
        ServiceManagerLink(
            notifier: ServiceNotifier.fromEnvironment(),
            loops: [
                Watchdog.Loop(
                    ask: { [queue = executor.queue] answer in queue.async(execute: answer) },
                    isWaiting: { storeActivity.isUnderWay }
                ),
                Watchdog.Loop { answer in Task { answer() } },
                Watchdog.Loop { answer in Task { await server.inTurn(answer) } },
            ]
        )
    }

    func start(_ server: VarlinkServer) async throws(ProgramError) {
        do {
            try await server.start()
        } catch {
            await server.shutdown()
            throw ProgramError(error)
        }
    }

    /// The socket from systemd, or else our own path. The server is the same for both.
    func endpoint() throws(ProgramError) -> VarlinkServerConfiguration.Endpoint {
        let sockets: [ListenSocket]
        do throws(SystemdError) {
            sockets = try ListenSocket.received()
        } catch {
            throw ProgramError(error)
        }
        guard let socket = sockets.first else { return .path(paths.socket) }
        guard sockets.count == 1 else {
            throw ProgramError(
                .misconfigured,
                "systemd passed \(sockets.count) sockets, but the daemon listens on one",
                hint: "keep one ListenStream= in authrefreshd.socket:"
                    + " \(Command(program: "systemctl", "--user", "edit", "authrefreshd.socket"))"
            )
        }
        return .descriptor(socket.descriptor)
    }
}
