internal import TextEncodings

// Token exchange (RFC 8693).
extension IssuerState {
    static let tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
    private static let tokenType = "urn:ietf:params:oauth:token-type:"

    /// Issues a token of the subject to the requesting client, with at most the scope of the subject's token. If the
    /// subject's or the actor's token is not valid, the request is refused.
    mutating func exchangedToken(
        _ form: FormFields,
        _ client: DemoClient,
        _ draft: RequestLog.Draft,
        at now: Duration
    ) -> Answer {
        let actor = form["actor_token"].map { liveToken($0, form["actor_token_type"], at: now) }
        let subject = form["subject_token"].flatMap { liveToken($0, form["subject_token_type"], at: now) }
        guard let subject, actor.map({ $0 != nil }) ?? (form["actor_token_type"] == nil) else {
            note(draft, .unknownToken, at: now)
            return .oauthError("invalid_request", "the token to be exchanged is not good here")
        }
        let wanted = form["requested_token_type"] ?? Self.tokenType + "access_token"
        guard ["access_token", "id_token"].map({ Self.tokenType + $0 }).contains(wanted) else {
            note(draft, .malformed, at: now)
            return .oauthError("invalid_request", "tokens of this type are not issued here")
        }
        var asked = form.asked
        asked.actor = actor??.subject
        let decision = ledger.issueServiceToken(
            clientID: client.id,
            subject: subject.subject,
            scope: subject.scope,
            asking: asked,
            at: now
        )
        note(draft, decision.outcome, at: now)
        guard case .issued(let tokens) = decision else { return answer(decision, at: now) }
        let isIDToken = wanted.hasSuffix("id_token")
        let jwt = isIDToken ? idToken(for: subject.subject, client, at: now) : nil
        return tokenAnswer(tokens, issuedType: wanted, jwt: jwt, at: now)
    }

    /// What one of our tokens may do; nil if it is not valid, or if its type is not the stated one.
    private func liveToken(_ text: String, _ type: String?, at now: Duration) -> (subject: String, scope: String)? {
        let live = ledger.liveToken(text, at: now)
        switch type {
        case Self.tokenType + "access_token" where live?.isRefreshToken == false,
            Self.tokenType + "refresh_token" where live?.isRefreshToken == true:
            return live.map { ($0.subject, $0.scope) }
        case Self.tokenType + "id_token":
            return signer.claims(of: text)?["sub"]?.string.map { ($0, "openid demo") }
        default: return nil
        }
    }
}
