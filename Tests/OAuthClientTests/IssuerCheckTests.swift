import RefreshCore
import Testing

@testable import OAuthClient
@testable import OAuthMessages

/// The check of a server before an account is added.
struct IssuerCheckTests {
    /// The fault found for the issuer at `path` of a server whose OpenID document is `document` at each path; nil if
    /// there is none.
    private func fault(
        _ path: String = "",
        profile: ProviderProfile? = nil,
        status: Int = 404,
        _ document: @escaping @Sendable (_ line: String, _ origin: String) -> String?
    ) async throws -> (fault: IssuerFault?, origin: String) {
        let script: LoopbackServer.Script = { request, _ in
            guard request.line.contains("/openid-configuration"), let text = document(request.line, request.origin)
            else { return [LoopbackServer.answer(status)] }
            return [LoopbackServer.json(200, text)]
        }
        return try await withServer(script) { server in
            try await withClient { client in
                do throws(IssuerFault) {
                    let issuer = server.origin + path
                    guard let issuer = try? Issuer(url: issuer) else { preconditionFailure("'\(issuer)' is no issuer") }
                    try await client.inspection.check(issuer, profile: profile)
                    return (nil, server.origin)
                } catch {
                    return (error, server.origin)
                }
            }
        }
    }

    private static func document(_ issuer: String, _ origin: String) -> String {
        #"{"issuer":"\#(issuer)","token_endpoint":"\#(origin)/token"}"#
    }

    @Test func `a server that confirms its issuer is accepted`() async throws {
        let (fault, _) = try await fault { _, origin in Self.document(origin, origin) }
        #expect(fault == nil)
    }

    @Test(arguments: [("", "/"), ("/x/", "/x"), ("/x", "/y")])
    func `a server that names another issuer is reported with that issuer`(asked: String, published: String)
        async throws
    {
        let (fault, origin) = try await fault(asked) { _, origin in Self.document(origin + published, origin) }
        let other = try Issuer(url: origin + published)
        #expect(fault == .contradicted(.otherIssuer(other.url), other: other))
    }

    @Test func `a published issuer that is invalid is not proposed`() async throws {
        let (fault, _) = try await fault { _, origin in Self.document("http://as.example/'; date", origin) }
        #expect(fault == .contradicted(.otherIssuer("http://as.example/'; date"), other: nil))
    }

    @Test func `the issuer at the root of the host is found if the longer path has no document`() async throws {
        let (fault, origin) = try await fault("/oauth/token") { line, origin in
            line == "GET /.well-known/openid-configuration" ? Self.document(origin, origin) : nil
        }
        let other = try Issuer(url: origin)
        #expect(fault == .contradicted(.notPublished(status: 404), other: other))
    }

    @Test func `a server that is no authorization server is reported as such`() async throws {
        let (fault, _) = try await fault("/x") { _, _ in nil }
        #expect(fault == .contradicted(.notPublished(status: 404), other: nil))
    }

    @Test(arguments: [("/login", false), ("https://www.as.example/x", true)])
    func `the target of a redirect is shown`(target: String, isElsewhere: Bool) async throws {
        try await withServer({ _, _ in [LoopbackServer.answer(301, ["location": target])] }) { server in
            try await withClient { client in
                let issuer = try Issuer(url: server.origin)
                let fault = await #expect(throws: IssuerFault.self) {
                    try await client.inspection.check(issuer, profile: nil)
                }
                let silence = IssuerFault.unreachable(.redirected(to: target))
                #expect(fault == (isElsewhere ? silence : .contradicted(.redirected(to: target), other: nil)))
            }
        }
    }

    @Test func `metadata without a token endpoint counts as no authorization server`() async throws {
        let (fault, _) = try await fault { _, origin in #"{"issuer":"\#(origin)"}"# }
        #expect(fault == .contradicted(.noTokenEndpoint, other: nil))
    }

    @Test func `a server that cannot answer now is not contradicted`() async throws {
        let (fault, _) = try await fault(status: 503) { _, _ in nil }
        #expect(fault == .unreachable(.unavailable(status: 503)))
    }

    @Test func `a port without a listener is not contradicted`() async throws {
        let error = try await withClient { client -> IssuerFault? in
            do throws(IssuerFault) {
                guard let issuer = try? Issuer(url: "http://127.0.0.1:1") else { return nil }
                try await client.inspection.check(issuer, profile: nil)
                return nil
            } catch {
                return error
            }
        }
        let row = FailureTable.standard.row(
            for: FailureSignal(TransportFailure(cause: .connection, wasSent: false), now: Timestamp(microseconds: .max))
        )
        #expect(error == .unreachable(.noAnswer(row)))
    }

    @Test func `a profile that names the token endpoint needs no answer`() async throws {
        let profile = ProviderProfile(name: "p", tokenEndpoint: Endpoint("http://127.0.0.1:1/token"))
        let (fault, _) = try await fault("/x", profile: profile) { _, _ in nil }
        #expect(fault == nil)
    }
}
