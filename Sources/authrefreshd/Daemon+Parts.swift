internal import AccountStorage
internal import AuthRefreshInterface
internal import Dispatch
internal import Logging
internal import Systemd
internal import Varlink

/// What the daemon is put together from.
extension Daemon {
    func makeLogger() -> Logger {
        let level = Logger.Level(rawValue: configuration.file.logLevel) ?? .notice
        return Logger(label: "authrefreshd") { _ in JournalLogHandler(logLevel: level) }
    }

    func timebase() throws(DaemonError) -> Timebase {
        do {
            return try Timebase.system()
        } catch {
            throw .system(error)
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

    /// Asks the user's service manager to restart our socket unit; nil where there is none.
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
                    changeLog.logger.info("the socket unit stays as it is", metadata: [JournalKey.error: "\(error)"])
                    answer(false)
                }
            }
        }
    }

    func makeServer(
        _ router: CallRouter,
        _ changeLog: ChangeLog,
        _ happened: AsyncStream<DaemonEvent>.Continuation
    ) throws(DaemonError) -> VarlinkServer {
        var serverConfiguration = VarlinkServerConfiguration(endpoint: try endpoint())
        serverConfiguration.limits = CallerLimits.server(connections: configuration.file.maxConnections)
        let descriptors = serverConfiguration.limits.connectionsMax + CallerLimits.otherDescriptors
        let granted = DescriptorLimit.raise(to: descriptors)
        if granted < descriptors { changeLog.descriptorsLimited(to: granted, of: descriptors) }
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
                    // org.varlink.service wants a field; the project has no page.
                    url: ""
                ),
                interfaces: [Interface.name: Interface.text],
                refusalError: { $0.interfaceError },
                handle: { call, peer, responder in router.handle(call, from: peer, responder) }
            )
        )
    }

    /// The daemon counts as alive if all its loops turn: the coordinator's queue, that of the tasks, and the socket's thread; those of the
    /// network follow.
    func makeManager(_ executor: DispatchQueueExecutor, _ server: VarlinkServer) -> ServiceManagerLink {
        ServiceManagerLink(
            notifier: ServiceNotifier.fromEnvironment(),
            loops: [
                { [queue = executor.queue] answer in queue.async(execute: answer) },
                { answer in Task { answer() } },
                { answer in Task { await server.inTurn(answer) } },
            ]
        )
    }

    func start(_ server: VarlinkServer) async throws(DaemonError) {
        do {
            try await server.start()
        } catch {
            await server.shutdown()
            throw .socket(error)
        }
    }

    /// The socket that systemd passed, or else our own path: the same server behind either.
    private func endpoint() throws(DaemonError) -> VarlinkServerConfiguration.Endpoint {
        let sockets: [ListenSocket]
        do throws(SystemdError) {
            sockets = try ListenSockets.received()
        } catch {
            throw .system(error)
        }
        guard let socket = sockets.first else { return .path(paths.socket) }
        guard sockets.count == 1 else { throw .tooManySockets(sockets.count) }
        return .descriptor(socket.descriptor)
    }
}
