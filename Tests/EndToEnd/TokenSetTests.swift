import AuthRefreshInterface
import DemoIssuer
import Foundation
import TestSupport
import Testing

/// Several token sets of one account, with real programs.
struct TokenSetTests {
    private static let scope = "mail files calendar offline_access"
    /// What lets an account at a server that rotates refresh tokens ask for fewer scopes.
    private static let keepsScopes = ["narrowed_scopes": "kept"]

    private func withAccount(
        policy: GrantPolicy = GrantPolicy(),
        rotationGraceSec: Int64? = nil,
        providerSettings: [String: String]? = keepsScopes,
        _ body: (DaemonStage, DemoIssuer, IssuedGrant) async throws -> Void
    ) async throws {
        let stage = try DaemonStage(hasOwnClock: true)
        try await withIssuer(policy: policy, now: stage.now) { issuer, url in
            let daemon = try await stage.start()
            let grant = try await issuer.issueGrant(clientID: "app", scope: Self.scope)
            try await stage.add(
                "work",
                issuer: url,
                grant: grant,
                rotationGraceSec: rotationGraceSec,
                providerSettings: providerSettings
            )
            try await stage.acquire("work")
            try await body(stage, issuer, grant)
            #expect(await issuer.counters.overlaps == 0)
            #expect(await issuer.counters.spentTokenUses == 0)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    private func acquire(
        _ stage: DaemonStage,
        scopes: [String]? = nil,
        resources: [String]? = nil,
        audience: String? = nil,
        claims: String? = nil,
        force: Bool? = nil
    ) async throws -> AcquireToken.Reply {
        let call = AcquireToken.Parameters(
            account: "work",
            scopes: scopes,
            resources: resources,
            audience: audience,
            claims: claims,
            force: force
        )
        return try await stage.ask(.acquireToken, call, for: AcquireToken.Reply.self)
    }

    private func refusal<Refusal: InterfaceError>(
        _: Refusal.Type,
        _ body: () async throws -> AcquireToken.Reply
    ) async throws -> Refusal {
        do {
            _ = try await body()
        } catch TestFault.refused(Refusal.name, let parameters) {
            return try JSONDecoder().decode(Refusal.self, from: Data(parameters.utf8))
        }
        throw TestFault.unreadable("a token")
    }

    @Test func `a token set is requested once, shared in any order, shown, and survives a restart`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let first = try await stage.start()
            let grant = try await issuer.issueGrant(clientID: "app", scope: Self.scope)
            try await stage.add("work", issuer: url, grant: grant, providerSettings: Self.keepsScopes)
            let own = try await stage.acquire("work")
            let arguments = ["token", "work", "--scope", "mail files", "--resource", "https://a.example"]
            let printed = try await stage.authctl(arguments)
            #expect(printed.end == .exited(0), "\(printed.errors)")
            let set = try await acquire(stage, scopes: ["files", "mail", "mail"], resources: ["https://a.example"])
            #expect(set.accessToken == printed.output)
            #expect(set.accessToken != own.accessToken)
            #expect(set.scopes == ["files", "mail"])
            #expect(await issuer.counters.tokenRequests == 2)
            #expect(try await first.terminate() == .exited(0))

            let second = try await stage.start()
            #expect(try await acquire(stage, scopes: ["files", "mail"], resources: ["https://a.example"]) == set)
            #expect(try await stage.acquire("work") == own)
            let status = try await stage.status("work")
            #expect(
                status.tokenSets == [
                    TokenSetStatus(
                        scopes: ["files", "mail"],
                        resources: ["https://a.example"],
                        expiresAtUSec: set.expiresAtUSec
                    )
                ]
            )
            let shown = try await stage.authctl("account", "show", "work")
            #expect(shown.output.contains("token set       files mail, for https://a.example until "))
            #expect(await issuer.counters.tokenRequests == 2)
            #expect(try await second.terminate() == .exited(0))
        }
    }

    @Test func `claims are sent with the refresh, and make their own set`() async throws {
        try await withAccount { stage, issuer, _ in
            let arguments = ["token", "work", "--claims", #"{ "access_token": {"acr": {"value": "m f a"}} }"#]
            let printed = try await stage.authctl(arguments)
            #expect(printed.end == .exited(0), "\(printed.errors)")
            let claims = #"{"access_token":{"acr":{"value":"m f a"}}}"#
            #expect(try await acquire(stage, claims: claims).accessToken == printed.output)
            #expect(try await stage.status("work").tokenSets?.map(\.claims) == [claims])
            #expect(await issuer.counters.tokenRequests == 2)
            let wrong = try await stage.authctl("token", "work", "--claims", "[]")
            #expect(wrong.end == .exited(65))
            #expect(wrong.errors.contains("not a JSON object"), "\(wrong.errors)")
        }
    }

    @Test(arguments: [GrantPolicy.Narrowing.untilNamed, .forGood])
    func `a set that narrows the account is noticed, and missing scopes are reported`(
        narrowing: GrantPolicy.Narrowing
    ) async throws {
        var policy = GrantPolicy()
        policy.narrowing = narrowing
        try await withAccount(policy: policy) { stage, _, _ in
            _ = try await acquire(stage, scopes: ["mail"])
            #expect(try await stage.status("work").missingScopes == nil)
            #expect(try await stage.authctl("refresh", "work").end == .exited(0))
            #expect(try await stage.status("work").missingScopes == ["calendar", "files"])
            let told = try await stage.authctl("status", "work")
            #expect(told.end == .exited(0) && told.output.contains("calendar files"), "\(told)")
            let shown = try await stage.authctl("account", "show", "work")
            #expect(shown.output.contains("of its grant's scope: calendar files"), "\(shown)")

            // The scope is named once. One of the two kinds of server refuses it, and is then asked without it.
            for _ in 0..<2 {
                let outcome = try await stage.authctl("refresh", "work")
                #expect(outcome.end == .exited(narrowing == .untilNamed ? 0 : 3), "\(outcome)")
            }
            let status = try await stage.status("work")
            #expect(status.failures == 0, "\(status)")
            guard narrowing == .untilNamed else {
                // Only a person brings the scopes back. What is left is given out.
                #expect(status.state == "interaction-required" && status.reason == "scopesLost", "\(status)")
                #expect(status.missingScopes == ["calendar", "files"])
                let told = try await stage.authctl("status", "work")
                #expect(told.end == .exited(3) && told.output.contains("authctl login work"), "\(told)")
                #expect(try await stage.authctl("token", "work").end == .exited(0))
                return
            }
            #expect(status.state == "fresh" && status.missingScopes == nil)

            // The scope is named in each request, so that another token set does not narrow it.
            _ = try await acquire(stage, scopes: ["files"])
            #expect(try await stage.authctl("refresh", "work").end == .exited(0))
            #expect(try await stage.status("work").missingScopes == nil)
        }
    }

    @Test(arguments: [true, false])
    func `fewer scopes are not requested if that may take the others from the account`(
        statesScope: Bool
    ) async throws {
        var policy = GrantPolicy()
        (policy.narrowing, policy.statesScope) = (.forGood, statesScope)
        try await withAccount(policy: policy, providerSettings: nil) { stage, issuer, grant in
            let before = await issuer.counters.tokenRequests
            let refused = try await stage.authctl("token", "work", "--scope", "mail")
            #expect(refused.end == .exited(78) && refused.output.isEmpty)
            #expect(refused.errors.contains("login work --new-account NAME --scope mail"), "\(refused.errors)")
            #expect(refused.errors.contains("--provider-setting narrowed_scopes=kept"), "\(refused.errors)")
            #expect(await issuer.counters.tokenRequests == before)
            #expect(try await stage.authctl("refresh", "work").end == .exited(0))
            #expect(await issuer.grant(grant.family)?.scope == Self.scope)
        }
    }

    @Test func `what a server does with the scope of one grant is known for all of its accounts, also after a restart`()
        async throws
    {
        let stage = try DaemonStage()
        try await withIssuer { issuer, url in
            let daemon = try await stage.start()
            let accounts: [(String, [String: String]?)] = [("work", Self.keepsScopes), ("home", nil)]
            for (name, settings) in accounts {
                let grant = try await issuer.issueGrant(clientID: "app", scope: Self.scope)
                try await stage.add(name, issuer: url, grant: grant, providerSettings: settings)
                try await stage.acquire(name)
            }
            let part = ["token", "home", "--scope", "mail"]
            #expect(try await stage.authctl(part).end == .exited(78))
            _ = try await acquire(stage, scopes: ["mail"])
            #expect(try await stage.authctl(part).end == .exited(78))
            #expect(try await stage.authctl("refresh", "work").end == .exited(0))
            #expect(try await daemon.terminate() == .exited(0))

            let second = try await stage.start()
            #expect(try await stage.authctl(part).end == .exited(0))
            #expect(try await second.terminate() == .exited(0))
        }
    }

    @Test func `fewer scopes are requested from a server that does not rotate refresh tokens`() async throws {
        try await withAccount(policy: GrantPolicy(isRotating: false), providerSettings: nil) { stage, _, _ in
            let set = try await acquire(stage, scopes: ["mail"])
            #expect(set.scopes == ["mail"])
        }
    }

    @Test func `after a sign-in, a refresh shows first whether fewer scopes may be requested`() async throws {
        let stage = try DaemonStage()
        try await withIssuer { issuer, url in
            let daemon = try await stage.start()
            let grant = try await issuer.issueGrant(clientID: "app", scope: Self.scope)
            try await stage.add("work", issuer: url, grant: grant)
            _ = try await refusal(TokenSetRefusedError.self) { try await acquire(stage, scopes: ["mail"]) }
            #expect(try await stage.status("work").state == "fresh")
            #expect(await issuer.grant(grant.family)?.scope == Self.scope)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `32 callers of four sets cause four requests, one after the other`() async throws {
        try await withAccount { stage, issuer, _ in
            let before = await issuer.lastSequence
            try await issuer.script(.delayAfter(.milliseconds(200)), times: 4)
            let outcomes = try await withThrowingTaskGroup(of: (Int, CommandOutcome).self) { group in
                for number in 0..<32 {
                    let audience = "https://api\(number % 4).example"
                    group.addTask { (number % 4, try await stage.authctl("token", "work", "--audience", audience)) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.allSatisfy { $0.1.end == .exited(0) }, "\(Set(outcomes.map(\.1.errors)))")
            let bySet = Dictionary(grouping: outcomes, by: \.0).mapValues { Set($0.map(\.1.output)).count }
            #expect(bySet == [0: 1, 1: 1, 2: 1, 3: 1])
            #expect(Set(outcomes.map(\.1.output)).count == 4)
            let requests = await issuer.entries(after: before).filter { $0.path == "/token" }
            #expect(requests.map(\.outcome) == [.rotated, .rotated, .rotated, .rotated])
        }
    }

    @Test func `a refusal of a set concerns only its caller`() async throws {
        try await withAccount(policy: GrantPolicy(knownTargets: ["https://known.example"])) { stage, issuer, _ in
            let own = try await stage.acquire("work")
            let target = try await refusal(TokenSetRefusedError.self) {
                try await acquire(stage, resources: ["https://other.example"])
            }
            #expect(target.failure.oauthError == "invalid_target")
            #expect(!target.userRequired)
            let scope = try await stage.authctl("token", "work", "--scope", "admin")
            #expect(scope.end == .exited(78))
            #expect(scope.errors.contains("invalid_scope"))

            // A caller in a loop causes one request a minute. A person may force more.
            let requests = await issuer.counters.tokenRequests
            #expect(try await stage.authctl("token", "work", "--scope", "admin").end == .exited(78))
            #expect(await issuer.counters.tokenRequests == requests)
            #expect(try await stage.authctl("token", "work", "--scope", "admin", "--force").end == .exited(78))
            #expect(await issuer.counters.tokenRequests == requests + 1)

            #expect(try await stage.status("work").state == "fresh")
            #expect(try await stage.status("work").failures == 0)
            #expect(try await stage.acquire("work") == own)
            _ = try await acquire(stage, resources: ["https://known.example"])
        }
    }

    @Test(arguments: ["consent_required", "interaction_required"])
    func `a set that requires the user signs nobody out`(code: String) async throws {
        try await withAccount { stage, issuer, _ in
            try await issuer.script(.answer(.oauthError(code)))
            let refused = try await stage.authctl("token", "work", "--audience", "https://api.example")
            #expect(refused.end == .exited(3))
            #expect(refused.errors.contains(code))
            #expect(try await stage.status("work").state == "fresh")
            #expect(try await acquire(stage, audience: "https://api.example", force: true).tokenType == "Bearer")
        }
    }

    @Test func `invalid_grant for a set ends the grant only if the grant's own refresh gets it, too`()
        async throws
    {
        // With rotation, the server would have issued the refresh token a moment ago, and its refusal would be confirmed.
        try await withAccount(policy: GrantPolicy(isRotating: false)) { stage, issuer, grant in
            try await issuer.script(.answer(.oauthError("invalid_grant")), times: 1)
            let before = await issuer.counters.refreshes
            let refused = try await refusal(TokenSetRefusedError.self) { try await acquire(stage, audience: "api") }
            #expect(refused.failure.oauthError == "invalid_grant")
            #expect(try await stage.status("work").state == "fresh")
            #expect(await issuer.counters.refreshes == before + 1)

            try await issuer.revokeGrant(grant.family)
            _ = try await refusal(InteractionRequiredError.self) {
                try await acquire(stage, audience: "api", force: true)
            }
            #expect(try await stage.status("work").state == "interaction-required")
        }
    }

    @Test func `a lost answer for a set loses nothing within a known grace period`() async throws {
        try await withAccount(policy: GrantPolicy(gracePeriod: .seconds(60)), rotationGraceSec: 60) {
            stage,
            issuer,
            _ in
            let feed = try await ChangeFeed(stage)
            try await issuer.script(.cutAfter)
            _ = try? await acquire(stage, scopes: ["mail"])
            try await feed.next("token-refreshed", of: "work")
            #expect(try await stage.status("work").state == "fresh")
            #expect(await issuer.counters.graceRepeats == 1)
            #expect(try await acquire(stage, scopes: ["mail"]).scopes == ["mail"])
        }
    }

    @Test func `a valid token of a set is handed out while the server is down`() async throws {
        try await withAccount(policy: GrantPolicy(accessTokenLifetime: .seconds(1800))) { stage, issuer, _ in
            let set = try await acquire(stage, scopes: ["mail"])
            try await issuer.script(.answer(.unavailable()), times: 100)
            #expect(try await acquire(stage, scopes: ["mail"]) == set)
            let call = AcquireToken.Parameters(account: "work", minimumValiditySec: 3600, scopes: ["mail"])
            #expect(try await stage.ask(.acquireToken, call, for: AcquireToken.Reply.self) == set)
            _ = try await refusal(TemporarilyUnavailableError.self) { try await acquire(stage, scopes: ["files"]) }
        }
    }

    @Test func `a new grant and a sign-out erase the sets`() async throws {
        try await withAccount { stage, issuer, _ in
            let old = try await acquire(stage, scopes: ["mail"])
            try await stage.importGrant(issuer.issueGrant(clientID: "app", scope: Self.scope), into: "work")
            #expect(try await stage.status("work").tokenSets == nil)
            let new = try await acquire(stage, scopes: ["mail"])
            #expect(new.accessToken != old.accessToken)
            #expect(try await stage.authctl("logout", "work").end == .exited(0))
            #expect(try await stage.status("work").tokenSets == nil)
            _ = try await refusal(SignedOutError.self) { try await acquire(stage, scopes: ["mail"]) }
        }
    }

    @Test func `an account with another person's tokens gives out no token and no grant, even parked`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let first = try await stage.start()
            let grant = try await issuer.issueGrant(clientID: "app", scope: Self.scope)
            try await stage.add("work", issuer: url, grant: grant, providerSettings: Self.keepsScopes)
            try await stage.acquire("work")
            _ = try await acquire(stage, scopes: ["mail"])
            #expect(try await first.terminate() == .exited(0))
            try await stage.change(
                store: """
                    UPDATE account SET is_withheld = 1, phase = 'interactionRequired', phase_wall_usec = 1,
                        interaction_reason = 'otherPerson', failure_class = 'userRequired',
                        failure_detail = '{"summary":"another person"}', deadline_usec = NULL
                    """
            )
            let second = try await stage.start()
            let refused = try await refusal(InteractionRequiredError.self) {
                try await acquire(stage, scopes: ["mail"])
            }
            #expect(refused.reason == "otherPerson")
            #expect(try await stage.authctl("token", "work").output.isEmpty)
            for arguments in [[], ["--move"]] {
                let export = try await stage.authctl(["account", "export", "work"] + arguments)
                #expect(export.end != .exited(0) && export.output.isEmpty, "\(export)")
                #expect(export.errors.contains("another person") && export.errors.contains("authctl login work"))
                #expect(try await stage.status("work").reason == "otherPerson")
            }
            #expect(try await second.terminate() == .exited(0))
            try await stage.change(store: "UPDATE account SET phase = 'parked', interaction_reason = NULL")
            let third = try await stage.start()
            #expect(try await stage.authctl("account", "export", "work").output.isEmpty)
            #expect(try await stage.authctl("token", "work", "--scope", "mail").output.isEmpty)
            #expect(try await third.terminate() == .exited(0))
        }
    }

    @Test func `one token set too many gets the limit, and an expired one makes room`() async throws {
        try await withAccount { stage, issuer, _ in
            for number in 0..<15 { _ = try await acquire(stage, audience: "a\(number)") }
            await issuer.setPolicy(GrantPolicy(accessTokenLifetime: .seconds(300)))
            let short = try await acquire(stage, audience: "short")
            await issuer.setPolicy(GrantPolicy())
            let refused = try await refusal(LimitExceededError.self) { try await acquire(stage, audience: "b") }
            #expect(refused == LimitExceededError(.tokenSets, maximum: 16))
            #expect(try await acquire(stage, audience: "a3").tokenType == "Bearer")
            try await stage.pass(until: short.expiresAtUSec)
            _ = try await acquire(stage, audience: "b")
            #expect(try await stage.status("work").tokenSets?.count == 16)

            let long = String(repeating: "x", count: 1_024)
            let tooLong = try await refusal(LimitExceededError.self) { try await acquire(stage, audience: long) }
            #expect(tooLong == LimitExceededError(.tokenSetBytes, maximum: 1_024))
            let wrong = try await refusal(InvalidSettingsError.self) { try await acquire(stage, resources: ["api"]) }
            #expect(wrong.field == "resources")
        }
    }
}
