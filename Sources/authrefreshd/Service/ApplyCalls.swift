internal import AccountStorage
internal import AuthRefreshInterface
internal import Basics
internal import Foundation
internal import OAuthMessages
internal import RefreshCore
internal import Varlink

/// What a call of `ApplyAccounts` comes to, with the accounts as they are now.
struct AccountsPlan {
    struct Change {
        let before: AccountSnapshot
        let asked: UpdateAccount.Parameters
        let after: Account
        /// The names of the settings and secrets that differ.
        let fields: [String]
    }

    /// The new accounts, each after those that it is derived from. They have the numbers that they will get.
    private(set) var additions: [(account: NewAccount, asked: AddAccount.Parameters)] = []
    var changes: [Change] = []
    var removals: [Account] = []
    var outcomes: [AppliedAccount] = []

    /// The new accounts by name.
    private(set) var added: [String: Account] = [:]

    mutating func add(_ account: NewAccount, _ asked: AddAccount.Parameters) {
        additions.append((account, asked))
        added[account.name.text] = account.account
    }
}

/// The call that gives accounts the settings of a file.
extension RefreshCoordinator {
    func applyAccounts(
        _ asked: ApplyAccounts.Parameters,
        _ responder: VarlinkResponder,
        by caller: Caller
    ) throws(VarlinkError) {
        let plan = try plan(asked)
        var roster = RosterChange(removed: plan.removals.map(\.id))
        for (new, asked) in plan.additions {
            var new = new
            try naming(new.name.text) { () throws(VarlinkError) in
                try checkAddition(of: new, asked, by: caller)
                try bindSources(of: &new, to: caller)
            }
            roster.added.append(new)
        }
        var arrivals: [QueuedEvent] = []
        for change in plan.changes {
            let account = change.before.account
            let settings = try naming(account.name.text) { () throws(VarlinkError) in
                try settingsChange(change.asked, of: account, by: caller)
            }
            arrivals.append(QueuedEvent(settings, of: account))
            guard change.fields.contains("forgetAfterSec"), change.endsGrant else { continue }
            arrivals.append(QueuedEvent(account: account.id, event: .host(.signOutReached)))
        }
        let reply = ApplyAccounts.Reply(accounts: plan.outcomes)
        guard asked.dryRun != true else { return responder.reply(reply) }
        let concerned = plan.removals + plan.changes.flatMap { [$0.before.account, $0.after] }
        let files = concerned.map { tokenFiles.file(of: $0.id) } + plan.changes.map(\.after.delivery.file)
        try stored(apply(arrivals, with: roster))
        tokenFiles.whenSettled(files) { responder.reply(reply) }
    }

    /// Compares the accounts of a call with those in the store.
    ///
    /// - Throws: what is wrong with the call, whoever makes it.
    func plan(_ asked: ApplyAccounts.Parameters) throws(VarlinkError) -> AccountsPlan {
        try Limit.page.check(asked.accounts.count, atMost: CallerLimits.appliedAccountsMax)
        var plan = AccountsPlan()
        var names: Set<String> = []
        var missing: [DescribedAccount] = []
        var shownBytes = 0
        for described in asked.accounts {
            let name = described.settings.name
            guard names.insert(name).inserted else {
                throw Complaint(field: "name", "the account is described twice").error.naming(name)
            }
            var outcome = AppliedAccount(account: name, outcome: "unchanged")
            switch try stored(shownAccount(named: name)) {
            case .damaged(let account)?: throw VarlinkError(account)
            case nil:
                missing.append(described)
                outcome.outcome = "added"
            case .whole(let snapshot)?:
                let change = try naming(name) { () throws(VarlinkError) in
                    try self.change(of: snapshot, to: described, asked)
                }
                guard let change else { break }
                plan.changes.append(change)
                (outcome.outcome, outcome.settings) = ("changed", change.fields)
                // The reply has a limit, and the names of the settings say enough.
                guard asked.dryRun == true, shownBytes <= CallerLimits.pageBytesMax else { break }
                (outcome.before, outcome.after) = (AccountSettings(snapshot.account), AccountSettings(change.after))
                shownBytes += WireJSON.encode(outcome).count
            }
            plan.outcomes.append(outcome)
        }
        if asked.prune == true { try addRemovals(besides: names, asked, to: &plan) }
        try add(missing, asked, to: &plan)
        try checkTogether(plan)
        return plan
    }

    /// The change that gives an account the described settings; nil if it has them.
    private func change(
        of snapshot: AccountSnapshot,
        to described: DescribedAccount,
        _ asked: ApplyAccounts.Parameters
    ) throws(VarlinkError) -> AccountsPlan.Change? {
        let account = snapshot.account
        let (registration, present) = (account.registration, AccountSettings(account))
        let hasSecret = described.clientSecret.map { $0 == registration.clientSecret?.reveal() } ?? true
        let hasKey = described.clientKey.map { $0 == registration.clientKey?.reveal() } ?? true
        // What is in force needs no check: an export of it always fits.
        guard described.settings != present || !hasSecret || !hasKey else { return nil }
        let wanted = try normal(described, for: account, present)
        for setting in Setting.all where setting.change == .none && wanted[setting] != present[setting] {
            throw Complaint(
                field: setting.name,
                "it is set when the account is added, and cannot be changed",
                hint: Hint(Command("account", "remove", present.name))
            ).error
        }
        var update = UpdateAccount.Parameters(account: present.name)
        update.settings = wanted
        update.clear = Setting.changeable.filter { $0.change == .any && wanted[$0] == nil }.map(\.name)
        // The only list of variables that clears them is an empty one.
        update.settings.variables = wanted.provider == nil ? nil : wanted.variables ?? [:]
        // An earlier version may have accepted it.
        if wanted.loginBrowser == present.loginBrowser { update.settings.loginBrowser = nil }
        update.clear?.removeAll { $0 == "loginBrowser" && wanted.loginBrowser == present.loginBrowser }
        (update.clientSecret, update.clientKey) = (described.clientSecret, described.clientKey)
        (update.signOutNow, update.withoutCaller) = (asked.signOutNow, asked.withoutCaller)
        let after = try changed(account, by: update)
        let settings = AccountSettings(after)
        var fields = Setting.all.filter { settings[$0] != present[$0] }.map(\.name)
        if after.registration.clientSecret != registration.clientSecret { fields.append("clientSecret") }
        if after.registration.clientKey != registration.clientKey { fields.append("clientKey") }
        guard !fields.isEmpty else { return nil }
        try refuseMove(of: snapshot, to: after)
        if fields.contains("forgetAfterSec") { try refuseEnd(of: snapshot, by: update) }
        return AccountsPlan.Change(before: snapshot, asked: update, after: after, fields: fields)
    }

    /// The described settings as the store has them: checked, with what a new account gets where nothing is said.
    private func normal(
        _ described: DescribedAccount,
        for account: Account,
        _ present: AccountSettings
    ) throws(VarlinkError) -> AccountSettings {
        var asked = described.settings
        let keepsBrowser = asked.loginBrowser == present.loginBrowser
        if keepsBrowser { asked.loginBrowser = nil }
        let registration = account.registration
        var draft = try SettingsReader(profiles: settings.profiles).draft(
            asked,
            clientSecret: described.clientSecret ?? registration.clientSecret?.reveal(),
            clientKey: described.clientKey ?? registration.clientKey?.reveal(),
            dpopKey: asked.dpop == true ? registration.dpopKey : nil
        )
        // An account that never had a redirect URI of its own does not get one now: its client is registered without.
        if present.redirectUri != nil { giveOwnRedirect(to: &draft) }
        var wanted = AccountSettings(draft.account)
        if keepsBrowser { wanted.loginBrowser = present.loginBrowser }
        return wanted
    }

    private func giveOwnRedirect(to new: inout NewAccount) {
        let signIn = settings.profile(for: new.account)?.signIn
        guard let own = RedirectChoice.own(for: new.account, profile: signIn, isRegistering: false) else { return }
        new.registration.redirect.uri = own
    }

    /// Adds the missing accounts to a plan, each after those that it is derived from.
    private func add(
        _ missing: [DescribedAccount],
        _ asked: ApplyAccounts.Parameters,
        to plan: inout AccountsPlan
    ) throws(VarlinkError) {
        let last = try stored(store.lastAccount())
        var left = missing
        while !left.isEmpty {
            let unknown = Set(left.map(\.settings.name))
            let ready = left.filter { unknown.isDisjoint(with: $0.settings.sources) }
            guard !ready.isEmpty else { throw Self.circle(in: left.map(\.settings)) }
            for described in ready {
                let parameters = AddAccount.Parameters(
                    settings: described.settings,
                    clientSecret: described.clientSecret,
                    clientKey: described.clientKey,
                    withoutCaller: asked.withoutCaller
                )
                let new = try naming(described.settings.name) { () throws(VarlinkError) in
                    var new = try newAccount(parameters)
                    try findSources(of: &new, among: plan.added)
                    giveOwnRedirect(to: &new)
                    new.account.id = AccountID(last.rawValue + Int64(plan.additions.count) + 1)
                    return new
                }
                plan.add(new, parameters)
            }
            left.removeAll { plan.added[$0.settings.name] != nil }
        }
    }

    /// The error of an account that is derived from itself, maybe by way of others. Each of `left` is derived from
    /// another one of them, and need not be in the circle itself.
    private static func circle(in left: [AccountSettings]) -> VarlinkError {
        let named = Dictionary(left.map { ($0.name, $0) }) { first, _ in first }
        let source = { (account: AccountSettings) -> (field: String, account: AccountSettings)? in
            if let subject = account.subjectAccount.flatMap({ named[$0] }) { return ("subjectAccount", subject) }
            return account.actorAccount.flatMap { named[$0] }.map { ("actorAccount", $0) }
        }
        var passed: Set<String> = []
        var account = left[0]
        while passed.insert(account.name).inserted, let next = source(account) { account = next.account }
        let field = source(account)?.field ?? "subjectAccount"
        return Complaint(field: field, "the account would be derived from itself").error.naming(account.name)
    }

    /// Adds the accounts to a plan that the call does not name. One that cannot be read stays: it may be readable again,
    /// and nobody can have seen its settings.
    private func addRemovals(
        besides names: Set<String>,
        _ asked: ApplyAccounts.Parameters,
        to plan: inout AccountsPlan
    ) throws(VarlinkError) {
        for described in asked.accounts {
            for source in described.settings.sources where !names.contains(source) {
                throw Complaint(
                    field: "subjectAccount",
                    "'\(source)' is not described, so it would be removed"
                ).error.naming(described.settings.name)
            }
        }
        var last = ""
        while true {
            let page = try stored(store.names(after: last, limit: Interface.largestPage))
            for name in page where !names.contains(name) {
                guard case .whole(let snapshot)? = try stored(shownAccount(named: name)) else { continue }
                plan.removals.append(snapshot.account)
                plan.outcomes.append(AppliedAccount(account: name, outcome: "removed"))
                try Limit.page.check(plan.removals.count, atMost: CallerLimits.appliedAccountsMax)
            }
            guard let name = page.last else { return }
            last = name
        }
    }

    /// Checks what each account alone cannot know.
    private func checkTogether(_ plan: AccountsPlan) throws(VarlinkError) {
        let accounts = plan.additions.map(\.account.account) + plan.changes.map(\.after)
        var owners: [String: AccountName] = [:]
        for account in accounts {
            guard let file = account.delivery.file?.name else { continue }
            guard let owner = owners.updateValue(account.name, forKey: file) else { continue }
            throw Complaint(
                field: "tokenFile",
                "'\(file)' is also the token file of '\(owner)'"
            ).error.naming(account.name.text)
        }
        let newFiles = accounts.count { $0.delivery.file != nil && !tokenFiles.contains($0.id) }
        if newFiles > 0 { try checkRoom(forTokenFiles: newFiles) }
        if !plan.additions.isEmpty { try checkRoom(for: plan.additions.count) }
        let terms = plan.additions.compactMap(\.account.registration.serviceGrant?.exchange)
        let sources = terms.flatMap { Set($0.sources.compactMap(\.id)) }
        for (source, derived) in Dictionary(grouping: sources, by: \.self) {
            try checkRoom(for: derived.count, derivedFrom: source)
        }
    }

    /// Adds the account's name to the errors of `body` that are about one of its settings.
    private func naming<Result>(
        _ account: String,
        _ body: () throws(VarlinkError) -> Result
    ) throws(VarlinkError) -> Result {
        do throws(VarlinkError) {
            return try body()
        } catch {
            throw error.naming(account)
        }
    }
}

extension AccountsPlan.Change {
    /// Whether the account's last sign-in is longer ago than its new settings allow.
    fileprivate var endsGrant: Bool {
        before.state.wouldSignOut(after: after.policy.forgetAfter, at: before.at)
    }
}

extension AccountSettings {
    /// The accounts that this one's token is derived from.
    fileprivate var sources: [String] { [subjectAccount, actorAccount].compactMap(\.self) }
}

extension VarlinkError {
    /// This error with the name of the account that has the invalid setting; itself if it is another error.
    fileprivate func naming(_ account: String) -> VarlinkError {
        guard name == InvalidSettingsError.name,
            var invalid = try? JSONDecoder().decode(InvalidSettingsError.self, from: Data(parameters))
        else { return self }
        invalid.account = account
        return invalid.error
    }
}
