internal import AccountStorage
internal import AuthRefreshInterface
internal import CommandLineProgram
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
extension RefreshCoordinator {
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
        wanting request: ConfirmationQuestion.Request?
    ) throws(VarlinkError) -> Bool {
        if !allowed.isEverybody {
            guard let (look, files) = caller.look(at: allowed.executables) else { return false }
            switch allowed.verdict(on: look, files) {
            case .allowed: break
            case .unknown:
                throw Complaint(
                    .noTokenNow(of: account.text),
                    "the file system of the caller's executable, or of one on the account's list, does not answer"
                ).error
            case .refused:
                let complaint = Complaint(
                    .denied,
                    "'\(account)' is for \(allowed) only; \(Self.description(of: look))",
                    hint: "call from there; only from there can the list be changed "
                        + "('\(Command("account", "edit", account.text))'), "
                        + "or remove the account with '\(Command("account", "remove", account.text))' and add it again"
                )
                changeLog.denied(complaint.reason, of: account)
                throw complaint.error
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
            if case .hanging = look {
                throw Complaint(
                    field: "allowedExecutables",
                    "the file system of your own executable does not answer",
                    hint: "try again later"
                ).error
            }
            if case .found(let process) = look, process.file == nil { throw Self.unseenExecutable(of: process).error }
        }
        for path in executables ?? [] {
            switch files[path] {
            case .found: continue
            case .hanging:
                throw Complaint(
                    field: "allowedExecutables",
                    "the file system of '\(path)' does not answer",
                    hint: "try again later"
                ).error
            case .nothing, nil:
                throw Complaint(
                    field: "allowedExecutables",
                    "'\(path)' is not an executable file",
                    hint: Hint(Command(program: "command", "-v", "NAME"))
                ).error
            }
        }
        guard !withoutCaller, list.verdict(on: look, files) != .allowed else { return true }
        throw Complaint(
            field: "withoutCaller",
            "\(Self.description(of: look)), and is not on it",
            hint: "only programs on the list can then get the account's tokens and change the list; if you want that, "
                + "add --yes"
        ).error
    }

    /// The complaint if the sandbox hides which executable `caller` runs.
    private static func unseenExecutable(of caller: CallingProcess) -> Complaint {
        // The package's drop-in is for all users.
        let isPackaged = ProgramCheck()?.program.hasPrefix("/usr/bin/") == true
        let dropIn = (isPackaged ? "/usr" : "~/.local") + "/share/authrefreshd/see-executables.conf"
        let folder = "~/.config/systemd/user/authrefreshd.service.d"
        return Complaint(
            field: "allowedExecutables",
            "the daemon cannot see which executable a caller runs, not even yours (pid \(caller.pid))",
            hint: "allow systemd units instead, or install the drop-in see-executables.conf: "
                + "\(Command(program: "mkdir", "-p", folder)) && "
                + "\(Command(program: "ln", "-s", dropIn, folder + "/")) && "
                + "\(Command(program: "systemctl", "--user", "daemon-reload")) && "
                + "\(Command(program: "systemctl", "--user", "restart", "authrefreshd"))"
        )
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
            throw Complaint(
                .noTokenNow(of: account.text),
                "the file system of the caller's executable does not answer"
            ).error
        }
    }

    /// The process that called, as a refusal and the journal describe it.
    private static func description(of look: Caller.Look<CallingProcess>) -> String {
        guard case .found(let process) = look else { return "the caller ended before the daemon could identify it" }
        let executable = process.executable.map { "runs '\($0)'" } ?? "runs an executable that the daemon cannot see"
        let unit = process.unit.map { "in the unit '\($0)'" } ?? "in no unit"
        return "the caller (pid \(process.pid)) \(executable) \(unit)"
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
