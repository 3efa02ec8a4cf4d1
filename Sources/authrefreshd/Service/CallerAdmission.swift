internal import AccountStorage
internal import AuthRefreshInterface
internal import RefreshCore
internal import Systemd
internal import Varlink

/// Whose secrets are whose: the accounts' allow lists.
///
/// What hands a secret out, spends one, speaks about one, or says where one is sent is for the allowed callers: `AcquireToken`, `Refresh`,
/// `ProvePossession`, `ReportRejected`, `ExportGrant`, `UpdateAccount`. Before all of these but `Refresh` and `ReportRejected`, the user
/// is asked where the account says so. Everybody else of this user may see the account, sign in, bring a
/// grant in, and take the account away: none of that gives a secret to anyone, and a person at a terminal has to be able to
/// mend what needs them.
extension DutyCalls {
    /// Lets a caller pass who is on `allowed`, the list of `account`, once the user has said yes if they are to be asked.
    ///
    /// - Returns: false if something has to be found out of the caller first.
    /// - Throws: `PermissionDenied` for one that is not on the list, and without the user's yes; `TemporarilyUnavailable` if that cannot
    ///   be found out now.
    func admit(
        _ caller: Caller,
        to account: AccountName,
        by allowed: AllowedCallers,
        isGiven: Bool = true,
        on coordinator: isolated RefreshCoordinator
    ) throws(VarlinkError) -> Bool {
        guard isGiven || !allowed.isEverybody else { return true }
        guard let (look, files) = caller.look(at: allowed.executables) else { return false }
        switch allowed.verdict(on: look, files) {
        case .allowed:
            guard allowed.asksFirst, isGiven else { return true }
            return try confirm(SeenProgram(look), for: account, caller)
        case .unknown:
            throw VarlinkError(TemporarilyUnavailableError(.listHangs, of: account.text))
        case .refused: break
        }
        let caller = Self.description(of: look)
        let denial = Denial.notOnList(account: account, allowed: "\(allowed)", caller: caller)
        coordinator.changeLog.denied(denial.reason, of: account)
        throw VarlinkError(denial.error)
    }

    /// A list of executables that this daemon will never be able to match locks everybody out.
    ///
    /// - Returns: false if the caller has to be looked up first.
    /// - Throws: `InvalidSettings` if not even the executable of the one who writes the list can be seen.
    func checkVisibility(of executables: [String]?, from caller: Caller) throws(VarlinkError) -> Bool {
        guard executables?.isEmpty == false else { return true }
        guard let (look, _) = caller.look() else { return false }
        if case .hanging = look { throw .invalid(WrongDelivery.executableHangs) }
        guard case .found(let process) = look, process.file == nil else { return true }
        throw .invalid(WrongDelivery.executableUnseen(pid: process.pid, dropIn: Self.dropIn))
    }

    /// Where the installation that runs has the drop-in: the package's is everybody's.
    private static var dropIn: String {
        let isPackaged = ProgramCheck()?.program.hasPrefix("/usr/bin/") == true
        return (isPackaged ? "/usr" : "~/.local") + "/share/authrefreshd/see-executables.conf"
    }

    /// The program that calls, to set up `account`; nil if it has to be looked up first.
    ///
    /// - Throws: `TemporarilyUnavailable` if it cannot be looked at now.
    func program(of caller: Caller, for account: AccountName) throws(VarlinkError) -> CallingProgram? {
        guard let (look, _) = caller.look() else { return nil }
        switch look {
        case .found(let process): return CallingProgram(seen: SeenProgram(process))
        case .nothing: return CallingProgram(seen: nil)
        case .hanging:
            throw VarlinkError(TemporarilyUnavailableError(.callerHangs, of: account.text))
        }
    }

    private static func description(of look: Caller.Look<CallingProcess>) -> String {
        guard case .found(let process) = look else { return "the caller ended before the daemon could identify it" }
        let executable = process.executable.map { "runs '\($0)'" } ?? "runs an executable that the daemon cannot see"
        let unit = process.unit.map { "in the unit '\($0)'" } ?? "in no unit"
        return "the caller (pid \(process.pid)) \(executable) \(unit)"
    }
}

/// The program that calls.
struct CallingProgram {
    /// Nil if it has ended.
    let seen: SeenProgram?
}

extension AllowedCallers {
    fileprivate enum Verdict { case allowed, refused, unknown }

    /// Whether a process is one of them. Executables are compared as files: a path can be made to look like another in a mount namespace
    /// of the caller's own.
    fileprivate func verdict(
        on look: Caller.Look<CallingProcess>,
        _ files: [String: Caller.Look<FileIdentity>]
    ) -> Verdict {
        guard !isEverybody else { return .allowed }
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

    fileprivate init(_ look: Caller.Look<CallingProcess>) {
        switch look {
        case .found(let process): self.init(process)
        case .nothing, .hanging: self.init(unit: nil, executable: nil)
        }
    }
}
