internal import AuthRefreshInterface
internal import Basics
internal import Dispatch
internal import RefreshCore
internal import Varlink

/// The way of a call of `io.authrefresh` to its duty: what has to be known for it is found out first, and then it is
/// passed on, once.
extension RefreshCoordinator {
    /// Answers a call.
    ///
    /// - Parameters:
    ///   - caller: what is known about the caller.
    ///   - hasCurrentProfiles: whether the folders of the provider profiles were looked at since the call arrived.
    func answer(
        _ call: VarlinkCall,
        _ responder: VarlinkResponder,
        by caller: Caller = Caller(),
        hasCurrentProfiles: Bool = false
    ) {
        // The call arrived after the end. The next daemon answers it.
        guard !lifecycle.isOver else { return responder.hangUp() }
        guard let method = Method(rawValue: call.method) else {
            return responder.fail(.methodNotFound(call.method))
        }
        let again = { @Sendable (caller: Caller) in
            self.queue.async {
                self.assumeIsolated { $0.answer(call, responder, by: caller, hasCurrentProfiles: true) }
            }
        }
        guard call.wantsMore || !method.rules.expectsMore else { return responder.fail(.expectedMore) }
        guard !method.rules.namesProfiles || hasCurrentProfiles else { return readProfiles { again(caller) } }
        do throws(VarlinkError) {
            switch try admit(caller, to: method, call) {
            case nil: try answer(method, call, responder, by: caller)
            case .look(let executables)?: caller.lookUp(executables, of: responder, again)
            case .answer(let question)?:
                askUser(question, for: responder) { outcome in
                    var caller = caller
                    caller.answers[question] = outcome
                    again(caller)
                }
            }
        } catch {
            responder.fail(error)
        }
    }

    /// Reads the provider profiles again if a file has changed, and then calls `again`. A person who has just written
    /// a profile need not know that the daemon has read them before.
    private func readProfiles(_ again: @escaping @Sendable () -> Void) {
        let present = settings.profiles
        Self.profileReading.run(1, { Result { () throws(ProgramError) in try present.readAgain() } }) { read in
            self.queue.async {
                // If the file system hangs, the profiles that are in force are good enough.
                if let read { self.assumeIsolated { $0.use(read) } }
                again()
            }
        }
    }

    private static let profileReading = BlockingWork<Int, Result<ProviderProfiles?, ProgramError>>(
        "authrefreshd.profiles",
        timeLimit: CallerLimits.lookUpTime,
        piecesMax: 1
    )

    /// Passes a call to its duty.
    ///
    /// - Throws: the error reply.
    private func answer(
        _ method: Method,
        _ call: VarlinkCall,
        _ responder: VarlinkResponder,
        by caller: Caller
    ) throws(VarlinkError) {
        switch method {
        case .getInfo: responder.reply(try getInfo(call.decodeParameters()))
        case .getMetrics: responder.reply(try getMetrics(call.decodeParameters()))
        case .getStatus: responder.reply(try getStatus(call.decodeParameters()))
        case .listAccounts: responder.reply(try listAccounts(call.decodeParameters()))
        case .findAccount: responder.reply(try findAccount(call.decodeParameters()))
        case .listUrls: responder.reply(try listURLs(call.decodeParameters()))
        case .addAccount: try addAccount(call.decodeParameters(), responder, by: caller)
        case .updateAccount: try updateAccount(call.decodeParameters(), responder, by: caller)
        case .applyAccounts: try applyAccounts(call.decodeParameters(), responder, by: caller)
        case .renameAccount: try renameAccount(call.decodeParameters(), responder)
        case .removeAccount: try removeAccount(call.decodeParameters(), responder)
        case .importGrant: try importGrant(call.decodeParameters(), responder)
        case .exportGrant: try exportGrant(call.decodeParameters(), responder)
        case .resumeAccount: try resumeAccount(call.decodeParameters(), responder)
        case .signOut: try signOut(call.decodeParameters(), responder)
        case .acquireToken: try acquireToken(call.decodeParameters(), responder)
        case .provePossession: try provePossession(call.decodeParameters(), responder)
        case .reportRejected: try reportRejected(call.decodeParameters(), responder)
        case .refresh: try refresh(call.decodeParameters(), responder)
        case .subscribe: try subscribe(call.decodeParameters(), responder)
        case .startSignIn: try startSignIn(call.decodeParameters(), responder)
        case .continueSignIn: responder.reply(try continueSignIn(call.decodeParameters()))
        case .cancelSignIn: responder.reply(try cancelSignIn(call.decodeParameters()))
        case .serveConfirmations: try serveConfirmations(call.decodeParameters(), responder)
        case .answerConfirmation: responder.reply(try answerConfirmation(call.decodeParameters()))
        case .startWebSession: try startWebSession(call.decodeParameters(), responder)
        case .backupStore: try backupStore(call.decodeParameters(), responder)
        case .rekeyStore: try rekeyStore(call.decodeParameters(), wantsMore: call.wantsMore, responder)
        case .checkStore: try checkStore(call.decodeParameters(), wantsMore: call.wantsMore, responder)
        case .diagnose: try diagnose(call.decodeParameters(), wantsMore: call.wantsMore, responder)
        case .listProviders: responder.reply(try listProviders(call.decodeParameters()))
        case .discoverProvider: try discoverProvider(call.decodeParameters(), responder)
        case .checkServer: try checkServer(call.decodeParameters(), responder)
        case .discoverResource: try discoverResource(call.decodeParameters(), responder)
        }
    }

    /// Admits a caller to a method, or says what is missing for that.
    ///
    /// - Returns: what has to be found out first; nil if the call is to be answered now.
    /// - Throws: what is wrong with the call, as far as that comes before the user is asked; `PermissionDenied` if the
    ///   caller is not on a list or the user did not agree; `TemporarilyUnavailable` if that cannot be found out now.
    func admit(_ caller: Caller, to method: Method, _ call: VarlinkCall) throws(VarlinkError) -> Caller.Missing? {
        switch method {
        case .acquireToken:
            let asked = try call.decodeParameters(as: AcquireToken.Parameters.self)
            try asked.check()
            try checkAccount(asked.account, hasID: asked.accountId)
            return try missing(for: asked.account, wanting: .tokens(host: asked.host), by: caller)
        case .provePossession:
            let asked = try call.decodeParameters(as: ProvePossession.Parameters.self)
            return try missing(for: asked.account, wanting: .tokens(host: nil), by: caller)
        case .reportRejected:
            let asked = try call.decodeParameters(as: ReportRejected.Parameters.self)
            try checkAccount(asked.account, hasID: asked.accountId)
            return try missing(for: asked.account, wanting: nil, by: caller)
        case .refresh:
            let asked = try call.decodeParameters(as: Refresh.Parameters.self)
            return try missing(for: asked.account, wanting: nil, by: caller)
        case .exportGrant:
            let asked = try call.decodeParameters(as: ExportGrant.Parameters.self)
            return try missing(for: asked.account, wanting: .export, by: caller)
        case .importGrant:
            let asked = try call.decodeParameters(as: ImportGrant.Parameters.self)
            return try missing(consentTo: .change(settings: ["refreshToken"]), of: asked.account, by: caller)
        case .renameAccount:
            let asked = try call.decodeParameters(as: RenameAccount.Parameters.self)
            return try missing(consentTo: .change(settings: ["name"]), of: asked.account, by: caller)
        case .removeAccount:
            let asked = try call.decodeParameters(as: RemoveAccount.Parameters.self)
            return try missing(consentTo: .removal, of: asked.account, by: caller)
        case .startSignIn: return try missing(forSignIn: call.decodeParameters(), by: caller)
        case .signOut: return try missing(forSignOut: call.decodeParameters(), by: caller)
        case .addAccount: return try missing(forAddition: call.decodeParameters(), by: caller)
        case .updateAccount: return try missing(forUpdate: call.decodeParameters(), by: caller)
        case .applyAccounts: return try missing(forApplication: call.decodeParameters(), by: caller)
        case .getInfo, .getMetrics, .getStatus, .listAccounts, .findAccount, .listUrls, .resumeAccount, .subscribe,
            .continueSignIn, .cancelSignIn, .startWebSession, .serveConfirmations, .answerConfirmation, .backupStore,
            .rekeyStore, .checkStore, .diagnose, .listProviders, .discoverProvider, .checkServer,
            .discoverResource:
            return nil
        }
    }
}
