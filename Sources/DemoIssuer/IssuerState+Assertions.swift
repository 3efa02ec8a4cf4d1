// Assertion grants (RFC 7523 §2.1).
extension IssuerState {
    static let jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"

    /// Issues a token for the subject of the assertion. Its scope is what the assertion and the request ask for,
    /// limited to the client's.
    mutating func assertedToken(_ form: FormFields, _ draft: RequestLog.Draft, at now: Duration) -> Answer {
        var draft = draft
        let known = form["assertion"].flatMap(AssertionCheck.issuer).flatMap { clients[$0] }
        guard let assertion = form["assertion"], let client = known, let key = client.assertionKey,
            let claims = assertionCheck(at: now).claims(of: assertion, signedBy: key),
            let name = claims.jti, shownAssertions.insert(client.id + " " + name).inserted
        else {
            note(draft, .assertionRefused, at: now)
            return .oauthError("invalid_grant", "the assertion is not good: signature, audience, time or second use")
        }
        draft.clientID = client.id
        let decision = ledger.issueServiceToken(
            clientID: client.id,
            subject: claims.sub ?? client.id,
            scope: client.serviceScope ?? "",
            asking: AskedToken(
                scope: form["scope"] ?? claims.scope,
                resources: form.resources,
                audience: form["audience"]
            ),
            at: now,
            using: &generator
        )
        note(draft, decision.outcome, at: now)
        return answer(decision, at: now)
    }

    func assertionCheck(at now: Duration) -> AssertionCheck {
        AssertionCheck(audiences: [issuer, issuer + "/token"], now: now)
    }
}
