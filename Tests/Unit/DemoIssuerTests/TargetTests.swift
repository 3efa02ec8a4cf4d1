import Testing

@testable import DemoIssuer

/// Resources and audiences of access tokens (RFC 8707).
struct TargetTests {
    @Test func `resources and audience belong to the access token and not to the grant`() throws {
        let ledger = LedgerRig(GrantPolicy())
        let asked = AskedToken(scope: "mail", resources: ["https://a.example", "urn:b"], audience: "api")
        guard case .rotated(let tokens) = ledger.refresh(ledger.issue().refreshToken, asking: asked) else {
            Issue.record("known targets were refused")
            return
        }
        #expect(ledger.liveToken(tokens.accessToken)?.audiences == ["https://a.example", "urn:b", "api"])
        let next = try ledger.rotate(try #require(tokens.refreshToken))
        #expect(ledger.liveToken(next.accessToken)?.audiences == [])
        #expect(next.scope == "mail calendar")
    }

    @Test(arguments: [AskedToken(resources: ["urn:x"]), AskedToken(audience: "x"), AskedToken(resources: ["no URI"])])
    func `an unknown target is refused without spending the refresh token`(asked: AskedToken) throws {
        let known: Set<String> = ["urn:known", "no URI"]
        let ledger = LedgerRig(GrantPolicy(knownTargets: known))
        let grant = ledger.issue()
        #expect(ledger.refresh(grant.refreshToken, asking: asked) == .unknownTarget)
        guard case .rotated = ledger.refresh(grant.refreshToken, asking: AskedToken(resources: ["urn:known"])) else {
            Issue.record("the refresh token was spent by a refusal")
            return
        }
    }

    @Test func `within the grace period another target gets a token of its own`() throws {
        let ledger = LedgerRig(GrantPolicy(gracePeriod: .seconds(60)))
        let grant = ledger.issue()
        let first = try ledger.rotate(grant.refreshToken)
        guard case .graceRepeat(let again) = ledger.refresh(grant.refreshToken, asking: AskedToken(audience: "api"))
        else {
            Issue.record("no repeat within the grace period")
            return
        }
        #expect(again.refreshToken == first.refreshToken)
        #expect(again.accessToken != first.accessToken)
    }

    @Test func `only the resource may be repeated`() throws {
        let form = try #require(FormFields("a=1&resource=urn%3Ax&resource=urn%3Ay".utf8))
        #expect(form.resources == ["urn:x", "urn:y"])
        #expect(FormFields("a=1&a=2".utf8) == nil)
    }
}
