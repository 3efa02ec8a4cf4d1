internal import AuthRefreshInterface
internal import Dispatch
internal import RefreshCore
internal import Systemd
internal import Varlink

/// Who calls. Finding it out costs some system calls, so it is done when an account asks for it, and the call answered anew.
enum Caller {
    case notLookedUp
    /// Nil: it had ended before it could be looked at.
    case process(CallingProcess?)
}

/// Whose secrets are whose: the accounts' allow lists.
///
/// What hands a secret out, spends one, speaks about one, or says where one is sent is for the allowed callers: `AcquireToken`, `Refresh`,
/// `ProvePossession`, `ReportRejected`, `ExportGrant`, `UpdateAccount`. Everybody else of this user may see the account, sign in, bring a
/// grant in, and take the account away: none of that gives a secret to anyone, and a person at a terminal has to be able to
/// mend what needs them.
extension AuthRefreshService {
    /// Thrown, before anything has been done, to have the caller looked up.
    struct CallerNeeded: Error {}

    /// - Throws: `CallerNeeded` if that is not known; `PermissionDenied` for one that is not on `allowed`, the list of `account`.
    func admit(
        _ caller: Caller,
        to account: AccountName,
        by allowed: AllowedCallers,
        on coordinator: isolated RefreshCoordinator
    ) throws {
        guard case .process(let process) = caller else { throw CallerNeeded() }
        if let process, allowed.contains(process) { return }
        let refusal = PermissionDeniedError(
            reason: "'\(account)' is for \(allowed) only; \(Self.description(of: process, allowed))",
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
        guard case .process(let process) = caller else { throw CallerNeeded() }
        guard let process, process.file == nil else { return }
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

    /// Looks the caller up, and answers its call anew.
    func lookUpCaller(of call: VarlinkCall, _ responder: VarlinkResponder) {
        responder.withSocket { [coordinator] socket in
            let process = socket.flatMap {
                CallingProcess(socket: $0, pid: responder.peer.pid, connectedAt: responder.acceptedAt)
            }
            coordinator.queue.async {
                coordinator.assumeIsolated { answer(call, responder, from: .process(process), on: $0) }
            }
        }
    }

    private static func description(of process: CallingProcess?, _ allowed: AllowedCallers) -> String {
        guard let process else { return "the caller had ended before it could be looked at" }
        let executable = process.executable.map { "runs '\($0)'" } ?? "runs an executable that the daemon cannot see"
        let unit = process.unit.map { "in the unit '\($0)'" } ?? "in no unit"
        return "the caller (pid \(process.pid)) \(executable) \(unit)"
    }
}

extension AllowedCallers {
    /// Whether `process` is one of them. Executables are compared as files: a path can be made to look like another in a mount
    /// namespace of the caller's own.
    func contains(_ process: CallingProcess) -> Bool {
        if let unit = process.unit, units.contains(unit) { return true }
        guard let file = process.file else { return false }
        return executables.contains { FileIdentity(path: $0) == file }
    }

    /// Whether `program` is one of them. It may have ended long ago, and an upgrade may have replaced its file, so executables are
    /// compared by their paths. Symbolic links count in the list only: one in the place of a program makes it no other program.
    func contains(_ program: SeenProgram) -> Bool {
        if let unit = program.unit, units.contains(unit) { return true }
        guard let executable = program.executable else { return false }
        return executables.contains { FileIdentity.path(behind: $0) == executable }
    }
}

extension SeenProgram {
    init(_ process: CallingProcess) {
        let path = process.executable.flatMap(FileIdentity.path(behind:))
        let isSame = process.file != nil && path.flatMap(FileIdentity.init(path:)) == process.file
        self.init(unit: process.unit, executable: isSame ? path : nil)
    }
}
