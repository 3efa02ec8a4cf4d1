internal import AccountStorage
internal import AuthRefreshInterface
internal import Basics
internal import OAuthMessages
internal import OAuthClient
internal import RefreshCore
internal import Varlink

/// The calls for an account's ID token (OpenID Connect Core §2), which tells a program's own back end who signed in.
extension RefreshCoordinator {
    /// Replies with the stored ID token if it is good enough. Otherwise it waits for one refresh that may bring a newer
    /// one.
    func acquireIDToken(
        _ call: TokenCall,
        of snapshot: AccountSnapshot,
        _ responder: VarlinkResponder
    ) throws(VarlinkError) {
        guard let held = try held(by: snapshot) else { throw refusal(for: snapshot) }
        let isRefused = tokenHolds.isRefused(call.hold, held.claims.issuedAt, snapshot.at)
        let isGood = held.suffices(for: call.minimumValidity, at: snapshot) && snapshot.holdsAccessToken(for: nil)
        let isForced = call.isForced || isRefused
        if isGood, !isForced { return try reply(with: held, of: snapshot, to: call, responder) }
        guard isForced || !isUnlikelyToBeReplaced(held, call, at: snapshot) else {
            guard !held.hasEnded(at: snapshot) else { throw refusal(for: snapshot) }
            return try reply(with: held, of: snapshot, to: call, responder)
        }
        let (id, name) = (snapshot.account.id, snapshot.account.name.text)
        wait(for: .attempt, of: id, after: .demand(.refreshRequested), responder) { coordinator, outcome in
            coordinator.finish(call, of: name, had: held, outcome, responder)
        }
    }

    /// Whether the last refresh has shown that another one brings no better ID token: this one was no longer good
    /// enough then, and the refresh did not replace it.
    private func isUnlikelyToBeReplaced(_ held: HeldIDToken, _ call: TokenCall, at snapshot: AccountSnapshot) -> Bool {
        guard snapshot.holdsAccessToken(for: nil), let times = snapshot.state.accessToken else { return false }
        let age = snapshot.at.elapsed(since: times.issuedAt)
        return held.remaining(at: snapshot) + age < held.wanted(call.minimumValidity)
    }

    /// Replies with the ID token after the wait. A valid ID token is better than none, unless the caller requires a new
    /// one.
    private func finish(
        _ call: TokenCall,
        of name: String,
        had before: HeldIDToken,
        _ outcome: WaitOutcome,
        _ responder: VarlinkResponder
    ) {
        do throws(VarlinkError) {
            let after = if let settled = outcome.snapshot { settled } else { try account(name) }
            guard after.holdsAccessToken(for: .zero), let held = try held(by: after) else {
                return responder.refuse(outcome, name)
            }
            if !held.hasEnded(at: after), !call.isForced || held.token != before.token {
                return try reply(with: held, of: after, to: call, responder)
            }
            guard case .settled = outcome, after.failure == nil else { return responder.refuse(outcome, name) }
            throw refusal(for: after)
        } catch {
            responder.fail(error)
        }
    }

    private func held(by snapshot: AccountSnapshot) throws(VarlinkError) -> HeldIDToken? {
        try stored(store.tokens.idToken(of: snapshot.account.id)).flatMap(HeldIDToken.init)
    }

    private func reply(
        with held: HeldIDToken,
        of snapshot: AccountSnapshot,
        to call: TokenCall,
        _ responder: VarlinkResponder
    ) throws(VarlinkError) {
        guard let times = snapshot.state.accessToken,
            let token = try stored(records.accessToken(of: snapshot.account.id))
        else { throw .noToken(snapshot) }
        let idToken = held.onTheWire(at: snapshot)
        let (issue, end) = (held.claims.issuedAt, Timestamp(microseconds: idToken.expiresAtUSec))
        responder.reply(
            AcquireToken.Reply(
                accessToken: token.secret.reveal(),
                tokenType: token.scheme,
                expiresAtUSec: times.expiresAt(at: snapshot.at).microseconds,
                idToken: idToken,
                heldUntilUSec: tokenHolds.note(call.hold, issue, end, snapshot.at)
            )
        )
    }

    /// The error if there is no valid ID token and a refresh brings none.
    private func refusal(for snapshot: AccountSnapshot) -> VarlinkError {
        switch snapshot.state.phase {
        case .signedOut, .parked: return .noToken(snapshot)
        case .scheduled, .refreshing, .backingOff, .interactionRequired: break
        }
        let name = snapshot.account.name.text
        guard snapshot.account.registration.serviceGrant == nil else {
            return Complaint(
                field: "idToken",
                "'\(name)' acts for itself, and an ID token is about a person who signed in"
            ).error
        }
        let scopes = snapshot.account.registration.scopes
        let wanted = scopes.contains("openid") ? [] : ["openid"] + scopes
        return InteractionRequiredError(
            account: name,
            reason: "noIDToken",
            sinceUSec: snapshot.at.wall.microseconds,
            hint: Hint(Command(words: ["login", name] + wanted.flatMap { ["--scope", $0] }))
        ).error
    }
}

/// A caller's requirements for a token.
struct TokenCall: Sendable {
    /// The required validity; nil means long enough for one request.
    let minimumValidity: Duration?
    /// Whether it must have been issued after the call.
    let isForced: Bool
    /// What the caller keeps the token for; nil if it keeps none.
    let hold: TokenHold?
}

/// A stored ID token with its claims.
private struct HeldIDToken: Sendable {
    let token: Secret
    let claims: IDToken

    /// Reads the token; nil if that fails. It was validated before it was stored, so an unreadable one counts as
    /// missing.
    init?(_ token: Secret) {
        guard let claims = try? IDToken(stored: token) else { return nil }
        self.token = token
        self.claims = claims
    }

    /// How much of its lifetime is left by the server's clock; zero or negative if it has expired.
    func remaining(at snapshot: AccountSnapshot) -> Duration {
        claims.expiresAt - (snapshot.at.wall + (snapshot.clockSkew ?? .zero))
    }

    func hasEnded(at snapshot: AccountSnapshot) -> Bool { remaining(at: snapshot) <= .zero }

    /// The remaining lifetime that a caller needs. By default, the token must outlive the caller's request. As with
    /// access tokens, a caller can ask for at most nine tenths of the lifetime that the server gives.
    func wanted(_ minimumValidity: Duration?) -> Duration {
        let lifetime = max(claims.expiresAt - claims.issuedAt, .zero)
        return min(minimumValidity ?? min(.seconds(30), lifetime.scaled(by: 0.1)), lifetime.scaled(by: 0.9))
    }

    func suffices(for minimumValidity: Duration?, at snapshot: AccountSnapshot) -> Bool {
        !hasEnded(at: snapshot) && remaining(at: snapshot) >= wanted(minimumValidity)
    }

    func onTheWire(at snapshot: AccountSnapshot) -> IdToken {
        IdToken(token, claims, clockSkew: snapshot.clockSkew)
    }
}

extension IdToken {
    /// Creates the reply.
    ///
    /// - Parameter clockSkew: the server's clock minus ours; nil if it is unknown.
    init(_ token: Secret, _ claims: IDToken, clockSkew: Duration?) {
        self.init(
            token: token.reveal(),
            // By our clock, like all times on the wire.
            expiresAtUSec: (claims.expiresAt - (clockSkew ?? .zero)).microseconds,
            subject: claims.subject,
            audiences: claims.audiences,
            nonce: claims.nonce
        )
    }
}
