import Foundation
import RefreshCore
import Testing
import TextEncodings

@testable import OAuthClient
@testable import OAuthMessages

/// One answer of the corpus, and the expected result.
struct AnswerCase: Decodable, Sendable, CustomTestStringConvertible {
    struct Expectation: Decodable, Sendable {
        /// `issued` or a failure class.
        let outcome: String
        let lifetime: Int?
        let refreshIn: Int?
        let refreshTokenLifetime: Int?
        let rotated: Bool?
        let scopes: [String]?
        let noScopes: Bool?
        let tokenType: String?
        let accessToken: String?
        let refreshToken: String?
        /// Why the access token is not used: the name of an `AccessTokenFinding`.
        let flaw: String?
        let idToken: Bool?
        let oauthError: String?
        let subError: String?
        let providerCode: String?
        let retryAfter: Int?
    }

    let server: String
    let `case`: String
    let source: String
    let status: Int
    let headers: [String: String]
    let body: String
    let profile: ProviderProfile?
    let workedBefore: Bool?
    let expect: Expectation

    var testDescription: String { "\(server): \(`case`)" }

    private struct File: Decodable { let cases: [AnswerCase] }

    static func load(_ name: String) throws -> [AnswerCase] {
        try JSONDecoder().decode(File.self, from: Fixture.data(name)).cases
    }
}

enum Fixture {
    static func data(_ name: String) throws -> Data {
        let folder = try #require(Bundle.module.resourceURL).appendingPathComponent("Fixtures")
        return try Data(contentsOf: folder.appendingPathComponent(name))
    }
}

/// The corpus. Each answer goes through a real connection and the whole client.
struct TokenResponseTests {
    private static let sentToken = "sent-refresh-token"

    @Test(arguments: try AnswerCase.load("recorded-answers.json"))
    func `a recorded answer is recognized`(_ answer: AnswerCase) async throws {
        try await check(answer)
    }

    @Test(arguments: try AnswerCase.load("documented-answers.json"))
    func `a documented answer is recognized`(_ answer: AnswerCase) async throws {
        try await check(answer)
    }

    @Test(arguments: try AnswerCase.load("malformed-answers.json"))
    func `no token in a malformed answer is lost`(_ answer: AnswerCase) async throws {
        try await check(answer)
    }

    @Test func `the corpus has at least 200 answers and each names its source`() throws {
        let all = try ["recorded", "documented", "malformed"].flatMap { try AnswerCase.load($0 + "-answers.json") }
        #expect(all.count >= 200)
        #expect(all.allSatisfy { !$0.source.isEmpty && !$0.server.isEmpty && !$0.case.isEmpty })
        #expect(Set(all.map(\.expect.outcome)).isSuperset(of: ["issued", "grantEnded", "userRequired", "rejected"]))
    }

    @Test(
        arguments: [
            ("3600", Duration.seconds(3600), LifetimeBasis.stated), ("0", .zero, .stated), ("-1", .zero, .stated),
            (#""0""#, .zero, .stated), ("null", nil, .notStated), (#""soon""#, nil, .unreadable),
            ("[]", nil, .unreadable),
            ("1e12", nil, .unreadable),
        ] as [(String, Duration?, LifetimeBasis)]
    )
    func `expires_in may be given, zero, missing or unreadable`(
        json: String,
        lifetime: Duration?,
        basis: LifetimeBasis
    ) throws {
        let fields = try #require(JSONTree.object(in: Array(#"{"access_token":"a","expires_in":\#(json)}"#.utf8)))
        let now = Timestamp(microseconds: 1_800_000_000_000_000)
        let plain = TokenResponseDecoder(sent: nil, profile: nil, now: now).decode(fields)
        #expect(plain?.issuance.lifetime == lifetime)
        #expect(plain?.issuance.lifetimeBasis == basis)
        var profile = ProviderProfile(name: "endless")
        profile.zeroLifetime = .never
        let endless = TokenResponseDecoder(sent: nil, profile: profile, now: now).decode(fields)
        let isZero = json.contains("0") && lifetime == .zero
        #expect(endless?.issuance.lifetimeBasis == (isZero ? .unlimited : basis))
    }

    @Test(arguments: [
        (400, "", true, FailureClass.grantEnded), (400, "", false, .rejected), (403, "", true, .rejected),
        (403, #"{"errors":[{"resource":"RefreshToken"}]}"#, false, .grantEnded),
        (403, #"{"errors":[]}"#, true, .rejected),
        (403, #"{"message":"Forbidden"}"#, true, .refusedByGateway), (403, "<html>no</html>", true, .refusedByGateway),
        (403, "<html>no</html>", false, .unavailable), (429, "", true, .unavailable),
    ])
    func `an answer without a code ends a grant if the profile says so`(
        status: Int,
        body: String,
        workedBefore: Bool,
        failureClass: FailureClass
    ) async throws {
        var profile = ProviderProfile(name: "codeless")
        profile.grantEnded = [
            GrantEndedAnswer(status: 400), GrantEndedAnswer(status: 429),
            GrantEndedAnswer(status: 403, field: "errors.0.resource", text: "refreshtoken"),
        ]
        let outcome = try await withServer({ _, _ in [LoopbackServer.answer(status, [:], body)] }) { server in
            try await withClient { client in
                await client.refresh(
                    try refreshRequest(to: server.origin, profile: profile, hasWorkedBefore: workedBefore)
                )
            }
        }
        #expect(outcome.failure?.failureClass == failureClass)
    }

    @Test(
        arguments: [
            // The token's own end in seconds from now, whether there is a refresh token, the profile's lifetime.
            (600, true, nil, Duration.seconds(600), LifetimeBasis.stated), (7200, true, nil, nil, .notStated),
            (7200, false, nil, .seconds(7200), .stated), (7200, true, "4h", .seconds(7200), .stated),
            (600, true, "5m", .seconds(300), .notStated), (-5, true, nil, nil, .notStated),
        ] as [(Int64, Bool, String?, Duration?, LifetimeBasis)]
    )
    func `without expires_in the end in a JWT counts, if it is the earlier one`(
        rest: Int64,
        hasRefreshToken: Bool,
        usual: String?,
        lifetime: Duration?,
        basis: LifetimeBasis
    ) throws {
        let now = Timestamp(microseconds: 1_800_000_000_000_000)
        let payload = Base64URL.encode(Array(#"{"exp":\#(1_800_000_000 + rest)}"#.utf8))
        let token = "eyJhbGciOiJSUzI1NiJ9.\(payload).c2ln"
        var profile = ProviderProfile(name: "p")
        profile.defaultLifetime = usual.flatMap { Duration(written: $0) }
        let sent = hasRefreshToken ? RefreshToken(Secret("r1")) : nil
        let decoder = TokenResponseDecoder(sent: sent, profile: profile, now: now)
        let unstated = try #require(decoder.decode(["access_token": .string(token)]))
        #expect(unstated.issuance.lifetime == lifetime && unstated.issuance.lifetimeBasis == basis)
        let stated = decoder.decode(["access_token": .string(token), "expires_in": .number(900)])
        #expect(stated?.issuance.lifetime == .seconds(900))
        for other in ["a.b", "a.\(payload)", "a.!.c", "a.\(payload).c.d"] {
            #expect(decoder.decode(["access_token": .string(other)])?.issuance.lifetimeBasis == .notStated)
        }
    }

    @Test func `refresh_expires_in 0 means no end`() throws {
        let text = #"{"access_token":"a","expires_in":60,"refresh_expires_in":0}"#
        let fields = try #require(JSONTree.object(in: Array(text.utf8)))
        let decoder = TokenResponseDecoder(sent: nil, profile: nil, now: Timestamp(microseconds: 0))
        #expect(decoder.decode(fields)?.issuance.refreshTokenLifetime == nil)
    }

    @Test(arguments: [("", nil), (#","refresh_token_expires_in":60"#, 60)] as [(String, Int?)])
    func `a lifetime from the sign-in does not start again with an answer, unless the server says so`(
        _ rest: String,
        _ seconds: Int?
    ) throws {
        let fields = try #require(JSONTree.object(in: Array(#"{"access_token":"a"\#(rest)}"#.utf8)))
        var profile = ProviderProfile(name: "p")
        profile.refreshTokenLifetime = Duration(written: "30d")
        let lifetime = { (profile: ProviderProfile) in
            TokenResponseDecoder(sent: nil, profile: profile, now: Timestamp(microseconds: 0)).decode(fields)?
                .issuance.refreshTokenLifetime
        }
        #expect(lifetime(profile) == .seconds(seconds ?? 2_592_000))
        profile.refreshTokenLifetimeStart = .signIn
        #expect(lifetime(profile) == seconds.map { .seconds($0) })
    }

    private func check(_ answer: AnswerCase) async throws {
        let body = answer.body.replacing("SENT", with: Self.sentToken)
        let outcome = try await withServer({ _, _ in [LoopbackServer.answer(answer.status, answer.headers, body)] }) {
            server in
            try await withClient { client in
                await client.refresh(
                    try refreshRequest(
                        to: server.origin,
                        profile: answer.profile,
                        token: Self.sentToken,
                        hasWorkedBefore: answer.workedBefore ?? false
                    )
                )
            }
        }
        switch outcome.result {
        case .success(let response):
            #expect(answer.expect.outcome == "issued")
            expect(response, answer.expect)
        case .failure(let failure):
            #expect(failure.failureClass.rawValue == answer.expect.outcome, "\(failure.detail)")
            expect(failure, answer)
        }
    }

    private func expect(_ response: TokenResponse, _ expected: AnswerCase.Expectation) {
        let seconds = { (count: Int?) in count.map { Duration.seconds($0) } }
        #expect((response.accessToken == nil) == (expected.flaw != nil))
        #expect(response.issuance.flaw.map { "\($0)" } == expected.flaw)
        if let token = expected.accessToken { #expect(response.accessToken?.secret == Secret(token)) }
        if let token = expected.refreshToken { #expect(response.refreshToken == RefreshToken(Secret(token))) }
        #expect(response.issuance.lifetime == seconds(expected.lifetime))
        #expect(response.issuance.refreshIn == seconds(expected.refreshIn))
        #expect(response.issuance.refreshTokenLifetime == seconds(expected.refreshTokenLifetime))
        #expect(response.issuance.isRotated == expected.rotated ?? false)
        #expect((response.refreshToken != nil) == response.issuance.isRotated)
        if let scopes = expected.scopes { #expect(response.scopes == scopes) }
        if expected.noScopes == true { #expect(response.scopes == nil) }
        if let tokenType = expected.tokenType { #expect(response.accessToken?.type == tokenType) }
        if let idToken = expected.idToken { #expect((response.idToken != nil) == idToken) }
    }

    private func expect(_ failure: RefreshFailure, _ answer: AnswerCase) {
        #expect(failure.detail.httpStatus == answer.status)
        #expect(failure.detail.correlationID == "correlation-1")
        #expect(failure.retryAfter == answer.expect.retryAfter.map { .seconds($0) })
        if let error = answer.expect.oauthError { #expect(failure.detail.oauthError == error) }
        if let error = answer.expect.subError { #expect(failure.detail.subError == error) }
        if let code = answer.expect.providerCode { #expect(failure.detail.providerCode == code) }
    }
}
