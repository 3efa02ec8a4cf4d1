internal import AccountStorage
internal import AuthRefreshInterface
internal import Basics
internal import OAuthClient
internal import OAuthMessages
internal import RefreshCore
internal import Varlink

/// The calls that import, export and end grants.
extension RefreshCoordinator {
    func importGrant(_ asked: ImportGrant.Parameters, _ responder: VarlinkResponder) throws(VarlinkError) {
        let snapshot = try account(asked.account)
        let text = asked.refreshToken
        try swapGrant(of: snapshot, for: text, by: nil, responder) {
            ImportGrant.Reply(status: $0.wireStatus)
        }
    }

    /// Replaces the grant of `snapshot`, together with its settings.
    ///
    /// If the old grant may still work, it and the settings stay until the server has accepted the new one. Otherwise
    /// it is replaced at once.
    func swapGrant<Reply: Encodable & SendableMetatype>(
        of snapshot: AccountSnapshot,
        for text: String,
        by change: SettingsChange?,
        _ responder: VarlinkResponder,
        reply: @escaping @Sendable (AccountSnapshot) -> Reply
    ) throws(VarlinkError) {
        let (held, id) = (snapshot.account, snapshot.account.id)
        let changed = change?.applied(to: held) ?? held
        guard held.registration.serviceGrant == nil else { throw Complaint.needsNoRefreshToken.error }
        let grant = try text.refreshToken()
        let joined = join(grant, changed, by: change, of: held, responder, reply: reply)
        guard !joined else { return }
        guard snapshot.state.mayHoldGoodGrant else {
            try stored(replaceGrant(grant, for: id, by: changed == held ? nil : change))
            return responder.reply(reply(try account(held.name.text)))
        }
        // If the same token were sent twice at the same time, or a spent one, the server would end the grant.
        if try stored(records.isOfGrant(grant, of: snapshot)) {
            guard changed.refreshes(like: held) else {
                throw Complaint(
                    field: "refreshToken",
                    "the account already has this grant, for another server or client than these settings name",
                    hint: "change only the settings, with '\(Command("account", "edit"))'"
                ).error
            }
            if let change, changed != held { _ = try stored(update(id, by: change)) }
            try stored(unpark(id))
            return wait(for: snapshot, after: .demand(.refreshRequested), responder, reply: reply)
        }
        try stored(storeKeeping.checkIsWritable())
        let proof = GrantProof(grant: grant, account: changed, change: changed == held ? nil : change)
        try beginServerCall(for: responder) { coordinator in
            let result = await coordinator.prove(proof)
            for answer in coordinator.proofs.end(proof) { answer(proof, result) }
        }
        proofs.begin(proof) { _, result in responder.answer(result, held.name, reply: reply) }
    }

    /// Waits for the proof of this token for the account, if it is under way. If the token were sent twice, the server
    /// would end the grant.
    ///
    /// - Parameter changed: the account with the caller's settings.
    /// - Returns: whether there is such a proof.
    private func join<Reply: Encodable & SendableMetatype>(
        _ grant: RefreshToken,
        _ changed: Account,
        by change: SettingsChange?,
        of held: Account,
        _ responder: VarlinkResponder,
        reply: @escaping @Sendable (AccountSnapshot) -> Reply
    ) -> Bool {
        proofs.join(grant, of: held.id) { proof, result in
            self.assumeIsolated { coordinator in
                guard case .stored(.some) = result, proof.account != changed else {
                    return responder.answer(result, held.name, reply: reply)
                }
                // The grant is the account's now, and only these settings are missing.
                do throws(VarlinkError) {
                    let (now, text) = (try coordinator.account(held.name.text), grant.secret.reveal())
                    try coordinator.swapGrant(of: now, for: text, by: change, responder, reply: reply)
                } catch {
                    responder.fail(error)
                }
            }
        }
    }

    /// Exports a grant. With `park`, only a grant that is parked here is returned. A request under way has to end first,
    /// because its answer may contain the refresh token that the other machine needs.
    func exportGrant(_ asked: ExportGrant.Parameters, _ responder: VarlinkResponder) throws(VarlinkError) {
        let snapshot = try account(asked.account)
        try checkIsOwn(snapshot)
        guard asked.park ?? false else { return responder.reply(try export(snapshot)) }
        try checkCanMove(snapshot)
        let id = snapshot.account.id
        wait(for: .parking, of: id, after: .owner(.parked), responder) { coordinator, outcome in
            guard case .settled = outcome else { return responder.refuse(outcome, asked.account) }
            do throws(VarlinkError) {
                responder.reply(try coordinator.exportParked(id, asked.account))
            } catch {
                // Nobody has got the grant, so it stays in use here.
                if !snapshot.state.phase.isParked { try? coordinator.unpark(id) }
                responder.fail(error)
            }
        }
    }

    /// Exports a grant that the store has parked. The account may have been renamed or signed out while we waited.
    private func exportParked(_ id: AccountID, _ name: String) throws(VarlinkError) -> ExportGrant.Reply {
        guard let record = try stored(records.record(of: id)) else {
            throw NoSuchAccountError(account: name).error
        }
        let snapshot = self.snapshot(of: record, at: timebase.now())
        try checkCanMove(snapshot)
        guard snapshot.state.phase.isParked else { throw Complaint.nothingToMove.error }
        return try export(snapshot)
    }

    /// A withheld account holds another person's refresh token, which this person must not carry elsewhere.
    private func checkIsOwn(_ snapshot: AccountSnapshot) throws(VarlinkError) {
        guard snapshot.state.isWithheld else { return }
        let name = snapshot.account.name.text
        throw InteractionRequiredError(
            account: name,
            reason: InteractionReason.otherPerson.rawValue,
            sinceUSec: (snapshot.state.interaction?.since ?? snapshot.at.wall).microseconds,
            hint: Hint(Command("login", name))
        ).error
    }

    private func checkCanMove(_ snapshot: AccountSnapshot) throws(VarlinkError) {
        guard snapshot.account.registration.serviceGrant == nil, snapshot.state.isRefreshable,
            snapshot.state.phase != .signedOut, !snapshot.state.isSignOutDue(at: snapshot.at)
        else {
            throw Complaint.nothingToMove.error
        }
    }

    /// An account whose sign-out is due is exported like one that has signed out: without a refresh token.
    private func export(_ snapshot: AccountSnapshot) throws(VarlinkError) -> ExportGrant.Reply {
        try checkIsOwn(snapshot)
        let registration = snapshot.account.registration
        let isOver = snapshot.state.isSignOutDue(at: snapshot.at)
        let grant = isOver ? nil : try stored(records.refreshToken(of: snapshot))
        // A full disk must not keep anybody from saving a grant elsewhere.
        if let grant { try? records.noteExport(of: grant, of: snapshot) }
        return ExportGrant.Reply(
            settings: AccountSettings(snapshot.account),
            clientSecret: registration.clientSecret?.reveal(),
            clientKey: registration.clientKey?.reveal(),
            dpopKey: registration.dpopKey.flatMap { try? $0.dpopText().reveal() },
            refreshToken: grant?.secret.reveal(),
            registration: registration.management.map {
                ManagedRegistration(uri: $0.uri, accessToken: $0.accessToken.reveal())
            },
            clientSecretExpiresAtUSec: registration.clientSecretExpiresAt?.microseconds
        )
    }

    func resumeAccount(_ asked: ResumeAccount.Parameters, _ responder: VarlinkResponder) throws(VarlinkError) {
        let snapshot = try account(asked.account)
        guard snapshot.state.phase.isParked else {
            return responder.reply(ResumeAccount.Reply(status: snapshot.wireStatus))
        }
        try stored(unpark(snapshot.account.id))
        wait(for: snapshot, after: .demand(.refreshRequested), responder) {
            ResumeAccount.Reply(status: $0.wireStatus)
        }
    }

    func signOut(_ asked: SignOut.Parameters, _ responder: VarlinkResponder) throws(VarlinkError) {
        let snapshot = try account(asked.account)
        try asked.checkIsForHere(snapshot)
        let request = SignOutRequest(
            revokes: asked.revoke ?? false,
            revokesParked: asked.revokeParked ?? false,
            endsSession: asked.endSession ?? false,
            forgets: asked.forget ?? false
        )
        // It continues if the caller leaves, because a sign-out must not be left half done.
        try beginServerCall(for: responder) { coordinator in
            let report = await coordinator.carryOut(request, of: snapshot)
            coordinator.tokenFiles.whenSettled([snapshot.account.delivery.file]) {
                responder.reply(SignOut.Reply(report))
            }
        }
    }
}

extension VarlinkResponder {
    /// Tells a caller how the proof of its grant has ended.
    fileprivate func answer<Reply: Encodable & SendableMetatype>(
        _ result: GrantProof.Outcome,
        _ name: AccountName,
        reply: (AccountSnapshot) -> Reply
    ) {
        switch result {
        case .stored(let proved?): self.reply(reply(proved))
        case .stored(nil): fail(NoSuchAccountError(account: name.text).error)
        case .refused(let failure): fail(GrantNotImportedError(failure, name).error)
        case .unstored(let error): fail(VarlinkError(error))
        }
    }
}

extension SignOut.Parameters {
    /// Checks that the call does not end, without saying so, a grant that moves to another machine.
    ///
    /// - Throws: `AccountParked`.
    func checkIsForHere(_ snapshot: AccountSnapshot) throws(VarlinkError) {
        let deletesClient = forget ?? false && snapshot.account.registration.management != nil
        guard revoke ?? false || deletesClient, revokeParked != true, snapshot.state.phase.isParked else { return }
        let name = snapshot.account.name
        let remove = Command("account", "remove", name.text)
        let hint: Hint = "\(remove), which leaves it to the other machine; --yes ends it there, too"
        throw AccountParkedError(account: name.text, hint: hint).error
    }
}

extension SignOut.Reply {
    fileprivate init(_ report: SignOutReport) {
        self.init(
            steps: report.steps.map { SignOutStep($0.step.rawValue, $0.outcome) },
            endSessionUrl: report.sessionEnd?.url,
            endSessionHost: report.sessionEnd?.host
        )
    }
}

extension SignOutStep {
    fileprivate init(_ step: String, _ outcome: SignOutReport.Outcome) {
        switch outcome {
        case .done: self.init(step: step, outcome: "done")
        case .notNeeded: self.init(step: step, outcome: "not-needed")
        case .unsupported: self.init(step: step, outcome: "unsupported")
        case .failed(let detail):
            self.init(step: step, outcome: "failed", failure: FailureReport(detail))
        }
    }
}

extension Complaint {
    /// A refresh token for an account that obtains its tokens by itself.
    static let needsNoRefreshToken = Complaint(
        field: "refreshToken",
        "a service account obtains its tokens without one",
        hint: "add a person's account without '--grant'"
    )

    fileprivate static let nothingToMove = Complaint(
        field: "park",
        "the account has no refresh token that could be moved",
        hint: "export it without '--move'"
    )
}

extension GrantNotImportedError {
    /// Why a grant from outside did not take the place of the one that the account has.
    fileprivate init(_ failure: RefreshFailure, _ name: AccountName) {
        let kind = SignInFailure(failure).kind
        self.init(
            account: name.text,
            kind: kind.rawValue,
            reason: failure.detail.summary,
            failure: FailureReport(failure.detail),
            hint: kind == .unavailable ? "import it again later" : Hint(Command("login", name.text))
        )
    }
}
