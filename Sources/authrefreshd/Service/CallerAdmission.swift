internal import AccountStorage
internal import AuthRefreshInterface
internal import RefreshCore
internal import Systemd
internal import Varlink

/// Decides who may use whose secrets, by the accounts' allow lists.
///
/// Calls that return a secret, spend one, make a statement about one, or say where one is sent are only for allowed
/// callers: `AcquireToken`, `Refresh`, `ProvePossession`, `ReportRejected`, `ExportGrant`, `UpdateAccount`. Every other
/// process of this user may see the account, sign in, import a grant, and remove the account. None of that gives
/// anybody a secret, and a person at a terminal must be able to fix an account.
///
/// If the account requires it, the user is asked before all of these except `Refresh` and `ReportRejected`, and before
/// the account gets another grant, is renamed or removed.
extension DutyCalls {
    /// Checks whether a caller is on `allowed`, the list of `account`, and asks the user if required.
    ///
    /// - Parameter request: what the caller wants; nil if it gets no secret and does not say where one is sent, so that
    ///   the user is not asked.
    /// - Returns: false if something about the caller has to be found out first.
    /// - Throws: `PermissionDenied` if the caller is not on the list or the user did not agree;
    ///   `TemporarilyUnavailable` if that cannot be found out now.
    func admit(
        _ caller: Caller,
        to account: AccountName,
        by allowed: AllowedCallers,
        wanting request: ConfirmationQuestion.Request?,
        on coordinator: isolated RefreshCoordinator
    ) throws(VarlinkError) -> Bool {
        if !allowed.isEverybody {
            guard let (look, files) = caller.look(at: allowed.executables) else { return false }
            switch allowed.verdict(on: look, files) {
            case .allowed: break
            case .unknown: throw VarlinkError(TemporarilyUnavailableError(.listHangs, of: account.text))
            case .refused:
                let caller = Self.description(of: look)
                let denial = Denial.notOnList(account: account, allowed: "\(allowed)", caller: caller)
                coordinator.changeLog.denied(denial.reason, of: account)
                throw VarlinkError(denial.error)
            }
        }
        guard allowed.asksFirst, let request else { return true }
        return try confirm(request, of: account, caller)
    }

    /// Checks the list of allowed callers that a call sets. A wrong one locks out its owner.
    ///
    /// - Parameters:
    ///   - executables: the executables that the call names; nil for none.
    ///   - previous: the account's list until now; nil if the account is new, or if every process is allowed.
    ///   - withoutCaller: whether the caller may be missing on the list.
    /// - Returns: false if something about the caller has to be found out first.
    /// - Throws: `InvalidSettings` if the daemon cannot see the executables of callers, if there is no executable file
    ///   at a path, or if the caller is not on the list.
    func checkList(
        _ list: AllowedCallers?,
        naming executables: [String]?,
        replacing previous: AllowedCallers?,
        withoutCaller: Bool,
        from caller: Caller
    ) throws(VarlinkError) -> Bool {
        guard let list, !list.isEverybody,
            list.units != previous?.units ?? [] || list.executables != previous?.executables ?? []
        else { return true }
        guard let (look, files) = caller.look(at: list.executables) else { return false }
        if executables?.isEmpty == false {
            if case .hanging = look { throw .invalid(WrongDelivery.executableHangs) }
            if case .found(let process) = look, process.file == nil {
                throw .invalid(WrongDelivery.executableUnseen(pid: process.pid, dropIn: Self.dropIn))
            }
        }
        for path in executables ?? [] {
            switch files[path] {
            case .found: continue
            case .hanging: throw .invalid(WrongDelivery.listedHangs(path))
            case .nothing, nil: throw .invalid(WrongDelivery.noExecutable(path))
            }
        }
        guard !withoutCaller, list.verdict(on: look, files) != .allowed else { return true }
        throw .invalid(WrongDelivery.withoutCaller(Self.description(of: look)))
    }

    /// Where the running installation has the drop-in. The package's drop-in is for all users.
    private static var dropIn: String {
        let isPackaged = ProgramCheck()?.program.hasPrefix("/usr/bin/") == true
        return (isPackaged ? "/usr" : "~/.local") + "/share/authrefreshd/see-executables.conf"
    }

    /// The program that sets up `account`; nil if it has to be looked up first.
    ///
    /// - Throws: `TemporarilyUnavailable` if it cannot be looked up now.
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
        guard case .found(let process) = look else { return CallerText.ended }
        return CallerText.running(process)
    }
}

/// The calling program.
struct CallingProgram {
    /// The program; nil if it has ended.
    let seen: SeenProgram?
}

extension AllowedCallers {
    fileprivate enum Verdict { case allowed, refused, unknown }

    /// Whether a process is on the lists. Executables are compared as files, because in its own mount namespace a
    /// caller can give any path to its executable.
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
            // A match counts, even if other look-ups hang.
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
