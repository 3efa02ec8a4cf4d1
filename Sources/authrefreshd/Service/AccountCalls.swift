internal import AccountStorage
internal import AuthRefreshInterface
internal import Basics
internal import OAuthClient
internal import OAuthMessages
internal import RefreshCore
internal import Varlink

/// The calls about accounts.
extension RefreshCoordinator {
    func getInfo(_: GetInfo.Parameters) throws(VarlinkError) -> GetInfo.Reply {
        let overview = try stored(self.overview())
        return GetInfo.Reply(
            version: Version.text,
            startedAtUSec: startedAt.microseconds,
            accounts: Int64(overview.accounts),
            interactionRequired: Int64(overview.interactionRequired),
            nextDeadlineUSec: overview.nextDeadline?.microseconds,
            online: overview.isOnline,
            trouble: overview.troubleText,
            damaged: overview.damaged > 0 ? Int64(overview.damaged) : nil,
            proxy: client.inspection.proxy.place
        )
    }

    func getStatus(_ asked: GetStatus.Parameters) throws(VarlinkError) -> GetStatus.Reply {
        let now = timebase.now()
        var accounts: [AccountStatus] = []
        let next = try page(asked.accounts, after: asked.after, limit: asked.limit) {
            account throws(VarlinkError) in
            var status = account.wireStatus
            status.accountId = account.id.description
            let targets = try stored(store.targets.records(of: account.id))
            status.tokenSets = targets.isEmpty ? nil : targets.map { TokenSetStatus($0, at: now) }
            if case .whole(let snapshot) = account {
                let facts = snapshot.account.grantFacts
                status.subject = facts.subject
                status.grantedScopes = facts.scope?.granted
                status.keptFields = facts.keptFields.isEmpty ? nil : facts.keptFields
                status.tokenFile = tokenFiles.status(of: snapshot.account)
            }
            accounts.append(status)
            return WireJSON.encode(status).count
        }
        return GetStatus.Reply(accounts: accounts, next: next)
    }

    func listAccounts(_ asked: ListAccounts.Parameters) throws(VarlinkError) -> ListAccounts.Reply {
        var reply = ListAccounts.Reply(accounts: [])
        reply.next = try page(asked.accounts, after: asked.after, limit: asked.limit) { account in
            switch account {
            case .whole(let snapshot):
                let settings = AccountSettings(snapshot.account)
                reply.accounts.append(settings)
                if let person = snapshot.listedPerson {
                    reply.people = (reply.people ?? [:]).merging([settings.name: person]) { $1 }
                }
                return WireJSON.encode(settings).count
            case .damaged(let account):
                reply.damaged = (reply.damaged ?? []) + [account.wireStatus]
                return WireJSON.encode(account.wireStatus).count
            }
        }
        return reply
    }

    /// Changes an account. If there is a refresh token, the settings change together with the grant.
    func updateAccount(
        _ asked: UpdateAccount.Parameters,
        _ responder: VarlinkResponder,
        by caller: Caller
    ) throws(VarlinkError) {
        let snapshot = try account(asked.account)
        let change = try settingsChange(asked, of: snapshot.account, by: caller)
        try refuseMove(of: snapshot, to: change.applied(to: snapshot.account))
        guard asked.register != true else {
            return try replaceClient(of: snapshot, by: change, asked, responder)
        }
        if let text = asked.refreshToken {
            return try swapGrant(of: snapshot, for: text, by: change, responder) { UpdateAccount.Reply($0) }
        }
        try refuseEnd(of: snapshot, by: asked)
        let before = tokenFiles.file(of: snapshot.account.id)
        let (id, mayEnd) = (snapshot.account.id, asked.signOutNow == true)
        guard let updated = try stored(update(id, by: change, mayEnd: mayEnd)) else {
            throw NoSuchAccountError(account: asked.account).error
        }
        // A caller that has set a file name will look for the file next.
        tokenFiles.whenSettled([before, updated.account.delivery.file]) {
            responder.reply(UpdateAccount.Reply(updated))
        }
    }

    /// `account` with the settings that a caller requests.
    func changed(_ account: Account, by asked: UpdateAccount.Parameters) throws(VarlinkError) -> Account {
        try changed(account, by: asked, SettingsReader(profiles: settings.profiles))
    }

    private func changed(
        _ account: Account,
        by asked: UpdateAccount.Parameters,
        _ reader: SettingsReader
    ) throws(VarlinkError) -> Account {
        _ = try asked.clientSecret?.secret(field: "clientSecret")
        _ = try asked.clientKey?.secret(field: "clientKey")
        let changed = try reader.account(account, changedBy: asked)
        try checkTokenFile(changed.delivery.file, of: account.id)
        return changed
    }

    /// The change that a caller requests.
    ///
    /// - Throws: what is wrong with it for the current `account`.
    func settingsChange(
        _ asked: UpdateAccount.Parameters,
        of account: Account,
        by caller: Caller
    ) throws(VarlinkError) -> SettingsChange {
        // The change is computed several times: before the server is asked, and when it is stored. The new key must be
        // the same each time.
        let key = Secret.newDPoPKey()
        let reader = SettingsReader(profiles: settings.profiles, newDPoPKey: { key })
        let changed = try changed(account, by: asked, reader)
        try caller.checkList(
            changed.allowedCallers,
            naming: asked.settings.allowedExecutables,
            replacing: account.allowedCallers,
            withoutCaller: asked.withoutCaller == true
        )
        guard changed.registration.serviceGrant?.exchange == nil else {
            let program = try caller.program(for: changed.name)
            return SettingsChange(byOwner: { account in
                var changed = (try? reader.account(account, changedBy: asked)) ?? changed
                changed.registration.serviceGrant?.exchange?.deriver = program
                return changed
            })
        }
        // The account may have changed since the check. If the change no longer fits, the account gets the checked
        // version.
        return SettingsChange(byOwner: { (try? reader.account($0, changedBy: asked)) ?? changed })
    }

    /// An issuer's tokens and client secret go only to that issuer's endpoints.
    func refuseMove(of snapshot: AccountSnapshot, to changed: Account) throws(VarlinkError) {
        let account = snapshot.account
        let isMoved = ProfileChoice(changed).isElsewhere(than: ProfileChoice(account))
        guard isMoved, snapshot.state.phase != .signedOut else { return }
        let field = changed.issuer != account.issuer ? "issuer" : "provider"
        throw Complaint(
            field: field,
            "the account's grant belongs to '\(account.issuer.url)', and is sent nowhere else",
            hint: "\(Command("logout", account.name.text)) first, or add another account"
        ).error
    }

    /// A change that would end the account's grant at once must say so.
    func refuseEnd(of snapshot: AccountSnapshot, by asked: UpdateAccount.Parameters) throws(VarlinkError) {
        let length = asked.settings.forgetAfterSec.map { Duration.seconds($0) }
        guard asked.signOutNow != true, snapshot.state.wouldSignOut(after: length, at: snapshot.at) else { return }
        throw Complaint(
            field: "forgetAfterSec",
            "the last sign-in is longer ago, so '\(asked.account)' would sign out at once",
            hint: "give a longer time; or add --yes to sign out now"
        ).error
    }

    func renameAccount(_ asked: RenameAccount.Parameters, _ responder: VarlinkResponder) throws(VarlinkError) {
        let snapshot = try account(asked.account)
        guard let name = AccountName(asked.newName) else {
            throw Complaint.noAccountName(asked.newName, field: "newName").error
        }
        try stored(rename(snapshot.account.id, to: name))
        responder.reply(RenameAccount.Reply())
    }

    /// Removes an account. It replies when the account's token file has been removed.
    func removeAccount(_ asked: RemoveAccount.Parameters, _ responder: VarlinkResponder) throws(VarlinkError) {
        let id = try shownAccount(asked.account).id
        let file = tokenFiles.file(of: id)
        try stored(remove(id))
        tokenFiles.whenSettled([file]) { responder.reply(RemoveAccount.Reply()) }
    }

    /// Reads the named accounts, or a page of all of them.
    ///
    /// - Parameter add: adds an account to the reply; returns how many bytes it takes there.
    /// - Returns: the name after which the next page begins; nil if there are no more.
    private func page(
        _ names: [String]?,
        after: String?,
        limit: Int64?,
        add: (ShownAccount) throws(VarlinkError) -> Int
    ) throws(VarlinkError) -> String? {
        try stored(checkStorePlace())
        let largest = Interface.largestPage
        var bytes = 0
        if let names {
            try Limit.page.check(names.count, atMost: largest)
            for (count, name) in names.enumerated() {
                // Named accounts have no next page. The caller has to name fewer.
                guard bytes <= 4 * CallerLimits.pageBytesMax else {
                    throw LimitExceededError(.page, maximum: count).error
                }
                bytes += try add(try shownAccount(name))
            }
            return nil
        }
        guard let limit = Int(exactly: limit ?? Int64(largest)), limit >= 1 else {
            throw VarlinkError.invalidParameter("limit")
        }
        var (last, left) = (after, min(limit, largest))
        while left > 0 {
            // Accounts are read in steps, because those that do not fit into the page need not be read.
            let step = min(left, Self.pageStep)
            let accounts = try stored(shownAccounts(after: last, limit: step))
            for account in accounts {
                bytes += try add(account)
                last = account.name
                guard bytes <= CallerLimits.pageBytesMax else { return last }
            }
            guard accounts.count == step else { return nil }
            left -= step
        }
        return last
    }

    /// How many accounts are read at once for a page.
    private static let pageStep = 50

    func addAccount(
        _ asked: AddAccount.Parameters,
        _ responder: VarlinkResponder,
        by caller: Caller
    ) throws(VarlinkError) {
        var new = try newAccount(asked)
        try checkAddition(of: new, asked, by: caller)
        try findSources(of: &new)
        try bindSources(of: &new, to: caller)
        let registers = asked.register ?? false
        let signIn = settings.profile(for: new.account)?.signIn
        let ownRedirect = RedirectChoice.own(for: new.account, profile: signIn, isRegistering: registers)
        new.registration.redirect.uri = ownRedirect ?? new.registration.redirect.uri
        guard !registers else { return try register(new, asked, responder) }
        let grant = try asked.refreshToken?.refreshToken()
        let added = try stored(add(new, grant: grant))
        let registered = (signIn ?? SignInProfile()).registered(with: new.registration.redirect)
        let uri = ownRedirect == nil ? nil : RedirectChoice.loopbackURI(registered)
        responder.reply(AddAccount.Reply(status: added.wireStatus, redirectUri: uri))
    }

    /// Checks the requested account besides its settings.
    func checkAddition(
        of new: NewAccount,
        _ asked: AddAccount.Parameters,
        by caller: Caller
    ) throws(VarlinkError) {
        try caller.checkList(
            new.allowedCallers,
            naming: asked.settings.allowedExecutables,
            replacing: nil,
            withoutCaller: asked.withoutCaller == true
        )
        try checkTokenFile(new.delivery.file, of: nil)
        try checkRoom(for: 1)
        guard asked.refreshToken == nil || new.registration.serviceGrant == nil else {
            throw Complaint.needsNoRefreshToken.error
        }
    }

    /// Checks that `count` accounts can be added.
    func checkRoom(for count: Int) throws(VarlinkError) {
        try Limit.accounts.check(stored(overview()).accounts + count, atMost: settings.maxAccounts)
    }

    /// The requested account, with its secrets.
    func newAccount(_ asked: AddAccount.Parameters) throws(VarlinkError) -> NewAccount {
        let hasGrant = asked.refreshToken != nil
        _ = try asked.refreshToken?.refreshToken()
        let dpopKey = try asked.dpopKey.map { text throws(VarlinkError) in
            guard asked.settings.dpop == true, let key = try? Secret.dpopKey(text) else {
                throw Complaint(field: "dpopKey", "it is not the key of an account with 'dpop'").error
            }
            return key
        }
        _ = try asked.clientSecret?.secret(field: "clientSecret")
        _ = try asked.clientKey?.secret(field: "clientKey")
        var settings = self.settings
        let reader = SettingsReader(profiles: settings.profiles, isRegistering: asked.register ?? false)
        var draft = try reader.draft(
            asked.settings,
            clientSecret: asked.clientSecret,
            clientKey: asked.clientKey,
            dpopKey: dpopKey
        )
        draft.registration.management = try asked.registration.map { known throws(VarlinkError) in
            try management(known, at: draft.issuer)
        }
        // An imported grant is refreshed without these fields. A sign-in looks for them again.
        let isForPerson = !hasGrant && draft.registration.serviceGrant == nil
        if isForPerson, let missing = settings.missingSetting(of: draft.account) {
            throw missing.complaint.error
        }
        draft.registration.clientSecretExpiresAt = asked.clientSecretExpiresAtUSec.map { Timestamp(microseconds: $0) }
        return draft
    }

    /// Adds an account after its server has registered a client for it (RFC 7591).
    private func register(
        _ new: NewAccount,
        _ asked: AddAccount.Parameters,
        _ responder: VarlinkResponder
    ) throws(VarlinkError) {
        let hasClient = asked.clientSecret != nil || new.registration.clientAssertionFile != nil
        guard asked.refreshToken == nil, !hasClient else {
            throw Complaint(
                field: "register",
                "a new client has no secret, no assertion and no grant yet",
                hint: "leave the secret, the assertion and the refresh token out"
            ).error
        }
        // Check first, before the server has a client that nobody needs.
        guard try stored(shownAccount(named: new.name.text)) == nil else {
            throw VarlinkError(StoreError.nameTaken(new.name))
        }
        let token = try asked.initialAccessToken?.secret(field: "initialAccessToken")
        let registration = newRegistration(for: new.account, initialAccessToken: token)
        try register(by: registration, keepsClient: false, responder) { coordinator, client throws(StoreError) in
            let added = try await coordinator.add(new, with: client, by: registration)
            return AddAccount.Reply(status: added.wireStatus, clientId: client.clientID)
        }
    }

    /// Lets a server register a client, and replies when it is stored.
    ///
    /// - Parameter store: stores the client, and makes the reply; nil if the account is gone.
    private func register<Reply: Encodable & Sendable>(
        by registration: DynamicRegistration,
        keepsClient: Bool,
        _ responder: VarlinkResponder,
        store: @escaping @Sendable (isolated RefreshCoordinator, ClientRegistration) async throws(StoreError) -> Reply?
    ) throws(VarlinkError) {
        let name = registration.account.name
        try beginServerCall(for: responder) { coordinator in
            let client: ClientRegistration
            do throws(RefreshFailure) {
                client = try await coordinator.registerClient(by: registration)
            } catch {
                return responder.fail(ClientNotRegisteredError(error, of: name, keepsClient: keepsClient).error)
            }
            do throws(StoreError) {
                guard let reply = try await store(coordinator, client) else {
                    return responder.fail(NoSuchAccountError(account: name.text).error)
                }
                responder.reply(reply)
            } catch {
                responder.fail(VarlinkError(error))
            }
        }
    }

    /// Changes an account to another client, which its server registers.
    private func replaceClient(
        of snapshot: AccountSnapshot,
        by change: SettingsChange,
        _ asked: UpdateAccount.Parameters,
        _ responder: VarlinkResponder
    ) throws(VarlinkError) {
        let isNamed = asked.settings.clientId != nil || asked.clientSecret != nil || asked.refreshToken != nil
        guard !isNamed else {
            throw Complaint(
                field: "register",
                "a new client has no secret and no grant yet, and the server chooses its id",
                hint: "leave the client id, the secret and the refresh token out"
            ).error
        }
        let changed = change.applied(to: snapshot.account)
        guard changed.registration.clientAssertionFile == nil else {
            throw Complaint(
                field: "register",
                "the assertion in the account's file is about the client that it has now",
                hint: asked.settings.clientAssertionFile == nil
                    ? "add --clear client-assertion-file" : "leave --client-assertion-file out"
            ).error
        }
        try refuseEnd(of: snapshot, by: asked)
        let token = try asked.initialAccessToken?.secret(field: "initialAccessToken")
        let registration = newRegistration(for: changed, initialAccessToken: token)
        try register(by: registration, keepsClient: true, responder) { coordinator, client throws(StoreError) in
            try await coordinator.replaceClient(with: client, by: registration, changing: change)
                .map { UpdateAccount.Reply($0) }
        }
    }

    /// The registration management data from another daemon.
    private func management(
        _ known: ManagedRegistration,
        at issuer: Issuer
    ) throws(VarlinkError) -> RegistrationManagement {
        guard ClientRegistrar.isManagementURI(known.uri, of: issuer) else {
            throw Complaint(field: "registration", "its address is not an https URL").error
        }
        return RegistrationManagement(uri: known.uri, accessToken: try known.accessToken.secret(field: "registration"))
    }
}

extension UpdateAccount.Reply {
    fileprivate init(_ snapshot: AccountSnapshot) {
        self.init(
            settings: AccountSettings(snapshot.account),
            signOutAtUSec: snapshot.state.signOut?.expiresAt.microseconds
        )
    }
}

extension UpdateAccount.Parameters {
    /// The names of the fields that the call changes.
    var changedFields: [String] {
        let cleared = Set(clear ?? [])
        let secrets = [("clientSecret", clientSecret), ("clientKey", clientKey), ("refreshToken", refreshToken)]
        return Setting.changeable.filter { settings[$0] != nil || cleared.contains($0.name) }.map(\.name)
            + secrets.filter { $1 != nil || cleared.contains($0) }.map(\.0) + (register == true ? ["clientId"] : [])
    }
}
