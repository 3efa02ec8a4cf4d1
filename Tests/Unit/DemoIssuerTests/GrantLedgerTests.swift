import Testing

@testable import DemoIssuer

/// The rules by which grants are issued and used up, at times that the test chooses.
struct GrantLedgerTests {
    @Test func `a rotation replaces the refresh token and raises the generation`() throws {
        let ledger = LedgerRig(GrantPolicy(accessTokenLifetime: .seconds(20)))
        let grant = ledger.issue()
        let first = try ledger.rotate(grant.refreshToken)
        let second = try ledger.rotate(try #require(first.refreshToken))
        #expect(first.position == TokenPosition(family: 1, generation: 2))
        #expect(second.position == TokenPosition(family: 1, generation: 3))
        #expect(Set([grant.refreshToken, first.refreshToken, second.refreshToken]).count == 3)
        #expect(first.accessTokenExpiresAt == LedgerRig.start + .seconds(20))
        #expect(first.scope == "mail calendar")
    }

    @Test func `a narrower scope applies to later requests if the policy says so`() throws {
        for (narrowing, later) in [(GrantPolicy.Narrowing.none, "mail calendar"), (.untilNamed, "mail")] {
            var policy = GrantPolicy(isRotating: false)
            policy.narrowing = narrowing
            let ledger = LedgerRig(policy)
            let grant = ledger.issue()
            var scopes: [String] = []
            for scope in ["mail", nil, "mail calendar", nil] {
                guard case .issued(let tokens) = ledger.refresh(grant.refreshToken, asking: AskedToken(scope: scope))
                else { throw DemoError("no grant") }
                scopes.append(tokens.scope)
            }
            #expect(scopes == ["mail", later, "mail calendar", "mail calendar"])
        }
    }

    @Test func `without rotation the refresh token stays and is not repeated`() {
        let ledger = LedgerRig(GrantPolicy(isRotating: false))
        let grant = ledger.issue()
        for _ in 1...3 {
            guard case .issued(let tokens) = ledger.refresh(grant.refreshToken) else {
                Issue.record("a stable refresh token was refused")
                return
            }
            #expect(tokens.refreshToken == nil)
            #expect(tokens.position.generation == 1)
        }
    }

    @Test func `the reuse of a spent token revokes the family`() throws {
        let ledger = LedgerRig(GrantPolicy())
        let grant = ledger.issue()
        let tokens = try ledger.rotate(grant.refreshToken)
        #expect(ledger.refresh(grant.refreshToken) == .spentToken(revokedFamily: true))
        let newest = try #require(tokens.refreshToken)
        #expect(ledger.refresh(newest) == .revokedGrant(.reuseDetected))
        #expect(ledger.liveToken(tokens.accessToken) == nil)
        // The second use of the same spent token is also recognized, and revokes nothing more.
        #expect(ledger.refresh(grant.refreshToken) == .spentToken(revokedFamily: false))
    }

    @Test func `without reuse detection the newest token survives a reuse`() throws {
        let ledger = LedgerRig(GrantPolicy(detectsReuse: false))
        let grant = ledger.issue()
        let tokens = try ledger.rotate(grant.refreshToken)
        #expect(ledger.refresh(grant.refreshToken) == .spentToken(revokedFamily: false))
        _ = try ledger.rotate(try #require(tokens.refreshToken))
    }

    @Test(arguments: [Duration.zero, .seconds(30)])
    func `within the grace period the previous token gets the same tokens`(_ elapsed: Duration) throws {
        let ledger = LedgerRig(GrantPolicy(gracePeriod: .seconds(30)))
        let grant = ledger.issue()
        let tokens = try ledger.rotate(grant.refreshToken)
        #expect(ledger.refresh(grant.refreshToken, after: elapsed) == .graceRepeat(tokens))
        _ = try ledger.rotate(try #require(tokens.refreshToken), after: elapsed)
    }

    @Test func `the grace period ends`() throws {
        let ledger = LedgerRig(GrantPolicy(gracePeriod: .seconds(30)))
        let grant = ledger.issue()
        _ = try ledger.rotate(grant.refreshToken)
        let late = ledger.refresh(grant.refreshToken, after: .seconds(30) + .microseconds(1))
        #expect(late == .spentToken(revokedFamily: true))
    }

    @Test func `grace is for the token replaced last, not for older ones`() throws {
        let ledger = LedgerRig(GrantPolicy(gracePeriod: .seconds(30)))
        let grant = ledger.issue()
        let tokens = try ledger.rotate(grant.refreshToken)
        _ = try ledger.rotate(try #require(tokens.refreshToken))
        #expect(ledger.refresh(grant.refreshToken) == .spentToken(revokedFamily: true))
    }

    @Test func `a grace repeat after the access token's end brings a new access token`() throws {
        let ledger = LedgerRig(GrantPolicy(accessTokenLifetime: .seconds(5), gracePeriod: .seconds(30)))
        let grant = ledger.issue()
        let tokens = try ledger.rotate(grant.refreshToken)
        guard case .graceRepeat(let again) = ledger.refresh(grant.refreshToken, after: .seconds(6)) else {
            Issue.record("the repeat was refused")
            return
        }
        #expect(again.refreshToken == tokens.refreshToken)
        #expect(again.accessToken != tokens.accessToken)
        #expect(again.accessTokenExpiresAt == LedgerRig.start + .seconds(11))
    }

    @Test func `an access token expires at its end`() throws {
        let ledger = LedgerRig(GrantPolicy(accessTokenLifetime: .seconds(20)))
        let grant = ledger.issue()
        let tokens = try ledger.rotate(grant.refreshToken)
        let live = try #require(ledger.liveToken(tokens.accessToken, after: .seconds(19)))
        #expect(live.subject == "alice" && !live.isRefreshToken)
        #expect(ledger.liveToken(tokens.accessToken, after: .seconds(20)) == nil)
    }

    @Test func `a token of another client is refused and stays valid`() throws {
        let ledger = LedgerRig(GrantPolicy())
        let grant = ledger.issue()
        #expect(ledger.refresh(grant.refreshToken, client: "other") == .wrongClient)
        #expect(ledger.revoke(grant.refreshToken, clientID: "other") == .wrongClient)
        _ = try ledger.rotate(grant.refreshToken)
    }

    @Test func `revoking a refresh token ends the grant and its access tokens`() throws {
        let ledger = LedgerRig(GrantPolicy())
        let grant = ledger.issue()
        let tokens = try ledger.rotate(grant.refreshToken)
        let newest = try #require(tokens.refreshToken)
        // RFC 7009 §2.2 treats a spent token like an unknown one.
        #expect(ledger.revoke(grant.refreshToken, clientID: "app") == .unknownToken)
        #expect(ledger.revoke(newest, clientID: "app") == .revoked)
        #expect(ledger.refresh(newest) == .revokedGrant(.client))
        #expect(ledger.liveToken(tokens.accessToken) == nil)
    }

    @Test func `revoking an access token does not end the grant`() throws {
        let ledger = LedgerRig(GrantPolicy())
        let grant = ledger.issue()
        let tokens = try ledger.rotate(grant.refreshToken)
        #expect(ledger.revoke(tokens.accessToken, clientID: "app") == .revoked)
        #expect(ledger.liveToken(tokens.accessToken) == nil)
        _ = try ledger.rotate(try #require(tokens.refreshToken))
    }

    @Test func `scope narrows the access token and not the grant`() throws {
        let ledger = LedgerRig(GrantPolicy())
        let grant = ledger.issue()
        guard case .rotated(let narrow) = ledger.refresh(grant.refreshToken, asking: AskedToken(scope: "mail")) else {
            Issue.record("a narrower scope was refused")
            return
        }
        #expect(narrow.scope == "mail")
        let newest = try #require(narrow.refreshToken)
        #expect(ledger.refresh(newest, asking: AskedToken(scope: "mail admin")) == .scopeTooWide)
        #expect(try ledger.rotate(newest).scope == "mail calendar")
    }

    @Test func `only the last spent tokens are remembered`() throws {
        let ledger = LedgerRig(GrantPolicy(detectsReuse: false))
        let grant = ledger.issue()
        var tokens = [grant.refreshToken]
        for _ in 0...GrantLedger.spentTokensKept {
            let last = try #require(tokens.last)
            tokens.append(try #require(try ledger.rotate(last).refreshToken))
        }
        #expect(ledger.refresh(tokens[0]) == .unknownToken)
        #expect(ledger.refresh(tokens[1]) == .spentToken(revokedFamily: false))
    }

    @Test func `the oldest live access token is dropped first`() throws {
        let ledger = LedgerRig(GrantPolicy(isRotating: false))
        let grant = ledger.issue()
        var access: [String] = []
        for _ in 0...GrantLedger.accessTokensKept {
            guard case .issued(let tokens) = ledger.refresh(grant.refreshToken) else { throw LedgerRig.Unexpected() }
            access.append(tokens.accessToken)
        }
        #expect(ledger.liveToken(access[0]) == nil)
        #expect(access.dropFirst().allSatisfy { ledger.liveToken($0) != nil })
    }

    @Test(arguments: ["", "demo-rt-", "demo-rt-00", "x", "demo-rt-+0000000000000000000000000000000"])
    func `a token that was never issued is unknown`(_ text: String) {
        let ledger = LedgerRig(GrantPolicy())
        _ = ledger.issue()
        #expect(ledger.refresh(text) == .unknownToken)
        #expect(ledger.revoke(text, clientID: "app") == .unknownToken)
    }

    @Test func `a token in capitals is another token`() {
        let ledger = LedgerRig(GrantPolicy())
        let grant = ledger.issue()
        let digits = grant.refreshToken.dropFirst("demo-rt-".count)
        #expect(OpaqueToken("demo-rt-" + digits) != nil)
        #expect(OpaqueToken(grant.refreshToken.uppercased()) == nil)
    }

    @Test func `two grants do not touch each other`() throws {
        let ledger = LedgerRig(GrantPolicy())
        let one = ledger.issue()
        let other = ledger.issue()
        #expect(ledger.revokeGrant(one.family))
        #expect(ledger.refresh(one.refreshToken) == .revokedGrant(.administrator))
        _ = try ledger.rotate(other.refreshToken)
        #expect(ledger.summary(ofGrant: one.family)?.revokedBy == .administrator)
        #expect(ledger.summary(ofGrant: other.family)?.revokedBy == nil)
        #expect(!ledger.revokeGrant(0) && !ledger.revokeGrant(3))
    }
}
