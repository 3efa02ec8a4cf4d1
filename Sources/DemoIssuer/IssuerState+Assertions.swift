internal import TextEncodings

// Assertion grants (RFC 7523 §2.1).
extension IssuerState {
    static let jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"

    /// Issues a token for the subject of the assertion. Its scope is what the assertion and the request ask for,
    /// limited to the client's.
    mutating func assertedToken(_ form: FormFields, _ draft: RequestLog.Draft, at now: Duration) -> Answer {
        var draft = draft
        let known = form["assertion"].flatMap { SignedToken($0)?.claims["iss"]?.string }.flatMap { clients[$0] }
        guard let assertion = form["assertion"], let client = known, let key = client.assertionKey,
            let claims = SignedToken(assertion)?.claims(signedBy: key, for: audiences, at: now),
            let name = claims["jti"]?.string, shownAssertions.insert(client.id + " " + name).inserted
        else {
            note(draft, .assertionRefused, at: now)
            return .oauthError("invalid_grant", "the assertion is not good: signature, audience, time or second use")
        }
        draft.clientID = client.id
        var asked = form.asked
        asked.scope = asked.scope ?? claims["scope"]?.string
        let decision = ledger.issueServiceToken(
            clientID: client.id,
            subject: claims["sub"]?.string ?? client.id,
            scope: client.serviceScope ?? "",
            asking: asked,
            at: now
        )
        note(draft, decision.outcome, at: now)
        return answer(decision, at: now)
    }

    /// The audiences that an assertion may have.
    var audiences: Set<String> { [issuer, issuer + "/token"] }
}
