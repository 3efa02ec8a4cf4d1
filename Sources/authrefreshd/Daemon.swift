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
    private(set) var configuration: LoadedConfiguration
    /// What the parts were made by.
    private let startedWith: DaemonConfiguration

    var profileCount: Int { configuration.settings.profiles.names.count }

    /// - Throws: what is wrong with the command line, the environment or the configuration.
    init(options: DaemonOptions) throws(DaemonError) {
        self.options = options
        paths = try Self.paths(options)
        do {
            configuration = try LoadedConfiguration(paths: paths)
            startedWith = configuration.file
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
    mutating func run() async throws(DaemonError) {
        let (events, happened) = AsyncStream.makeStream(of: DaemonEvent.self)
        Task { for await signal in SignalWatch.signals { happened.yield(.signal(signal)) } }
        do {
            try ProcessHardening.apply()
        } catch {
            throw .system(error)
        }
        var parts = try makeParts(happened)
        do throws(DaemonError) {
            guard let store = try await openStore(&parts, events) else { return await end(parts) }
            try await serve(parts, store, until: events)
        } catch {
            await end(parts)
            throw error
        }
    }

    /// Serves nobody any more, and has the service manager told the last of it.
    private func end(_ parts: Parts) async {
        await parts.server.shutdown()
        await parts.manager.drain(within: .seconds(2))
    }

    private mutating func serve(
        _ parts: Parts,
        _ store: sending AccountStore,
        until events: AsyncStream<DaemonEvent>
    ) async throws(DaemonError) {
        let client = OAuthClient(configuration: configuration.client)
        for loop in client.loops { parts.manager.watch(loop) }
        let coordinator = RefreshCoordinator(
            executor: parts.executor,
            store: store,
            keyring: parts.keyring,
            client: client,
            settings: configuration.settings,
            timebase: try timebase(),
            changeLog: parts.changeLog
        )
        let machine = HostWatch(coordinator: coordinator, changeLog: parts.changeLog)
        do throws(DaemonError) {
            try await begin(coordinator, machine, parts.manager)
            await parts.router.open(
                AuthRefreshService(coordinator: coordinator, configurationError: configurationError)
            )
            if !parts.isServing { try await start(parts.server) }
        } catch {
            // Refreshes may have begun: their answers are worth more than a quick end.
            await coordinator.stop()
            try? await client.shutdown()
            throw error
        }
        parts.manager.ready(status: await coordinator.statusLine)
        parts.changeLog.write(.daemonStarted)

        await serve(coordinator, parts, until: events)
        parts.changeLog.write(.daemonStopping)
        parts.manager.stopping()
        await parts.server.stopAccepting()
        await coordinator.stop()
        await end(parts)
        try? await client.shutdown()
    }

    /// Does what the process is told, until it is told to end.
    private mutating func serve(
        _ coordinator: RefreshCoordinator,
        _ parts: Parts,
        until events: AsyncStream<DaemonEvent>
    ) async {
        for await event in events {
            switch event {
            case .signal(.hangUp): await reload(coordinator, parts)
            case .signal(.terminate), .signal(.interrupt): return
            case .descriptors(let areLacking): await coordinator.descriptorsChanged(areLacking: areLacking)
            case .store: continue
            }
        }
    }

    private func begin(
        _ coordinator: RefreshCoordinator,
        _ machine: HostWatch,
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

    private mutating func reload(_ coordinator: RefreshCoordinator, _ parts: Parts) async {
        parts.manager.reloading()
        await reload(parts.changeLog) { settings in
            if let settings {
                await coordinator.reload(settings)
            } else {
                await coordinator.configurationRejected()
            }
        }
        await coordinator.checkKey()
        parts.manager.ready(status: await coordinator.statusLine)
    }

    /// Reads the configuration anew; one that cannot be used changes nothing.
    ///
    /// - Parameter take: takes over the settings; nil if the configuration is rejected.
    mutating func reload(_ changeLog: ChangeLog, _ take: (CoordinatorSettings?) async -> Void) async {
        do {
            // Looked for anew: the file may have been made since the start.
            configuration = try LoadedConfiguration(paths: try Self.paths(options), startedWith: startedWith)
            await take(configuration.settings)
            let waiting = startedWith.keysAwaitingRestart(in: configuration.file)
            var note: Logger.Metadata = [:]
            if !waiting.isEmpty {
                note[JournalKey.reason] = "\(waiting.joined(separator: ", ")): takes effect with a restart"
            }
            changeLog.write(.configurationReloaded, note)
        } catch {
            changeLog.write(.configurationRejected, [JournalKey.error: "\(error)"])
            await take(nil)
        }
    }
}
