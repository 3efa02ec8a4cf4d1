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
            ConfirmationCalls(coordinator: self.coordinator).ask(question, for: responder, on: coordinator) { outcome in
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
        case .getInfo: responder.reply(try accounts.info(call, on: coordinator))
        case .getMetrics:
            responder.reply(try MetricsCalls(coordinator: self.coordinator).metrics(call, on: coordinator))
        case .getStatus: responder.reply(try accounts.status(call, on: coordinator))
        case .listAccounts: responder.reply(try accounts.list(call, on: coordinator))
        case .findAccount: responder.reply(try tools.findAccount(call, on: coordinator))
        case .listUrls: responder.reply(try tools.listURLs(call, on: coordinator))
        case .addAccount: try accounts.add(call, responder, from: caller, on: coordinator)
        case .updateAccount: try accounts.update(call, responder, from: caller, on: coordinator)
        case .renameAccount: try accounts.rename(call, responder, from: caller, on: coordinator)
        case .removeAccount: try accounts.remove(call, responder, from: caller, on: coordinator)
        case .importGrant: try grants.importGrant(call, responder, from: caller, on: coordinator)
        case .exportGrant: try grants.exportGrant(call, responder, from: caller, on: coordinator)
        case .resumeAccount: try grants.resume(call, responder, on: coordinator)
        case .signOut: try grants.signOut(call, responder, from: caller, on: coordinator)
        case .acquireToken: try tokens.acquire(call, responder, from: caller, on: coordinator)
        case .provePossession: try proofs.prove(call, responder, from: caller, on: coordinator)
        case .reportRejected: try tokens.reportRejected(call, responder, from: caller, on: coordinator)
        case .refresh: try tokens.refresh(call, responder, from: caller, on: coordinator)
        case .subscribe: try SubscribeCalls(coordinator: self.coordinator).subscribe(call, responder, on: coordinator)
        case .startSignIn: try signIns.startSignIn(call, responder, from: caller, on: coordinator)
        case .continueSignIn: responder.reply(try continueSignIn(call, on: coordinator))
        case .cancelSignIn: responder.reply(try signIns.cancelSignIn(call, on: coordinator))
        case .serveConfirmations: try confirmations.serve(call, responder, on: coordinator)
        case .answerConfirmation: responder.reply(try confirmations.answer(call, on: coordinator))
        case .startWebSession: try WebSessionCalls(room: webSessions).start(call, responder, on: coordinator)
        case .backupStore: try store.backup(call, responder, on: coordinator)
        case .rekeyStore: try store.rekey(call, responder, on: coordinator)
        case .checkStore: try store.check(call, responder, on: coordinator)
        case .diagnose: try store.diagnose(call, responder, on: coordinator)
        case .listProviders: responder.reply(try providers.providers(call, on: coordinator))
        case .discoverProvider: try providers.discover(call, responder, on: coordinator)
        case .checkServer: try providers.check(call, responder, on: coordinator)
        }
    }

    private func continueSignIn(
        _ call: VarlinkCall,
        on coordinator: isolated RefreshCoordinator
    ) throws(VarlinkError) -> ContinueSignIn.Reply {
        if let taken = try WebSessionCalls(room: webSessions).continueSession(call, on: coordinator) { return taken }
        return try signIns.continueSignIn(call, on: coordinator)
    }

    private var accounts: AccountCalls { AccountCalls(coordinator: coordinator) }
    private var tools: ToolCalls { ToolCalls(coordinator: coordinator) }
    private var grants: GrantCalls { GrantCalls(coordinator: coordinator) }
    private var proofs: ProofCalls { ProofCalls(coordinator: coordinator) }
    private var tokens: TokenCalls { TokenCalls(coordinator: coordinator) }
    private var signIns: SignInCalls { SignInCalls(coordinator: coordinator) }
    private var providers: ProviderCalls { ProviderCalls(coordinator: coordinator) }
    private var confirmations: ConfirmationCalls { ConfirmationCalls(coordinator: coordinator) }
    private var store: StoreCalls { StoreCalls(coordinator: coordinator, configurationError: configurationError) }
}
