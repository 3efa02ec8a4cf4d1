internal import AuthRefreshInterface
internal import BlockingWork
internal import CommandLineProgram
internal import Dispatch
internal import RefreshCore
internal import Varlink

/// Answers the calls of `io.authrefresh`. It passes each call to its duty, and a second time after the caller was
/// looked up.
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
        coordinator.assumeIsolated { answer(call, responder, from: Caller(), on: $0) }
    }

    private func answer(
        _ call: VarlinkCall,
        _ responder: VarlinkResponder,
        from caller: Caller,
        on coordinator: isolated RefreshCoordinator
    ) {
        // The call arrived after the end. The next daemon answers it.
        guard !coordinator.lifecycle.isOver else { return responder.hangUp() }
        guard let method = Method(rawValue: call.method) else {
            return responder.fail(.methodNotFound(call.method))
        }
        let again = { @Sendable (known: Caller.Known) in
            self.coordinator.queue.async {
                self.coordinator.assumeIsolated { answer(call, responder, from: Caller(known), on: $0) }
            }
        }
        guard !method.rules.namesProfiles || caller.known.hasCurrentProfiles else {
            return readProfiles(caller.known, on: coordinator, again)
        }
        do throws(VarlinkError) {
            try answer(method, call, responder, from: caller, on: coordinator)
        } catch {
            return responder.fail(error)
        }
        switch caller.missing {
        case nil: return
        case .look(let executables): CallerLookUp.run(executables, caller.known, of: responder, again)
        case .answer(let question):
            let known = caller.known
            coordinator.askUser(question, for: responder) { outcome in
                var known = known
                known.answers[question] = outcome
                again(known)
            }
        }
    }

    /// Reads the provider profiles again if a file has changed, and then calls `again`. A person who has just written
    /// a profile need not know that the daemon has read them before.
    private func readProfiles(
        _ known: Caller.Known,
        on coordinator: isolated RefreshCoordinator,
        _ again: @escaping @Sendable (Caller.Known) -> Void
    ) {
        var known = known
        known.hasCurrentProfiles = true
        let present = coordinator.settings.profiles
        let coordinator = self.coordinator
        Self.profileReading.run(1, { [profiles] in profiles(present) }) { [known] read in
            coordinator.queue.async {
                // If the file system hangs, the profiles that are in force are good enough.
                if let read { coordinator.assumeIsolated { $0.use(read) } }
                again(known)
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
        from caller: Caller,
        on coordinator: isolated RefreshCoordinator
    ) throws(VarlinkError) {
        switch method {
        case .getInfo: responder.reply(try coordinator.getInfo(call))
        case .getMetrics: responder.reply(try coordinator.getMetrics(call))
        case .getStatus: responder.reply(try coordinator.getStatus(call))
        case .listAccounts: responder.reply(try coordinator.listAccounts(call))
        case .findAccount: responder.reply(try coordinator.findAccount(call))
        case .listUrls: responder.reply(try coordinator.listURLs(call))
        case .addAccount: try coordinator.addAccount(call, responder, from: caller)
        case .updateAccount: try coordinator.updateAccount(call, responder, from: caller)
        case .renameAccount: try coordinator.renameAccount(call, responder, from: caller)
        case .removeAccount: try coordinator.removeAccount(call, responder, from: caller)
        case .importGrant: try coordinator.importGrant(call, responder, from: caller)
        case .exportGrant: try coordinator.exportGrant(call, responder, from: caller)
        case .resumeAccount: try coordinator.resumeAccount(call, responder)
        case .signOut: try coordinator.signOut(call, responder, from: caller)
        case .acquireToken: try coordinator.acquireToken(call, responder, from: caller)
        case .provePossession: try coordinator.provePossession(call, responder, from: caller)
        case .reportRejected: try coordinator.reportRejected(call, responder, from: caller)
        case .refresh: try coordinator.refresh(call, responder, from: caller)
        case .subscribe: try coordinator.subscribe(call, responder)
        case .startSignIn: try coordinator.startSignIn(call, responder, from: caller)
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
        }
    }
}
