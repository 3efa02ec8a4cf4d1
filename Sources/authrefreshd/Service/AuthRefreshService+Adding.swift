internal import AccountStorage
internal import AuthRefreshInterface
internal import OAuthClient
internal import RefreshCore
internal import Varlink

/// The method that adds accounts, with the registration of a client where it is asked for (RFC 7591).
extension AuthRefreshService {
    func add(
        _ call: VarlinkCall,
        _ responder: VarlinkResponder,
        from caller: Caller,
        on coordinator: isolated RefreshCoordinator
    ) throws(VarlinkError) {
        let asked = try call.decodeParameters(as: AddAccount.Parameters.self)
        guard try checkVisibility(of: asked.settings.allowedExecutables, from: caller) else { return }
        let grant = try asked.refreshToken.map { text throws(VarlinkError) in try checked(refreshToken: text) }
        let dpopKey = try asked.dpopKey.map { text throws(VarlinkError) in
            guard asked.settings.dpop == true, let key = OAuthClient.dpopKey(text) else {
                throw VarlinkError(
                    InvalidSettingsError(field: "dpopKey", reason: "it is no key of an account with 'dpop'")
                )
            }
            return key
        }
        if let secret = asked.clientSecret { _ = try checked(secret: secret, field: "clientSecret") }
        if let key = asked.clientKey { _ = try checked(secret: key, field: "clientKey") }
        let settings = coordinator.settings
        let registers = asked.register ?? false
        var draft = try SettingsReader(profiles: settings.profiles, isRegistering: registers).draft(
            asked.settings,
            clientSecret: asked.clientSecret,
            clientKey: asked.clientKey,
            dpopKey: dpopKey
        )
        draft.registration.management = try asked.registration.map { known throws(VarlinkError) in
            try management(known, at: draft.issuer)
        }
        draft.registration.clientSecretExpiresAt = asked.clientSecretExpiresAtUSec.map { Timestamp(microseconds: $0) }
        guard try stored(coordinator.overview()).accounts < settings.maxAccounts else {
            throw VarlinkError(LimitExceededError(.accounts, maximum: settings.maxAccounts))
        }
        guard grant == nil || draft.registration.serviceGrant == nil else { throw VarlinkError.needsNoGrant }
        guard try bindSources(of: &draft, to: caller, on: coordinator) else { return }
        let new = draft
        guard registers else {
            let added = try stored(coordinator.add(new, grant: grant))
            return responder.reply(AddAccount.Reply(status: added.wireStatus))
        }
        guard grant == nil, asked.clientSecret == nil else {
            throw VarlinkError(
                InvalidSettingsError(field: "register", reason: "a new client has neither a secret nor a grant yet")
            )
        }
        // Before the server has a client that nobody wants.
        guard try stored(coordinator.account(named: new.name.text)) == nil else {
            throw VarlinkError(StoreError.nameTaken(new.name))
        }
        let token = try asked.initialAccessToken.map { text throws(VarlinkError) in
            try checked(secret: text, field: "initialAccessToken")
        }
        let client = coordinator.registering(new)
        guard coordinator.beginServerCall() else {
            throw VarlinkError(LimitExceededError(.serverCalls, maximum: CallerLimits.serverCallsMax))
        }
        Task { [coordinator = self.coordinator] in
            do throws(ServerOrStoreError) {
                let added = try await coordinator.register(new, as: client, initialAccessToken: token)
                let clientID = added.account.registration.clientID
                responder.reply(AddAccount.Reply(status: added.wireStatus, clientId: clientID))
            } catch {
                switch error {
                case .server(let failure): responder.fail(VarlinkError(unregistered: failure, new.name))
                case .store(let error): responder.fail(VarlinkError(error))
                }
            }
            await coordinator.serverCallEnded()
        }
    }

    /// What another daemon knew of the client's registration.
    private func management(
        _ known: ManagedRegistration,
        at issuer: Issuer
    ) throws(VarlinkError) -> RegistrationManagement {
        guard OAuthClient.isManagementURI(known.uri, of: issuer) else {
            throw VarlinkError(InvalidSettingsError(field: "registration", reason: "its address is no https URL"))
        }
        let accessToken = try checked(secret: known.accessToken, field: "registration")
        return RegistrationManagement(uri: known.uri, accessToken: accessToken)
    }
}

extension VarlinkError {
    /// Why the server registers no client.
    fileprivate init(unregistered failure: RefreshFailure, _ name: AccountName) {
        let refusal = RegistrationRefusal(failure)
        self.init(
            ClientNotRegisteredError(
                account: name.text,
                kind: refusal.isFinal ? "refused" : "unavailable",
                reason: refusal.reason,
                failure: AuthRefreshInterface.Failure(failure.detail),
                hint: refusal.hint
            )
        )
    }
}
