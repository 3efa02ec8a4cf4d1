internal import AccountStorage
internal import AuthRefreshInterface
internal import Basics
internal import OAuthMessages
internal import RefreshCore
internal import Varlink

/// The calls about signing in. Like `ImportGrant`, they bring a grant and return no secret, so every process of the
/// user may call them.
extension RefreshCoordinator {
    func startSignIn(_ asked: StartSignIn.Parameters, _ responder: VarlinkResponder) throws(VarlinkError) {
        var request = try SignInRequest(asked)
        request.process = responder.peer.pid
        let wantsIDToken = !request.responseType.hasCode
        let snapshot = try account(asked.account)
        guard snapshot.account.registration.serviceGrant == nil else {
            throw SignInFailure(
                .misconfigured,
                "it is a service account, which gets its tokens without a person",
                hint: Hint(Command("refresh", snapshot.account.name.text))
            ).error(of: SignInTarget(account: snapshot.account.name))
        }
        let new = try asked.newAccount.map { name throws(VarlinkError) in try newName(name) }
        // Without a code there is no grant for a new account.
        guard new == nil || !wantsIDToken else { throw .invalidParameter("responseType") }
        if new != nil { request.source = snapshot.account.id }
        let target = SignInTarget(account: new ?? snapshot.account.name, source: new.map { _ in snapshot.account.name })
        let profile = settings.profile(for: snapshot.account)
        request.policy = try request.policy.flatMap { name throws(VarlinkError) in
            try policy(name, besidesThatOf: snapshot.account, profile)
        }
        guard new == nil || request.policy == nil else { throw .invalidParameter("policy") }
        let underWay = if let new { signIns.adding(new) } else { signIns[snapshot.account.id] }
        if !wantsIDToken, underWay == nil || request.restarts {
            try stored(storeKeeping.checkIsWritable())
        }
        let isByDevice = request.flow == .device
        let follower: RunningSignIn.Follower = { report in
            switch report {
            case .news(let reply): responder.reply(reply, continues: true)
            case .completed(var reply):
                if !wantsIDToken { reply.idToken = nil }
                let mechanisms = SASLMechanism.ofMail(for: snapshot.account.registration, profile)
                reply.mailMechanisms = mechanisms?.map(\.rawValue)
                responder.reply(reply)
            case .ended(let end): responder.fail(end.noted(from: profile, isByDevice: isByDevice).error(of: target))
            }
        }
        let (number, account) =
            if let new {
                try beginSignIn(request, adding: new, like: snapshot, follower: follower)
            } else {
                (try beginSignIn(request, of: snapshot, follower: follower), snapshot.account.id)
            }
        responder.onDisconnect { self.later { $0.signIns.forgetFollower(number, of: account) } }
    }

    /// A name for a new account.
    private func newName(_ text: String) throws(VarlinkError) -> AccountName {
        guard let name = AccountName(text) else {
            throw Complaint.noAccountName(text, field: "newAccount").error
        }
        guard try stored(shownAccount(named: text)) == nil else {
            throw VarlinkError(StoreError.nameTaken(name))
        }
        try checkRoom(for: 1)
        return name
    }

    /// The policy to run; nil for the account's own.
    private func policy(
        _ name: String,
        besidesThatOf account: Account,
        _ profile: ProviderProfile?
    ) throws(VarlinkError) -> String? {
        if let own = profile?.policies.current, SignInPolicies.isSame(own, name) { return nil }
        guard profile?.variables(account.providerVariables, running: name) == nil else { return name }
        guard let policies = profile?.policies, policies.variable != nil else {
            throw Complaint(field: "policy", "the account's provider has no policies").error
        }
        throw Complaint(
            field: "policy",
            "'\(name)' cannot be the name of a policy",
            hint: policies.current.map { "a name such as '\($0)'" }
        ).error
    }

    func continueSignIn(_ asked: ContinueSignIn.Parameters) throws(VarlinkError) -> ContinueSignIn.Reply {
        if let taken = try continueSession(asked) { return taken }
        let response = try asked.redirect.map(read)
        guard response != nil || asked.opened == true else { throw VarlinkError.invalidParameter("redirect") }
        let running: RunningSignIn?
        if let id = asked.attempt {
            running = signIns.named(id)
        } else {
            running = response?.state.flatMap(signIns.expecting)
        }
        guard let running else { throw NoSuchSignInError(attempt: asked.attempt).error }
        let (account, now) = (running.account.id, timebase.now())
        if asked.opened == true { tellSignIn(.opened, of: account, at: now) }
        if let response {
            let (refusal, effects) = signIns.bring(response, to: account, at: now)
            carryOut(effects, at: now)
            if let refusal { throw Complaint(refusal).error }
        }
        return ContinueSignIn.Reply(account: running.account.name.text)
    }

    func cancelSignIn(_ asked: CancelSignIn.Parameters) throws(VarlinkError) -> CancelSignIn.Reply {
        let running: RunningSignIn?
        if let id = asked.attempt {
            running = signIns.named(id)
        } else if let name = asked.account {
            let adding = AccountName(name).flatMap(signIns.adding)
            running =
                if let adding { adding } else { signIns[try account(name).account.id] }
        } else {
            throw VarlinkError.invalidParameter("attempt")
        }
        guard let running else { throw NoSuchSignInError(attempt: asked.attempt).error }
        let now = timebase.now()
        tellSignIn(.cancelled(by: .user), of: running.account.id, at: now)
        return CancelSignIn.Reply(account: running.account.name.text)
    }

    /// Reads what the person pasted.
    ///
    /// - Throws: `InvalidSettings` if nothing can be found in it.
    private func read(_ redirect: String) throws(VarlinkError) -> AuthorizationResponse {
        do throws(SignInFailure) {
            return try AuthorizationResponse(pasted: redirect)
        } catch {
            throw Complaint(field: "redirect", error.reason, hint: Complaint.wholeAddress).error
        }
    }
}

extension Complaint {
    /// What helps if a person brought something else than the address of the browser's last page.
    static let wholeAddress: Hint = "copy the whole address that the browser was sent to"

    /// An answer that does not count as one to the sign-in.
    fileprivate init(_ refusal: ResponseFinding) {
        let field = "redirect"
        switch refusal {
        case .wrongState:
            self.init(
                field: field,
                "its 'state' is not that of this sign-in: it belongs to another one, or was forged",
                hint: "copy the address from the window that this sign-in opened"
            )
        case .wrongPath:
            self.init(
                field: field,
                "it came back to the redirect URI of another server than the one you sign in to",
                hint: "sign in again; if it happens again, one of the two servers sends people to the other one"
            )
        case .noAnswer:
            self.init(
                field: field,
                "it contains no answer of the server",
                hint: "sign in in the browser first; then copy the whole address that it was sent to"
            )
        case .needsWholeAddress:
            self.init(field: field, "a code alone is not enough for this server", hint: Self.wholeAddress)
        case .alreadyAnswered:
            self.init(
                field: field,
                "this sign-in already has an answer, and takes only one",
                hint: "wait for the end of the sign-in"
            )
        case .notAwaited:
            self.init(
                field: field,
                "this sign-in does not wait for an answer by a browser",
                hint: "wait for the end of the sign-in"
            )
        }
    }
}

extension SignInEnd {
    /// This end, and the note in `profile` that could have prevented it, if there is one.
    func noted(from profile: ProviderProfile?, isByDevice: Bool) -> SignInEnd {
        guard case .failed(var failure) = self, failure.kind != .unavailable else { return self }
        let topic: ProfileNote.Topic? =
            switch failure.detail?.oauthError?.lowercased() {
            case _ where isByDevice: .device
            case "invalid_client", "unauthorized_client": .client
            case "invalid_scope": .scopes
            case let code? where code.contains("redirect"): .redirects
            default: nil
            }
        failure.note = topic.flatMap { profile?.note(about: $0) }
        return .failed(failure)
    }

    /// What the callers of `StartSignIn` are told of an end without tokens.
    func error(of target: SignInTarget) -> VarlinkError {
        let name = target.account.text
        switch self {
        case .completed, .policyCompleted: preconditionFailure("a completed sign-in is told by a reply")
        case .passwordForgotten(let isResettable):
            let failure =
                isResettable
                ? SignInFailure(.refused, "the server asked a second time for the password to be reset")
                : SignInFailure(
                    .misconfigured,
                    "you forgot the password, and the account does not name the policy that resets it",
                    hint: "\(Self.passwordResetCommand(for: target.settled)), with that policy's name"
                )
            return failure.error(of: target)
        case .cancelled(let canceller):
            return SignInCancelledError(account: name, by: canceller.rawValue).error
        case .denied(let refusal):
            let detail = FailureDetail(
                summary: reason,
                oauthError: refusal.error,
                oauthErrorDescription: refusal.description
            )
            return SignInDeniedError(
                account: name,
                oauthError: refusal.error,
                oauthErrorDescription: refusal.description,
                hint: detail.remedyOfCodes(for: target.settled, then: target.command, isRefresh: false)
                    ?? Hint(target.command)
            ).error
        case .timedOut: return SignInTimedOutError(account: name).error
        case .failed(let failure): return failure.error(of: target)
        case .otherSubject(let signedIn, let owner):
            let replace = Command("login", name, "--replace")
            let hint: Hint = "sign in as '\(owner)', or give the account to '\(signedIn)': \(replace)"
            return OtherSubjectError(account: name, signedIn: signedIn, owner: owner, hint: hint).error
        }
    }
}

extension SignInFailure {
    func error(of target: SignInTarget) -> VarlinkError {
        let account = target.settled
        let usual: Hint =
            switch kind {
            case .refused:
                detail?.remedyOfCodes(for: account, then: target.command, isRefresh: false)
                    ?? Hint(target.command)
            case .unavailable: Hint(target.command)
            case .misconfigured where detail?.forbidsGrantType == true:
                detail?.remedyOfCodes(for: account, then: target.command, isRefresh: false)
                    ?? "another way: \(target.command(with: "--flow=browser")), --flow=device or --flow=paste; or allow "
                    + "this one for the client at the server"
            case .misconfigured: detail?.remedy(for: account) ?? Hint(Command("account", "edit", account.text))
            }
        let hint = hint ?? usual
        var error = SignInFailedError(
            account: target.account.text,
            kind: kind.rawValue,
            reason: reason,
            failure: detail.map(FailureReport.init),
            hint: note.map { hint + " (\($0))" } ?? hint
        )
        error.port = busyPort.map(Int64.init)
        return error.error
    }
}
