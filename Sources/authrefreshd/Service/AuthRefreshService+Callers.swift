internal import AuthRefreshInterface
internal import BlockingWork
internal import Dispatch
internal import RefreshCore
internal import Systemd
internal import Varlink

/// Who calls. Finding it out costs some system calls, which may block; so it is done on threads of its own when an account asks for it,
/// and the call answered anew.
enum Caller {
    case notLookedUp
    /// With the files of executables on lists, by their paths: what was found out until now.
    case lookedUp(Look<CallingProcess>, [String: Look<FileIdentity>])

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
}

/// Whose secrets are whose: the accounts' allow lists.
///
/// What hands a secret out, spends one, speaks about one, or says where one is sent is for the allowed callers: `AcquireToken`, `Refresh`,
/// `ProvePossession`, `ReportRejected`, `ExportGrant`, `UpdateAccount`. Everybody else of this user may see the account, sign in, bring a
/// grant in, and take the account away: none of that gives a secret to anyone, and a person at a terminal has to be able to
/// mend what needs them.
extension AuthRefreshService {
    /// Thrown, before anything has been done, to have the caller looked up, and these executables.
    struct CallerNeeded: Error {
        var executables: [String] = []
    }

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

    /// - Throws: `CallerNeeded` if that is not known; `PermissionDenied` for one that is not on `allowed`, the list of `account`;
    ///   `TemporarilyUnavailable` if that cannot be found out now.
    func admit(
        _ caller: Caller,
        to account: AccountName,
        by allowed: AllowedCallers,
        on coordinator: isolated RefreshCoordinator
    ) throws {
        guard case .lookedUp(let look, let files) = caller else {
            throw CallerNeeded(executables: allowed.executables)
        }
        let unknown = allowed.executables.filter { files[$0] == nil }
        guard unknown.isEmpty else { throw CallerNeeded(executables: unknown) }
        switch allowed.verdict(on: look, files) {
        case .allowed: return
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
    /// - Throws: `CallerNeeded`; `InvalidSettings` if not even the executable of the one who writes the list can be seen.
    func checkVisibility(of executables: [String]?, from caller: Caller) throws {
        guard executables?.isEmpty == false else { return }
        guard case .lookedUp(let look, _) = caller else { throw CallerNeeded() }
        if case .hanging = look {
            let reason = "the file system of your executable does not answer"
            throw VarlinkError(InvalidSettingsError(field: "allowedExecutables", reason: reason))
        }
        guard case .found(let process) = look, process.file == nil else { return }
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

    /// Finds out what is needed, and answers the call anew.
    ///
    /// - Parameter known: what was found out before.
    func lookUp(_ needed: CallerNeeded, _ known: Caller, of call: VarlinkCall, _ responder: VarlinkResponder) {
        guard case .notLookedUp = known else { return lookUp(needed.executables, known, of: call, responder) }
        responder.withSocket { socket in
            let held = socket.flatMap {
                HeldProcess(socket: $0, pid: responder.peer.pid, connectedAt: responder.acceptedAt)
            }
            guard let held else { return lookUp(needed.executables, .lookedUp(.nothing, [:]), of: call, responder) }
            // This is the socket's thread: looking at an executable may block.
            Self.callers.run(held.pid, { held.look() }) { look in
                // Another connection of the process may have had it looked up. It is the same process if this one lives.
                let process: CallingProcess?? = look.map { held.isAlive ? $0 : nil }
                lookUp(needed.executables, .lookedUp(Caller.Look(process), [:]), of: call, responder)
            }
        }
    }

    private func lookUp(_ executables: [String], _ known: Caller, of call: VarlinkCall, _ responder: VarlinkResponder) {
        guard case .lookedUp(let process, let files) = known else { return }
        guard let path = executables.first(where: { files[$0] == nil }) else {
            return coordinator.queue.async { [coordinator] in
                coordinator.assumeIsolated { answer(call, responder, from: known, on: $0) }
            }
        }
        Self.executables.run(path, { FileIdentity(path: path) }) { identity in
            var files = files
            files[path] = Caller.Look(identity)
            lookUp(executables, .lookedUp(process, files), of: call, responder)
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
