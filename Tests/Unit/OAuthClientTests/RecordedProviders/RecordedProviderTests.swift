import Foundation
import RefreshCore
import Testing
import TextEncodings

@testable import OAuthClient
@testable import OAuthMessages

/// Each shipped profile signs in and refreshes at a server that answers as its provider does.
///
/// The tests run one after the other, because a hundred servers at once would only measure the machine.
@Suite(.serialized) struct RecordedProviderTests {
    private func play<Value: Sendable>(
        _ recording: RecordedProvider,
        refusal: RecordedProvider.Refusal? = nil,
        _ body: (OAuthClient, ProviderProfile, Issuer, LoopbackServer) async throws -> Value
    ) async throws -> Value {
        try await withServer(RecordedProviderServer(recording: recording, refusal: refusal).script) { server in
            try await withClient({ $0.totalTimeout = .seconds(30) }) { client in
                let profile = try recording.profile(at: server.origin)
                return try await body(client, profile, try recording.issuer(of: profile, at: server.origin), server)
            }
        }
    }

    @Test func `every file of providers.d has a recording, and every recording its source`() throws {
        let profiles = try FileManager.default.contentsOfDirectory(atPath: ProviderProfileTests.folder.path)
            .filter { $0.hasSuffix(".yaml") }.map { String($0.dropLast(5)) }
        let recordings = try RecordedProvider.all()
        #expect(Set(profiles) == Set(recordings.map(\.name)))
        #expect(profiles.count >= 30)
        #expect(recordings.allSatisfy { !$0.source.isEmpty && !$0.refusals.isEmpty })
    }

    @Test(arguments: try RecordedProvider.all())
    func `the authorization request is the provider's`(_ recording: RecordedProvider) async throws {
        try await play(recording) { client, profile, issuer, server in
            let request = try authorizationRequest(
                at: issuer.url,
                profile: profile,
                registration: recording.registration
            ) { $0.nonce = Secret("nonce-1") }
            let url = try await client.browser.authorizationURL(for: request).get()
            #expect(url.url.hasPrefix(server.origin + "/"))
            let sent = url.parameters
            for (name, value) in recording.authorize ?? [:] { #expect(sent[name] == [value], "\(name)") }
            if let scope = recording.scope { #expect(sent[recording.scopeParameter ?? "scope"] == [scope]) }
            for name in recording.absent ?? [] { #expect(sent[name] == nil, "\(name)") }
            #expect(sent["state"] == ["state-1"] && sent["response_type"] == ["code"])
            #expect((sent["code_challenge"] == nil) == (recording.absent?.contains("code_challenge") ?? false))
            for field in recording.callback ?? [] { #expect(profile.signIn.callbackFields.contains(field)) }
        }
    }

    @Test(arguments: try RecordedProvider.all())
    func `a code is exchanged for the tokens in the provider's answer`(_ recording: RecordedProvider) async throws {
        try await play(recording) { client, profile, issuer, server in
            let exchange = try codeExchange(at: issuer.url, registration: recording.registration, profile: profile)
            let outcome = await client.codes.exchange(exchange)
            let grant = try outcome.result.get()
            expect(grant.tokens, (recording.exchange ?? recording.code).expect)
            #expect(grant.subject == recording.code.expect.subject)
            #expect(grant.keptFields == recording.code.expect.kept ?? [:])
            let sent = server.requests.filter { $0.tokenFields["code"] == "code-1" }
            #expect(sent.count == 1)
            expect(try #require(sent.first), recording.code, recording)
            if let exchange = recording.exchange { expect(try #require(server.requests.last), exchange, recording) }
        }
    }

    @Test(arguments: try RecordedProvider.all())
    func `a refresh returns the tokens in the provider's answer`(_ recording: RecordedProvider) async throws {
        guard let refresh = recording.refresh else { return }
        try await play(recording) { client, profile, issuer, server in
            let outcome = await client.refresh(request(recording, profile, issuer, workedBefore: false))
            expect(try outcome.result.get(), refresh.expect)
            let sent = server.requests.filter(\.isRefresh)
            expect(try #require(sent.last), refresh, recording)
        }
    }

    @Test(arguments: try RecordedProvider.all())
    func `the provider's refusals are understood`(_ recording: RecordedProvider) async throws {
        for refusal in recording.refusals {
            let failure = try await play(recording, refusal: refusal) { client, profile, issuer, _ in
                guard refusal.to == "code" else {
                    let sent = request(recording, profile, issuer, workedBefore: refusal.workedBefore ?? false)
                    return await client.refresh(sent).failure
                }
                let exchange = try codeExchange(at: issuer.url, registration: recording.registration, profile: profile)
                return await client.codes.exchange(exchange).failure
            }
            #expect(failure?.failureClass.rawValue == refusal.outcome, "\(refusal.body)")
            if let code = refusal.providerCode { #expect(failure?.detail.providerCode == code) }
            #expect(failure?.retryAfter == refusal.retryAfter.map { .seconds($0) })
        }
    }

    @Test(arguments: try RecordedProvider.all().filter { $0.device != nil })
    func `a device code is read`(_ recording: RecordedProvider) async throws {
        try await play(recording) { client, profile, issuer, _ in
            let asking = requestingClient(recording, profile, issuer)
            let codes = try await client.devices.authorize(asking).get()
            #expect(codes.userCode == recording.device?.userCode)
            #expect(codes.verificationURI == recording.device?.verification)
            #expect(codes.deviceCode == Secret("d1"))
        }
    }

    private func request(
        _ recording: RecordedProvider,
        _ profile: ProviderProfile,
        _ issuer: Issuer,
        workedBefore: Bool
    ) -> RefreshRequest {
        RefreshRequest(
            client: requestingClient(recording, profile, issuer),
            refreshToken: RefreshToken(Secret("r1")),
            hasWorkedBefore: workedBefore
        )
    }

    private func requestingClient(
        _ recording: RecordedProvider,
        _ profile: ProviderProfile,
        _ issuer: Issuer
    ) -> RequestingClient {
        RequestingClient(
            issuer: issuer,
            profile: profile,
            registration: recording.registration,
            correlationID: "correlation-1"
        )
    }

    private func expect(_ tokens: TokenResponse, _ expected: RecordedProvider.Exchange.Expectation) {
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

    private func expect(
        _ request: LoopbackServer.Request,
        _ exchange: RecordedProvider.Exchange,
        _ recording: RecordedProvider
    ) {
        // The fields of a GET are compared separately.
        let place = request.line.hasPrefix("GET") ? String(request.line.prefix { $0 != "?" }) : request.line
        if let line = exchange.line { #expect(place == line) }
        for (name, value) in exchange.fields ?? [:] { #expect(request.tokenFields[name] == value, "\(name)") }
        for name in exchange.absent ?? [] { #expect(request.tokenFields[name] == nil, "\(name)") }
        for (name, value) in exchange.headers ?? [:] { #expect(request.header(name) == value, "\(name)") }
        if let type = exchange.contentType { #expect(request.header("content-type") == type) }
        if let accept = exchange.accept { #expect(request.header("accept") == accept) }
        if exchange.basic ?? false {
            #expect(request.header("authorization") == "Basic " + Base64.encode("client:recording-secret"))
        }
        #expect((request.tokenFields["code_verifier"] == nil) == isWithoutVerifier(request, recording))
    }

    private func isWithoutVerifier(_ request: LoopbackServer.Request, _ recording: RecordedProvider) -> Bool {
        request.isRefresh || recording.absent?.contains("code_challenge") ?? false
    }
}
