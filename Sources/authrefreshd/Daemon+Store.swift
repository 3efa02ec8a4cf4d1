internal import AccountStorage
internal import Basics
internal import RefreshCore
internal import Systemd
internal import Varlink

/// The daemon until its store is open.
extension Daemon {
    /// The parts that exist before the store.
    struct Parts {
        let executor: DispatchQueueExecutor
        var keyring: StoreKeyring
        let storeOpener: StoreOpener
        let storeActivity: StoreActivity
        let router: CallRouter
        let server: VarlinkServer
        /// Whether callers are admitted.
        var isServing = false
        let manager: ServiceManagerLink
        let changeLog: ChangeLog
        /// Whether systemd has passed the socket.
        let hasPassedSocket: Bool
    }

    func makeParts(_ happened: AsyncStream<DaemonEvent>.Continuation) throws(ProgramError) -> Parts {
        let changeLog = ChangeLog(logger: makeLogger())
        let executor = DispatchQueueExecutor(label: "authrefreshd.coordinator")
        let keyring = makeKeyring()
        let endpoint = try endpoint()
        let storeOpener = StoreOpener(
            executor: executor,
            path: paths.stateDirectory + "/" + AccountStore.fileName,
            keyring: keyring,
            memory: paths.runtimeDirectory.map { StoreMemory(folder: $0 + "/authrefreshd") },
            busAddress: paths.sessionBus,
            hasPassedSocket: endpoint.isPassed,
            machine: MachineIdentity.current()
        ) { happened.yield(.store($0)) }
        let router = CallRouter(executor: executor) { storeOpener.assumeIsolated { $0.callerCame() } }
        let server = try makeServer(endpoint, router, changeLog, happened)
        let storeActivity = StoreActivity()
        return Parts(
            executor: executor,
            keyring: keyring,
            storeOpener: storeOpener,
            storeActivity: storeActivity,
            router: router,
            server: server,
            manager: makeManager(executor, server, storeActivity),
            changeLog: changeLog,
            hasPassedSocket: endpoint.isPassed
        )
    }

    /// Opens the store. While it or its key is out of reach, the daemon waits and tells callers and the service manager.
    ///
    /// - Returns: nil if the daemon has to end.
    mutating func openStore(
        _ parts: inout Parts,
        _ events: AsyncStream<DaemonEvent>
    ) async throws(ProgramError) -> sending AccountStore? {
        var lock = Lock()
        await parts.storeOpener.open(with: parts.keyring)
        for await event in events {
            switch event {
            case .store(.success(let store)):
                return store.take()
            case .store(.failure(let error)) where error.isAwaited(parts.hasPassedSocket):
                guard error != lock.cause else { continue }
                lock.cause = error
                await parts.router.close(error)
                parts.changeLog.write(error.isLocked ? .storeLocked(error) : .storeAwaited(error))
                if !parts.isServing { try await start(parts.server) }
                parts.isServing = true
                lock.tell(parts.manager)
            case .store(.failure(let error)):
                throw ProgramError(error)
            case .descriptors, .storeReplaced:
                // Without the store, no caller can be served yet.
                continue
            case .signal(.hangUp):
                await reload(&parts, &lock)
            case .signal(.interrupt), .signal(.terminate):
                parts.manager.stopping()
                await parts.storeOpener.end()
                return nil
            }
        }
        return nil
    }

    /// Replaces the store with a backup.
    ///
    /// - Returns: what was done.
    func restore(from backup: String) throws(ProgramError) -> String {
        do {
            try OwnProcess.hideMemory()
        } catch {
            throw ProgramError(error)
        }
        let store = paths.stateDirectory + "/" + AccountStore.fileName
        do throws(StoreError) {
            let outcome = try StoreRestore(of: store, from: backup, keyring: makeKeyring()).run()
            if let reason = outcome.grantsLost {
                DaemonCommand.warn(
                    "newer refresh tokens of the previous store were not taken over: \(reason);"
                        + " if a server refuses the older ones: \(Command("login", "ACCOUNT").text(by: .usual))"
                )
            }
            return outcome.sentences(about: backup)
        } catch {
            throw ProgramError(error)
        }
    }

    private mutating func reload(_ parts: inout Parts, _ lock: inout Lock) async {
        if lock.cause != nil { parts.manager.reloading() }
        await reload(parts.changeLog) { settings in
            lock.isConfigurationRejected = settings == nil
            if let settings { parts.keyring.useSecretService(settings.usesSecretService) }
        }
        lock.tell(parts.manager)
        await parts.storeOpener.open(with: parts.keyring)
    }

    /// Why the store cannot be opened.
    private struct Lock {
        /// The reason; nil while nothing is known yet and the daemon is not ready.
        var cause: StoreError?
        var isConfigurationRejected = false

        func tell(_ manager: ServiceManagerLink) {
            guard let cause else { return }
            let rejected = isConfigurationRejected ? Overview.configurationRejected + ", " : ""
            let state = cause.isLocked ? "locked" : "waiting"
            let hint = cause.hint ?? Hint(Command("status"))
            manager.ready(status: "\(rejected)\(state): \(cause); \(hint.text)")
        }
    }
}

extension StoreRestore.Outcome {
    /// What was done, in up to four lines.
    fileprivate func sentences(about backup: String) -> String {
        var lines = ["'\(backup)' is restored: \(accounts) \(accounts == 1 ? "account" : "accounts")"]
        if newerGrants > 0 {
            lines.append(
                "\(newerGrants) of them \(newerGrants == 1 ? "keeps its newer grant" : "keep their newer grants")"
            )
        }
        if parkedGrants > 0 {
            lines.append(
                "\(parkedGrants) of them \(parkedGrants == 1 ? "is" : "are") parked, because the previous store no longer had"
                    + " \(parkedGrants == 1 ? "it" : "them"); if no other machine uses the grant: \(Command("account", "resume", "ACCOUNT").text(by: .usual))"
            )
        }
        if let kept { lines.append("the previous store is kept as '\(kept)'") }
        return lines.joined(separator: "\n")
    }
}

extension VarlinkServerConfiguration.Endpoint {
    fileprivate var isPassed: Bool {
        switch self {
        case .descriptor: true
        case .path: false
        }
    }
}

extension ProgramError {
    init(_ error: StoreError) {
        let status: ExitStatus =
            switch error {
            case .key: .notPermitted
            case .diskFull, .fileLimit, .inputOutput, .replaced: .tryAgainLater
            default: .misconfigured
            }
        self.init(status, error.description, hint: error.hint ?? "look at the folder named by --state-dir")
    }

    init(_ error: VarlinkServerError) {
        let description = error.description
        let path: Hint = "name another path with --socket, or look at the owner and the mode of its folder"
        switch error {
        case .alreadyListening, .folderBusy:
            let status = Command(program: "systemctl", "--user", "status", "authrefreshd")
            self.init(.unavailable, description, hint: "another authrefreshd may be running: \(status)")
        case .notASocket, .pathTooLong, .notAListenSocket, .folderOpenToOthers:
            self.init(.misconfigured, description, hint: path)
        case .cannotMakeFolder, .cannotBind, .cannotListen, .cannotAccept, .cannotWatch:
            self.init(.unavailable, description, hint: path)
        }
    }

    init(_ error: SystemdError) {
        let journal = Command(program: "journalctl", "--user", "-u", "authrefreshd")
        self.init(.systemFailed, error.description, hint: "look at the journal: \(journal)")
    }
}

extension SecretServiceKeys {
    /// The Secret Service's items for the store in `stateDirectory`, on this bus.
    ///
    /// - Parameter address: the address of the session bus; nil if there is none.
    static func onSessionBus(_ address: String?, stateDirectory: String) -> SecretServiceKeys {
        let ours = ["xdg:schema": "io.authrefresh.StoreKey", "store": stateDirectory]
        @Sendable func withSession<Result>(
            _ body: (SecretServiceSession) throws(SecretServiceError) -> Result
        ) throws(StoreKeyError) -> Result {
            guard let address else { throw StoreKeyError(SecretServiceError.noBus) }
            do throws(SecretServiceError) {
                return try body(SecretServiceSession(address: address))
            } catch {
                throw StoreKeyError(error)
            }
        }
        return SecretServiceKeys(
            load: { () throws(StoreKeyError) in
                try withSession { (session) throws(SecretServiceError) in try session.secrets(ours) }
            },
            add: { (contents, identifier) throws(StoreKeyError) in
                try withSession { (session) throws(SecretServiceError) in
                    try session.create(
                        contents,
                        label: "Key of the token store of authrefreshd (\(stateDirectory))",
                        attributes: ours.merging(["key": identifier]) { $1 }
                    )
                }
            },
            removeOthers: { (identifier) throws(StoreKeyError) in
                try withSession { (session) throws(SecretServiceError) in
                    try session.delete(ours, sparing: ["key": identifier])
                }
            }
        )
    }
}

extension StoreKeyError {
    fileprivate init(_ error: SecretServiceError) {
        switch error {
        case .locked: self = .secretServiceLocked
        case .unavailable(let reason): self = .secretServiceUnavailable(reason: reason)
        case .refused(let reason): self = .secretServiceRefused(reason: reason)
        }
    }
}
