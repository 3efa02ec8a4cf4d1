internal import AccountStorage
internal import AuthRefreshInterface
internal import Basics
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
/// the account gets another grant, is renamed or removed. `ApplyAccounts` is judged as the additions, changes and
/// removals that it consists of.
///
/// All this is judged in one step before the call is answered, in the same turn of the queue. So the lists are those of
/// that moment, whatever they were when the look-up began.
extension RefreshCoordinator {
    /// An ID token tells who signed in, so it is for the callers of tokens.
    func missing(forSignIn asked: StartSignIn.Parameters, by caller: Caller) throws(VarlinkError) -> Caller.Missing? {
        guard try !SignInRequest(asked).responseType.hasCode else { return nil }
        return try missing(for: asked.account, wanting: .tokens(host: nil), by: caller)
    }

    func missing(forSignOut asked: SignOut.Parameters, by caller: Caller) throws(VarlinkError) -> Caller.Missing? {
        // The URL that ends the session contains the ID token.
        if asked.endSession ?? false,
            let missing = try missing(for: asked.account, wanting: .tokens(host: nil), by: caller)
        {
            return missing
        }
        guard asked.forget ?? false else { return nil }
        try asked.checkIsForHere(account(asked.account))
        return try missing(consentTo: .removal, of: asked.account, by: caller)
    }

    func missing(forAddition asked: AddAccount.Parameters, by caller: Caller) throws(VarlinkError) -> Caller.Missing? {
        try missing(forAdding: newAccount(asked), asked, by: caller)
    }

    private func missing(
        forAdding new: NewAccount,
        _ asked: AddAccount.Parameters,
        among added: [String: Account] = [:],
        by caller: Caller
    ) throws(VarlinkError) -> Caller.Missing? {
        if let missing = new.allowedCallers?.missing(of: caller, replacing: nil) { return missing }
        guard let terms = new.registration.serviceGrant?.exchange else { return nil }
        if let missing = caller.missing() { return missing }
        // Nobody is asked about a source for an account that cannot be added.
        try checkAddition(of: new, asked, by: caller)
        _ = try caller.program(for: new.name)
        for source in terms.sources {
            let name = source.account.text
            if let missing = try missing(for: name, wanting: .derivation(of: new.name), by: caller) { return missing }
            _ = try id(of: source, for: new, among: added)
        }
        return nil
    }

    func missing(forUpdate asked: UpdateAccount.Parameters, by caller: Caller) throws(VarlinkError) -> Caller.Missing? {
        let request = ConfirmationQuestion.Request.change(settings: asked.changedFields)
        if let missing = try missing(for: asked.account, wanting: request, by: caller) { return missing }
        let account = try account(asked.account).account
        return try missing(forChanging: account, to: changed(account, by: asked), by: caller)
    }

    /// Judges a caller that the account's own list allows.
    private func missing(
        forChanging account: Account,
        to changed: @autoclosure () throws(VarlinkError) -> Account,
        by caller: Caller
    ) throws(VarlinkError) -> Caller.Missing? {
        if let missing = try missing(forSourcesOf: account, by: caller) { return missing }
        let changed = try changed()
        if let missing = changed.allowedCallers?.missing(of: caller, replacing: account.allowedCallers) {
            return missing
        }
        return changed.registration.serviceGrant?.exchange == nil ? nil : caller.missing()
    }

    /// Nobody is asked before everything else is known to be right.
    func missing(
        forApplication asked: ApplyAccounts.Parameters,
        by caller: Caller
    ) throws(VarlinkError) -> Caller.Missing? {
        let plan = try plan(asked)
        var caller = caller
        caller.asksNobody = asked.dryRun ?? false
        for new in plan.additions {
            if let missing = try missing(forAdding: new.account, new.asked, among: plan.added, by: caller) {
                return missing
            }
        }
        for change in plan.changes {
            let name = change.before.account.name.text
            let request = ConfirmationQuestion.Request.change(settings: change.fields)
            if let missing = try missing(for: name, wanting: request, by: caller) { return missing }
            if let missing = try missing(forChanging: change.before.account, to: change.after, by: caller) {
                return missing
            }
        }
        for account in plan.removals {
            if let missing = try missing(consentTo: .removal, of: account.name.text, by: caller) { return missing }
        }
        return nil
    }

    /// Judges a caller by the list of an account, and asks the user if required.
    ///
    /// - Parameter request: what the caller wants; nil if it gets no secret and does not say where one is sent, so that
    ///   the user is not asked.
    /// - Returns: as `admit`; nil also if there is no such account.
    func missing(
        for name: String,
        wanting request: ConfirmationQuestion.Request?,
        by caller: Caller
    ) throws(VarlinkError) -> Caller.Missing? {
        guard let (account, allowed) = try stored(store.allowedCallers(named: name)) else { return nil }
        return try missing(for: account, allowing: allowed, wanting: request, by: caller)
    }

    /// Asks the user before a call that every program may make, if the account named `name` requires that.
    func missing(
        consentTo request: ConfirmationQuestion.Request,
        of name: String,
        by caller: Caller
    ) throws(VarlinkError) -> Caller.Missing? {
        guard let (account, allowed) = try stored(store.allowedCallers(named: name)), allowed.asksFirst else {
            return nil
        }
        return try caller.missing(consentTo: ConfirmationQuestion(account: account, request: request))
    }

    /// Judges a caller by `allowed`, the list of `account`, and asks the user if required.
    func missing(
        for account: AccountName,
        allowing allowed: AllowedCallers,
        wanting request: ConfirmationQuestion.Request?,
        by caller: Caller
    ) throws(VarlinkError) -> Caller.Missing? {
        if !allowed.isEverybody {
            if let missing = caller.missing(allowed.executables) { return missing }
            switch allowed.verdict(on: caller) {
            case .allowed: break
            case .unknown:
                throw TemporarilyUnavailableError(
                    account: account.text,
                    reason: "the file system of the caller's executable, or of one on the account's list, does not "
                        + "answer"
                ).error
            case .refused:
                let complaint = PermissionDeniedError(
                    reason: "'\(account)' is for \(allowed) only; \(caller.description)",
                    hint: "call from there; only from there can the list be changed "
                        + "('\(Command("account", "edit", account.text))'), "
                        + "or remove the account with '\(Command("account", "remove", account.text))' and add it again"
                )
                changeLog.denied(complaint.reason, of: account)
                throw complaint.error
            }
        }
        guard allowed.asksFirst, let request else { return nil }
        return try caller.missing(consentTo: ConfirmationQuestion(account: account, request: request))
    }
}

extension Caller {
    /// Checks the list of allowed callers that a call sets. A wrong one locks out its owner.
    ///
    /// - Parameters:
    ///   - executables: the executables that the call names; nil for none.
    ///   - previous: the account's list until now; nil if the account is new, or if every process is allowed.
    ///   - withoutCaller: whether the caller may be missing on the list.
    /// - Throws: `InvalidSettings` if the daemon cannot see the executables of callers, if there is no executable file
    ///   at a path, or if the caller is not on the list.
    func checkList(
        _ list: AllowedCallers?,
        naming executables: [String]?,
        replacing previous: AllowedCallers?,
        withoutCaller: Bool
    ) throws(VarlinkError) {
        guard let list, list.isNew(after: previous) else { return }
        if executables?.isEmpty == false {
            if case .hanging? = process {
                throw Complaint(
                    field: "allowedExecutables",
                    "the file system of your own executable does not answer",
                    hint: "try again later"
                ).error
            }
            if case .found(let process)? = process, process.file == nil {
                throw Self.unseenExecutable(of: process).error
            }
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
        guard !withoutCaller, list.verdict(on: self) != .allowed else { return }
        throw Complaint(
            field: "withoutCaller",
            "\(description), and is not on it",
            hint: "only programs on the list can then get the account's tokens and change the list; if you want that, "
                + "add --yes"
        ).error
    }

    /// The complaint if the sandbox hides which executable `caller` runs.
    private static func unseenExecutable(of caller: PeerProcess) -> Complaint {
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

    /// The program that sets up `account`; nil if it has ended.
    ///
    /// - Throws: `TemporarilyUnavailable` if it cannot be looked up now.
    func program(for account: AccountName) throws(VarlinkError) -> SeenProgram? {
        switch process {
        case .found(let process)?: return SeenProgram(process)
        case .nothing?, nil: return nil
        case .hanging?:
            throw TemporarilyUnavailableError(
                account: account.text,
                reason: "the file system of the caller's executable does not answer"
            ).error
        }
    }

    /// What has to be asked; nil if the user has agreed.
    ///
    /// - Throws: `PermissionDenied` if the user said no; `LimitExceeded`.
    fileprivate func missing(consentTo question: ConfirmationQuestion) throws(VarlinkError) -> Missing? {
        guard !asksNobody else { return nil }
        guard let outcome = answers[question] else { return .answer(to: question) }
        let account = question.account
        switch outcome {
        case .allowed: return nil
        case .denied:
            throw PermissionDeniedError(
                reason: "you denied this on your desktop, where '\(account)' asks first",
                hint: "ask again in a minute"
            ).error
        case .unanswered:
            throw PermissionDeniedError(
                reason: "nobody answered the question on your desktop, where '\(account)' asks first",
                hint: "answer the notification on your desktop"
            ).error
        case .noAgent:
            throw PermissionDeniedError(
                reason: "'\(account)' needs your consent on the desktop, and authagent, which would ask you, is not "
                    + "running",
                hint: Hint(Command(program: "systemctl", "--user", "start", "authrefresh-agent"))
            ).error
        case .tooMany(let crowding): throw LimitExceededError(.confirmations, crowding).error
        }
    }

    /// The process that called, as a refusal and the journal describe it.
    fileprivate var description: String {
        guard case .found(let process)? = process else { return "the caller ended before the daemon could identify it" }
        let executable = process.executable.map { "runs '\($0)'" } ?? "runs an executable that the daemon cannot see"
        let unit = process.unit.map { "in the unit '\($0)'" } ?? "in no unit"
        return "the caller (pid \(process.pid)) \(executable) \(unit)"
    }
}

extension AllowedCallers {
    fileprivate enum Verdict { case allowed, refused, unknown }

    /// Whether a call sets this list. `previous` is the list until now; nil if every process was allowed.
    fileprivate func isNew(after previous: AllowedCallers?) -> Bool {
        !isEverybody && (units != previous?.units ?? [] || executables != previous?.executables ?? [])
    }

    /// What has to be found out about the caller that sets this list; nil if nothing.
    fileprivate func missing(of caller: Caller, replacing previous: AllowedCallers?) -> Caller.Missing? {
        isNew(after: previous) ? caller.missing(executables) : nil
    }

    /// Whether a process is on the lists. Executables are compared as files, because in its own mount namespace a
    /// caller can give any path to its executable.
    fileprivate func verdict(on caller: Caller) -> Verdict {
        switch caller.process {
        case .hanging?: return .unknown
        case .nothing?, nil: return .refused
        case .found(let process)?:
            if let unit = process.unit, units.contains(unit) { return .allowed }
            guard let file = process.file else { return .refused }
            // A match counts, even if other look-ups hang.
            var verdict = Verdict.refused
            for path in executables {
                switch caller.files[path] {
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
    init(_ process: PeerProcess) {
        self.init(unit: process.unit, executable: process.path)
    }
}
