internal import AuthRefreshInterface
internal import BlockingWork
internal import Dispatch
internal import RefreshCore
internal import Systemd
internal import Varlink

/// Who calls, as far as that is known. Finding it out costs some system calls, which may block; so it is done on threads of its own when an
/// account asks for it. A method that needs to know more returns, before anything has been done, and the call is answered anew.
final class Caller {
    /// What came of looking at something.
    enum Look<Value: Sendable>: Sendable {
        case found(Value)
        /// The process had ended, or there is no such file that can be seen.
        case nothing
        /// The file system did not answer in time.
        case hanging

        /// - Parameter value: nil if it hangs, and if nothing was found nil inside.
        init(_ value: Value??) {
            self =
                switch value {
                case .none: .hanging
                case .some(.none): .nothing
                case .some(.some(let value)): .found(value)
                }
        }
    }

    /// What was found out until now.
    struct Known: Sendable {
        /// Nil if it was not looked at.
        var process: Look<CallingProcess>?
        /// The files of executables on lists, by their paths.
        var files: [String: Look<FileIdentity>] = [:]
    }

    /// What has to be found out: the process, and these executables.
    struct Missing: Sendable {
        let executables: [String]
    }

    let known: Known
    /// What a method has missed; nil if nothing.
    private(set) var missing: Missing?

    init(_ known: Known = Known()) {
        self.known = known
    }

    /// The process that calls, and these files; nil if they have to be looked at first.
    func look(at executables: [String] = []) -> (Look<CallingProcess>, files: [String: Look<FileIdentity>])? {
        let unknown = executables.filter { known.files[$0] == nil }
        guard let process = known.process, unknown.isEmpty else {
            missing = Missing(executables: unknown)
            return nil
        }
        return (process, known.files)
    }
}

/// Whose secrets are whose: the accounts' allow lists.
///
/// What hands a secret out, spends one, speaks about one, or says where one is sent is for the allowed callers: `AcquireToken`, `Refresh`,
/// `ProvePossession`, `ReportRejected`, `ExportGrant`, `UpdateAccount`. Everybody else of this user may see the account, sign in, bring a
/// grant in, and take the account away: none of that gives a secret to anyone, and a person at a terminal has to be able to
/// mend what needs them.
extension AuthRefreshService {
    private static let callers = BlockingWork<Int32, CallingProcess?>(
        "authrefreshd.callers",
        timeLimit: CallerLimits.lookUpTime,
        piecesMax: CallerLimits.lookUpsMax
    )
    private static let executables = BlockingWork<String, FileIdentity?>(
        "authrefreshd.executables",
        timeLimit: CallerLimits.lookUpTime,
        piecesMax: CallerLimits.lookUpsMax
    )

    /// Lets a caller pass who is on `allowed`, the list of `account`.
    ///
    /// - Returns: false if the caller has to be looked up first.
    /// - Throws: `PermissionDenied` for one that is not on the list; `TemporarilyUnavailable` if that cannot be found out now.
    func admit(
        _ caller: Caller,
        to account: AccountName,
        by allowed: AllowedCallers,
        on coordinator: isolated RefreshCoordinator
    ) throws(VarlinkError) -> Bool {
        guard let (look, files) = caller.look(at: allowed.executables) else { return false }
        switch allowed.verdict(on: look, files) {
        case .allowed: return true
        case .unknown:
            let reason = "the file system of the caller's executable, or of one on the account's list, does not answer"
            throw VarlinkError(TemporarilyUnavailableError(account: account.text, reason: reason))
        case .refused: break
        }
        let refusal = PermissionDeniedError(
            reason: "'\(account)' is for \(allowed) only; \(Self.description(of: look))",
            hint: "call from there; the list is changed from there too ('authctl account edit \(account)'), or by"
                + " 'authctl account remove \(account)' and adding the account anew"
        )
        coordinator.changeLog.denied(refusal.reason, of: account)
        throw VarlinkError(refusal)
    }

    /// A list of executables that this daemon will never be able to match locks everybody out.
    ///
    /// - Returns: false if the caller has to be looked up first.
    /// - Throws: `InvalidSettings` if not even the executable of the one who writes the list can be seen.
    func checkVisibility(of executables: [String]?, from caller: Caller) throws(VarlinkError) -> Bool {
        guard executables?.isEmpty == false else { return true }
        guard let (look, _) = caller.look() else { return false }
        if case .hanging = look {
            let reason = "the file system of your executable does not answer"
            throw VarlinkError(InvalidSettingsError(field: "allowedExecutables", reason: reason))
        }
        guard case .found(let process) = look, process.file == nil else { return true }
        throw VarlinkError(
            InvalidSettingsError(
                field: "allowedExecutables",
                reason: "the daemon cannot see which executable a caller runs, not even yours (pid \(process.pid))",
                hint: "allow systemd units instead, or put the drop-in see-executables.conf in force: "
                    + "ln -s ~/.local/share/authrefreshd/see-executables.conf ~/.config/systemd/user/authrefreshd.service.d/ && "
                    + "systemctl --user daemon-reload && systemctl --user restart authrefreshd"
            )
        )
    }

    /// Finds out what a method has missed, and answers the call anew.
    func lookUp(_ missing: Caller.Missing, _ caller: Caller, of call: VarlinkCall, _ responder: VarlinkResponder) {
        let (known, executables) = (caller.known, missing.executables)
        guard known.process == nil else { return lookUp(executables, known, of: call, responder) }
        responder.withSocket { socket in
            var known = known
            let held = socket.flatMap {
                HeldProcess(socket: $0, pid: responder.peer.pid, connectedAt: responder.acceptedAt)
            }
            guard let held else {
                known.process = .nothing
                return lookUp(executables, known, of: call, responder)
            }
            // This is the socket's thread: looking at an executable may block.
            Self.callers.run(held.pid, { held.look() }) { [known] look in
                var known = known
                // Another connection of the process may have had it looked up. It is the same process if this one lives.
                let process: CallingProcess?? = look.map { held.isAlive ? $0 : nil }
                known.process = Caller.Look(process)
                lookUp(executables, known, of: call, responder)
            }
        }
    }

    private func lookUp(
        _ executables: [String],
        _ known: Caller.Known,
        of call: VarlinkCall,
        _ responder: VarlinkResponder
    ) {
        guard let path = executables.first(where: { known.files[$0] == nil }) else {
            return coordinator.queue.async { [coordinator] in
                coordinator.assumeIsolated { answer(call, responder, from: Caller(known), on: $0) }
            }
        }
        Self.executables.run(path, { FileIdentity(path: path) }) { identity in
            var known = known
            known.files[path] = Caller.Look(identity)
            lookUp(executables, known, of: call, responder)
        }
    }

    private static func description(of look: Caller.Look<CallingProcess>) -> String {
        guard case .found(let process) = look else { return "the caller had ended before it could be looked at" }
        let executable = process.executable.map { "runs '\($0)'" } ?? "runs an executable that the daemon cannot see"
        let unit = process.unit.map { "in the unit '\($0)'" } ?? "in no unit"
        return "the caller (pid \(process.pid)) \(executable) \(unit)"
    }
}

extension AllowedCallers {
    fileprivate enum Verdict { case allowed, refused, unknown }

    /// Whether a process is one of them. Executables are compared as files: a path can be made to look like another in a mount namespace
    /// of the caller's own.
    fileprivate func verdict(
        on look: Caller.Look<CallingProcess>,
        _ files: [String: Caller.Look<FileIdentity>]
    ) -> Verdict {
        switch look {
        case .hanging: return .unknown
        case .nothing: return .refused
        case .found(let process):
            if let unit = process.unit, units.contains(unit) { return .allowed }
            guard let file = process.file else { return .refused }
            // One that was found counts, whichever others hang.
            var verdict = Verdict.refused
            for path in executables {
                switch files[path] {
                case .found(file): return .allowed
                case .hanging: verdict = .unknown
                case .found, .nothing, nil: continue
                }
            }
            return verdict
        }
    }
}

extension SeenProgram {
    init(_ process: CallingProcess) {
        self.init(unit: process.unit, executable: process.path)
    }
}

/// Everything that callers can make the daemon hold: all limits in one place, but for those of a connection, which
/// `ServerLimits` explains.
///
/// The page <doc:Limits> shows them to users; a test holds it against this, and names the test that reaches each.
enum CallerLimits {
    /// Those of the socket.
    static var server: ServerLimits {
        var limits = ServerLimits()
        // A subscriber that stands still for a moment misses nothing, even while hundreds of accounts are refreshed in a second.
        limits.undrainedBytesMax = 8 << 20
        return limits
    }

    /// Callers that may be connected, unless the configuration says otherwise.
    static let connectionsMax = server.connectionsMax

    /// Those of the socket with room for so many callers; one in sixteen places is kept for other users than the one who has most.
    static func server(connections: Int) -> ServerLimits {
        var limits = server
        limits.connectionsMax = connections
        limits.connectionsPerUIDMax = connections - connections / 16
        return limits
    }

    /// Descriptors for all but callers: the store, requests, watches.
    static let otherDescriptors = 512

    /// Bytes of accounts in a page of `GetStatus` and `ListAccounts`: a full page of usual accounts has some 300 KB. A page ends with the
    /// account that passes it, and the others come with the next call. Accounts that are named may have four times as many.
    static let pageBytesMax = 512 << 10

    /// Accounts of which a subscriber is told their present state in one turn of the queue: a millisecond or two.
    static let presentPage = 100

    /// Accounts kept, unless the configuration says otherwise: a million is what the store is measured with.
    static let accountsMax = 1_000_000

    /// Bytes of one account's settings: real ones have a few hundred, with long scopes some thousand.
    static let settingsBytesMax = 16 << 10

    /// Units and executables that one account is for: a handful. Each call for its tokens may look at the file of each.
    static let allowedCallersMax = 64

    /// How long a caller's executable, or one that a list names, is waited for: it may be on a mount that does not answer.
    static let lookUpTime = Duration.seconds(5)
    /// Callers, and executables on lists, looked up at the same time. Each that hangs holds a thread.
    static let lookUpsMax = 48

    /// Accounts whose tokens are derived from one account: they are all looked at when it has a token again.
    static let derivedAccountsMax = 100

    /// How many accounts may stand behind one another, each derived from the next: each waits for all behind it.
    static let derivationsMax = 4

    /// Bytes of a refresh token or client secret that is brought in; the largest seen has 16 KiB.
    static let secretBytesMax = 64 << 10

    /// Subscribers at once: each costs a descriptor and a copy of every change. A desktop has a handful; half of the connections
    /// stay for those who ask.
    static func subscribersMax(connections: Int) -> Int {
        connections / 2
    }

    /// Sign-ins under way at once: each has two listening sockets and waits for one person, who can do one thing at a time.
    static let signInsMax = 32

    /// Registrations, sign-outs and proofs of imported grants under way at once: each may wait for a server for a minute. `authctl logout
    /// --all` does one after the other. Renewals of client secrets and questions about a token's life take places here, too.
    static let serverCallsMax = 32

    /// Diagnoses under way at once: each asks up to eight servers at a time.
    static let diagnosesMax = 4

    /// Accounts that one subscriber may follow by name. Who has more to follow follows all of them.
    static let subscribedAccountsMax = 10_000

    /// Lines about refused callers in each `refusalStretch`, for each account whose list refuses, and each reason for which the socket
    /// does: who it is stands in the first ones.
    static let refusalLinesMax = 20
    /// Accounts that have so many lines each in a `refusalStretch`, and as many reasons of the socket's, which has one for each user whom
    /// it does not serve; those that come later have so many together. That is 2,600 lines at most: the journal takes 10,000 in 30 s of a
    /// service, and then drops what comes, of whatever kind.
    static let refusalSubjectsMax = 64
    static let refusalStretch = Duration.seconds(60)

    /// Backups that wait for their callers to open them. One is made at a time, and opened as soon as its caller is told of it.
    static let backupsMax = 4
    /// How long a backup waits for that: a caller does nothing else first, and whoever has it open reads on without its name.
    static let backupKept = Duration.seconds(30)

    /// Findings that one check of the store tells, and keeps until it is over; more are counted only. A store with so many has
    /// one cause, and one way out.
    static let findingsMax = 1_000
}
