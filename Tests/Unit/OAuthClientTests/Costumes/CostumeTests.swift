import Foundation
import RefreshCore
import Testing
import TextEncodings

@testable import OAuthClient
@testable import OAuthMessages

/// Each shipped profile signs in and refreshes at a server that answers as its provider does.
///
/// The tests run one after the other, because a hundred servers at once would only measure the machine.
@Suite(.serialized) struct CostumeTests {
    private func wear<Value: Sendable>(
        _ costume: Costume,
        refusal: Costume.Refusal? = nil,
        _ body: (OAuthClient, ProviderProfile, Issuer, LoopbackServer) async throws -> Value
    ) async throws -> Value {
        try await withServer(CostumedProvider(costume: costume, refusal: refusal).script) { server in
            try await withClient({ $0.totalTimeout = .seconds(30) }) { client in
                let profile = try costume.profile(at: server.origin)
                return try await body(client, profile, try costume.issuer(of: profile, at: server.origin), server)
            }
        }
    }

    @Test func `every file of providers.d has a costume, and every costume its source`() throws {
        let profiles = try FileManager.default.contentsOfDirectory(atPath: ProviderProfileTests.folder.path)
            .filter { $0.hasSuffix(".yaml") }.map { String($0.dropLast(5)) }
        let costumes = try Costume.all()
        #expect(Set(profiles) == Set(costumes.map(\.name)))
        #expect(profiles.count >= 30)
        #expect(costumes.allSatisfy { !$0.source.isEmpty && !$0.refusals.isEmpty })
    }

    @Test(arguments: try Costume.all())
    func `the authorization request is the provider's`(_ costume: Costume) async throws {
        try await wear(costume) { client, profile, issuer, server in
            let request = try authorizationRequest(
                at: issuer.url,
                profile: profile,
                registration: costume.registration
            ) { $0.nonce = Secret("nonce-1") }
            let url = try await client.browser.authorizationURL(for: request).get()
            #expect(url.url.hasPrefix(server.origin + "/"))
            let sent = url.parameters
            for (name, value) in costume.authorize ?? [:] { #expect(sent[name] == [value], "\(name)") }
            if let scope = costume.scope { #expect(sent[costume.scopeParameter ?? "scope"] == [scope]) }
            for name in costume.absent ?? [] { #expect(sent[name] == nil, "\(name)") }
            #expect(sent["state"] == ["state-1"] && sent["response_type"] == ["code"])
            #expect((sent["code_challenge"] == nil) == (costume.absent?.contains("code_challenge") ?? false))
            for field in costume.callback ?? [] { #expect(profile.signIn.callbackFields.contains(field)) }
        }
    }

    @Test(arguments: try Costume.all())
    func `a code is exchanged for the tokens in the provider's answer`(_ costume: Costume) async throws {
        try await wear(costume) { client, profile, issuer, server in
            let exchange = try codeExchange(at: issuer.url, registration: costume.registration, profile: profile)
            let outcome = await client.codes.exchange(exchange)
            let grant = try outcome.result.get()
            expect(grant.tokens, (costume.exchange ?? costume.code).expect)
            #expect(grant.subject == costume.code.expect.subject)
            #expect(grant.keptFields == costume.code.expect.kept ?? [:])
            let sent = server.requests.filter { $0.tokenFields["code"] == "code-1" }
            #expect(sent.count == 1)
            expect(try #require(sent.first), costume.code, costume)
            if let exchange = costume.exchange { expect(try #require(server.requests.last), exchange, costume) }
        }
    }

    @Test(arguments: try Costume.all())
    func `a refresh returns the tokens in the provider's answer`(_ costume: Costume) async throws {
        guard let refresh = costume.refresh else { return }
        try await wear(costume) { client, profile, issuer, server in
            let outcome = await client.refresh(request(costume, profile, issuer, workedBefore: false))
            expect(try outcome.result.get(), refresh.expect)
            let sent = server.requests.filter(\.isRefresh)
            expect(try #require(sent.last), refresh, costume)
        }
    }

    @Test(arguments: try Costume.all())
    func `the provider's refusals are understood`(_ costume: Costume) async throws {
        for refusal in costume.refusals {
            let failure = try await wear(costume, refusal: refusal) { client, profile, issuer, _ in
                guard refusal.to == "code" else {
                    let sent = request(costume, profile, issuer, workedBefore: refusal.workedBefore ?? false)
                    return await client.refresh(sent).failure
                }
                let exchange = try codeExchange(at: issuer.url, registration: costume.registration, profile: profile)
                return await client.codes.exchange(exchange).failure
            }
            #expect(failure?.failureClass.rawValue == refusal.outcome, "\(refusal.body)")
            if let code = refusal.providerCode { #expect(failure?.detail.providerCode == code) }
            #expect(failure?.retryAfter == refusal.retryAfter.map { .seconds($0) })
        }
    }

    @Test(arguments: try Costume.all().filter { $0.device != nil })
    func `a device code is read`(_ costume: Costume) async throws {
        try await wear(costume) { client, profile, issuer, _ in
            let request = DeviceAuthorizationRequest(client: requestingClient(costume, profile, issuer))
            let codes = try await client.devices.authorize(request).get()
            #expect(codes.userCode == costume.device?.userCode)
            #expect(codes.verificationURI == costume.device?.verification)
            #expect(codes.deviceCode == Secret("d1"))
        }
    }

    private func request(
        _ costume: Costume,
        _ profile: ProviderProfile,
        _ issuer: Issuer,
        workedBefore: Bool
    ) -> RefreshRequest {
        RefreshRequest(
            client: requestingClient(costume, profile, issuer),
            refreshToken: RefreshToken(Secret("r1")),
            hasWorkedBefore: workedBefore
        )
    }

    private func requestingClient(
        _ costume: Costume,
        _ profile: ProviderProfile,
        _ issuer: Issuer
    ) -> RequestingClient {
        RequestingClient(
            issuer: issuer,
            profile: profile,
            registration: costume.registration,
            correlationID: "correlation-1"
        )
    }

    private func expect(_ tokens: TokenResponse, _ expected: Costume.Exchange.Expectation) {
        let seconds = { (count: Int?) in count.map { Duration.seconds($0) } }
        if let lifetime = expected.lifetime {
            // Strava's answer has a point in time, which is converted to a duration a moment later.
            let found = tokens.issuance.lifetime ?? .zero
            #expect(found <= .seconds(lifetime) && found >= .seconds(lifetime - 10), "\(found)")
        }
        #expect((tokens.refreshToken != nil) == expected.refreshToken)
        if let life = expected.refreshTokenLifetime { #expect(tokens.issuance.refreshTokenLifetime == .seconds(life)) }
        #expect(tokens.issuance.refreshIn == seconds(expected.refreshIn))
        if let scopes = expected.scopes { #expect(tokens.scopes == scopes) }
        if let type = expected.tokenType { #expect(tokens.accessToken?.type == type) }
    }

    private func expect(_ request: LoopbackServer.Request, _ exchange: Costume.Exchange, _ costume: Costume) {
        // The fields of a GET are compared separately.
        let place = request.line.hasPrefix("GET") ? String(request.line.prefix { $0 != "?" }) : request.line
        if let line = exchange.line { #expect(place == line) }
        for (name, value) in exchange.fields ?? [:] { #expect(request.tokenFields[name] == value, "\(name)") }
        for name in exchange.absent ?? [] { #expect(request.tokenFields[name] == nil, "\(name)") }
        for (name, value) in exchange.headers ?? [:] { #expect(request.header(name) == value, "\(name)") }
        if let type = exchange.contentType { #expect(request.header("content-type") == type) }
        if let accept = exchange.accept { #expect(request.header("accept") == accept) }
        if exchange.basic ?? false {
            #expect(request.header("authorization") == "Basic " + Base64.encode("client:costume-secret"))
        }
        #expect((request.tokenFields["code_verifier"] == nil) == isWithoutVerifier(request, costume))
    }

    private func isWithoutVerifier(_ request: LoopbackServer.Request, _ costume: Costume) -> Bool {
        request.isRefresh || costume.absent?.contains("code_challenge") ?? false
    }
}
