internal import AuthRefreshInterface
internal import Basics
internal import Dispatch
internal import RefreshCore
internal import Varlink

/// Answers the calls of `io.authrefresh`. It finds out what has to be known for a call, and then passes the call to its
/// duty, once.
struct AuthRefreshService: Sendable {
    let coordinator: RefreshCoordinator
    /// The web sessions. Use them on the coordinator's queue.
    let webSessions: WebSessions
    /// The current error in the configuration files; nil if there is none. It may block.
    let configurationError: @Sendable () -> ProgramError?
    /// The provider profiles that are installed now; nil if they are these. It may block.
    let profiles: @Sendable (_ other: ProviderProfiles) -> Result<ProviderProfiles?, ProgramError>

    /// Answers one call. Call it on the coordinator's queue.
    func handle(_ call: VarlinkCall, from _: PeerCredentials, _ responder: VarlinkResponder) {
        coordinator.assumeIsolated { answer(call, responder, by: Caller(), on: $0) }
    }

    /// - Parameters:
    ///   - caller: what is known about the caller.
    ///   - hasCurrentProfiles: whether the folders of the provider profiles were looked at since the call arrived.
    private func answer(
        _ call: VarlinkCall,
        _ responder: VarlinkResponder,
        by caller: Caller,
        hasCurrentProfiles: Bool = false,
        on coordinator: isolated RefreshCoordinator
    ) {
        // The call arrived after the end. The next daemon answers it.
        guard !coordinator.lifecycle.isOver else { return responder.hangUp() }
        guard let method = Method(rawValue: call.method) else {
            return responder.fail(.methodNotFound(call.method))
        }
        let again = { @Sendable (caller: Caller) in
            self.coordinator.queue.async {
                self.coordinator.assumeIsolated {
                    answer(call, responder, by: caller, hasCurrentProfiles: true, on: $0)
                }
            }
        }
        guard !method.rules.namesProfiles || hasCurrentProfiles else {
            return readProfiles(on: coordinator) { again(caller) }
        }
        do throws(VarlinkError) {
            switch try coordinator.admit(caller, to: method, call) {
            case nil: try answer(method, call, responder, by: caller, on: coordinator)
            case .look(let executables)?: CallerLookUp.run(executables, caller, of: responder, again)
            case .answer(let question)?:
                coordinator.askUser(question, for: responder) { outcome in
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
    private func readProfiles(on coordinator: isolated RefreshCoordinator, _ again: @escaping @Sendable () -> Void) {
        let present = coordinator.settings.profiles
        let coordinator = self.coordinator
        Self.profileReading.run(1, { [profiles] in profiles(present) }) { read in
            coordinator.queue.async {
                // If the file system hangs, the profiles that are in force are good enough.
                if let read { coordinator.assumeIsolated { $0.use(read) } }
                again()
            }
        }
    }

    private static let profileReading = BlockingWork<Int, Result<ProviderProfiles?, ProgramError>>(
        "authrefreshd.profiles",
        timeLimit: CallerLimits.lookUpTime,
        piecesMax: 1
    )

    /// Answers a call.
    ///
    /// - Throws: the error reply.
    private func answer(
        _ method: Method,
        _ call: VarlinkCall,
        _ responder: VarlinkResponder,
        by caller: Caller,
        on coordinator: isolated RefreshCoordinator
    ) throws(VarlinkError) {
        switch method {
        case .getInfo: responder.reply(try coordinator.getInfo(call))
        case .getMetrics: responder.reply(try coordinator.getMetrics(call))
        case .getStatus: responder.reply(try coordinator.getStatus(call))
        case .listAccounts: responder.reply(try coordinator.listAccounts(call))
        case .findAccount: responder.reply(try coordinator.findAccount(call))
        case .listUrls: responder.reply(try coordinator.listURLs(call))
        case .addAccount: try coordinator.addAccount(call, responder, by: caller)
        case .updateAccount: try coordinator.updateAccount(call, responder, by: caller)
        case .applyAccounts: try coordinator.applyAccounts(call, responder, by: caller)
        case .renameAccount: try coordinator.renameAccount(call, responder)
        case .removeAccount: try coordinator.removeAccount(call, responder)
        case .importGrant: try coordinator.importGrant(call, responder)
        case .exportGrant: try coordinator.exportGrant(call, responder)
        case .resumeAccount: try coordinator.resumeAccount(call, responder)
        case .signOut: try coordinator.signOut(call, responder)
        case .acquireToken: try coordinator.acquireToken(call, responder)
        case .provePossession: try coordinator.provePossession(call, responder)
        case .reportRejected: try coordinator.reportRejected(call, responder)
        case .refresh: try coordinator.refresh(call, responder)
        case .subscribe: try coordinator.subscribe(call, responder)
        case .startSignIn: try coordinator.startSignIn(call, responder)
        case .continueSignIn: responder.reply(try coordinator.continueSignIn(call, in: webSessions))
        case .cancelSignIn: responder.reply(try coordinator.cancelSignIn(call))
        case .serveConfirmations: try coordinator.serveConfirmations(call, responder)
        case .answerConfirmation: responder.reply(try coordinator.answerConfirmation(call))
        case .startWebSession: try coordinator.startWebSession(call, responder, in: webSessions)
        case .backupStore: try coordinator.backupStore(call, responder)
        case .rekeyStore: try coordinator.rekeyStore(call, responder)
        case .checkStore: try coordinator.checkStore(call, responder)
        case .diagnose: try coordinator.diagnose(call, responder, configurationError)
        case .listProviders: responder.reply(try coordinator.listProviders(call))
        case .discoverProvider: try coordinator.discoverProvider(call, responder)
        case .checkServer: try coordinator.checkServer(call, responder)
        case .discoverResource: try coordinator.discoverResource(call, responder)
        }
    }
}

extension RefreshCoordinator {
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
        case .startSignIn: return try missing(forSignIn: call, by: caller)
        case .signOut: return try missing(forSignOut: call, by: caller)
        case .addAccount: return try missing(forAddition: call, by: caller)
        case .updateAccount: return try missing(forUpdate: call, by: caller)
        case .applyAccounts: return try missing(forApplication: call, by: caller)
        case .getInfo, .getMetrics, .getStatus, .listAccounts, .findAccount, .listUrls, .resumeAccount, .subscribe,
            .continueSignIn, .cancelSignIn, .startWebSession, .serveConfirmations, .answerConfirmation, .backupStore,
            .rekeyStore, .checkStore, .diagnose, .listProviders, .discoverProvider, .checkServer,
            .discoverResource:
            return nil
        }
    }
}
