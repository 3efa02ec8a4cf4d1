internal import AccountStorage
internal import AuthRefreshInterface
internal import Dispatch
internal import RefreshCore
internal import Varlink

/// Answers the calls of `io.authrefresh`: decodes, asks the coordinator on its queue, encodes.
struct AuthRefreshService: Sendable {
    let coordinator: RefreshCoordinator
    /// What is wrong with the configuration as it stands in the files now; nil if nothing is. May block.
    let configurationError: @Sendable () -> ConfigurationError?

    /// Answers one call; to be called on the coordinator's queue.
    func handle(_ call: VarlinkCall, from _: PeerCredentials, _ responder: VarlinkResponder) {
        coordinator.assumeIsolated { answer(call, responder, from: Caller(), on: $0) }
    }

    func answer(
        _ call: VarlinkCall,
        _ responder: VarlinkResponder,
        from caller: Caller,
        on coordinator: isolated RefreshCoordinator
    ) {
        // A call that took its time to get here. Whoever comes after us answers it.
        guard !coordinator.lifecycle.isOver else { return responder.hangUp() }
        guard let method = Method(rawValue: call.method) else {
            return responder.fail(.methodNotFound(call.method))
        }
        do throws(VarlinkError) {
            switch method {
            case .getInfo: responder.reply(try info(call, on: coordinator))
            case .getStatus: responder.reply(try status(call, on: coordinator))
            case .listAccounts: responder.reply(try list(call, on: coordinator))
            case .addAccount: try add(call, responder, from: caller, on: coordinator)
            case .updateAccount: try update(call, responder, from: caller, on: coordinator)
            case .renameAccount: responder.reply(try rename(call, on: coordinator))
            case .removeAccount: responder.reply(try remove(call, on: coordinator))
            case .importGrant: try importGrant(call, responder, on: coordinator)
            case .exportGrant: try exportGrant(call, responder, from: caller, on: coordinator)
            case .resumeAccount: try resume(call, responder, on: coordinator)
            case .acquireToken: try acquire(call, responder, from: caller, on: coordinator)
            case .provePossession: try provePossession(call, responder, from: caller, on: coordinator)
            case .reportRejected: try reportRejected(call, responder, from: caller, on: coordinator)
            case .refresh: try refresh(call, responder, from: caller, on: coordinator)
            case .subscribe: try subscribe(call, responder, on: coordinator)
            case .startSignIn: try startSignIn(call, responder, on: coordinator)
            case .continueSignIn: responder.reply(try continueSignIn(call, on: coordinator))
            case .cancelSignIn: responder.reply(try cancelSignIn(call, on: coordinator))
            case .signOut: try signOut(call, responder, from: caller, on: coordinator)
            case .backupStore: try backup(call, responder, on: coordinator)
            case .listProviders: responder.reply(try providers(call, on: coordinator))
            case .discoverProvider: try discover(call, responder, on: coordinator)
            case .rekeyStore: try rekey(call, responder, on: coordinator)
            case .checkStore: try check(call, responder, on: coordinator)
            case .diagnose: try diagnose(call, responder, on: coordinator)
            }
        } catch {
            return responder.fail(error)
        }
        if let missing = caller.missing { lookUp(missing, caller, of: call, responder) }
    }

    /// Asks the store for a call.
    ///
    /// - Throws: what the caller is told of a store that fails.
    func stored<Value>(_ work: @autoclosure () throws(StoreError) -> Value) throws(VarlinkError) -> Value {
        do throws(StoreError) {
            return try work()
        } catch {
            throw VarlinkError(error)
        }
    }

    /// The account of this name.
    ///
    /// - Throws: `NoSuchAccount`, also for a text that cannot be a name; `Misconfigured` if it cannot be read.
    func account(_ name: String, on coordinator: isolated RefreshCoordinator) throws(VarlinkError) -> AccountSnapshot {
        switch try shownAccount(name, on: coordinator) {
        case .whole(let snapshot): return snapshot
        case .damaged(let account): throw VarlinkError(account)
        }
    }

    /// The account of this name, for one who is about to have its secrets.
    ///
    /// Its list of allowed callers is read alone and first: whoever is not on it gets the same answer in every state of the account.
    ///
    /// - Returns: nil if the caller has to be looked up first.
    /// - Throws: `PermissionDenied`; or as `account(_:on:)`.
    func account(
        _ name: String,
        for caller: Caller,
        on coordinator: isolated RefreshCoordinator
    ) throws(VarlinkError) -> AccountSnapshot? {
        if let (account, allowed) = try stored(coordinator.store.allowedCallers(named: name)) {
            guard try admit(caller, to: account, by: allowed, on: coordinator) else { return nil }
        }
        return try account(name, on: coordinator)
    }

    /// The account of this name, even if it cannot be read.
    ///
    /// - Throws: `NoSuchAccount`.
    func shownAccount(_ name: String, on coordinator: isolated RefreshCoordinator) throws(VarlinkError) -> ShownAccount
    {
        guard let account = try stored(coordinator.account(named: name)) else {
            throw VarlinkError(NoSuchAccountError(account: name))
        }
        return account
    }

    /// - Throws: `InvalidSettings` if a secret is empty, `LimitExceeded` if it is too long to be one.
    func checked(secret: String, field: String) throws(VarlinkError) -> Secret {
        guard !secret.isEmpty else {
            throw VarlinkError(InvalidSettingsError(field: field, reason: "it is empty"))
        }
        guard secret.utf8.count <= CallerLimits.secretBytesMax else {
            throw VarlinkError(LimitExceededError(.secretBytes, maximum: CallerLimits.secretBytesMax))
        }
        return Secret(secret)
    }

    /// - Throws: as `checked(secret:field:)`; `InvalidSettings` for a text that is something else.
    func checked(refreshToken text: String) throws(VarlinkError) -> RefreshToken {
        let secret = try checked(secret: text, field: "refreshToken")
        if let flaw = RefreshTokenText.flaw(in: text) {
            throw VarlinkError(
                InvalidSettingsError(field: "refreshToken", reason: "it is no refresh token, but \(flaw.rawValue)")
            )
        }
        return RefreshToken(secret)
    }
}

extension VarlinkError {
    /// A store that fails, as callers see it.
    init(_ error: StoreError) {
        switch error {
        case .nameTaken(let name): self.init(AccountExistsError(account: name.text))
        // Whatever it was, the caller can only wait or repair the store: the text says which.
        default: self.init(StoreUnavailableError(reason: error.description, hint: error.hint ?? "authctl status"))
        }
    }
}
