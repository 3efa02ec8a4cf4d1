import Foundation
@testable import RefreshCore
import Synchronization
import TestSupport
import Testing
import TextEncodings

@testable import OAuthClient
@testable import OAuthMessages

/// Clients that show another issuer's assertion, which is in a file (RFC 7523 §2.2), and what clients can do.
struct AssertionFileTests {
    private func token(_ name: String, exp: Int64 = 4_000_000_000) -> String {
        let parts = [#"{"alg":"RS256"}"#, #"{"sub":"\#(name)","exp":\#(exp)}"#, "signature"]
        return parts.map { Base64URL.encode($0.utf8) }.joined(separator: ".")
    }

    private func registration(_ file: String) -> ClientRegistration {
        ClientRegistration(clientID: "client", clientAssertionFile: file)
    }

    private func outcome(
        _ registration: ClientRegistration,
        at server: LoopbackServer,
        profile: ProviderProfile? = nil
    ) async throws -> RefreshOutcome {
        try await withClient { client in
            try await client.refresh(
                refreshRequest(to: server.origin, registration: registration, profile: profile)
            )
        }
    }

    @Test func `the assertion in the file is read for each request, and sent as it is`() async throws {
        let folder = try TemporaryFolder()
        try await withServer({ _, _ in [LoopbackServer.json(200, issuedTokens)] }) { server in
            for name in ["first", "second"] {
                let file = try folder.write(token(name) + "\n", to: "token")
                #expect(try await outcome(registration(file), at: server).response != nil)
            }
            let forms = server.requests.compactMap { FormEncoding.parse($0.body) }
            #expect(forms.map { $0["client_assertion"] } == [token("first"), token("second")])
            #expect(Set(forms.map { $0["client_assertion_type"] }) == [TokenSigner.assertionType])
            #expect(forms.allSatisfy { $0["client_id"] == "client" && $0["client_secret"] == nil })
            #expect(server.requests.allSatisfy { $0.header("authorization") == nil })
        }
    }

    @Test(
        arguments: [
            (nil, "cannot be read"), ("", "has no signed token in it"),
            ("-----BEGIN PRIVATE KEY-----", "has no signed token in it"),
            ("a.b.c", "has no signed token in it"), ("expired", "has expired"),
        ] as [(String?, String)]
    )
    func `a file that is missing, wrong or too old is told, and nothing is sent`(
        contents: String?,
        words: String
    ) async throws {
        let folder = try TemporaryFolder()
        let text = contents == "expired" ? token("client", exp: 1_700_000_000) : contents
        let file = try text.map { try folder.write($0, to: "token") } ?? folder.path + "/token"
        try await withServer({ _, _ in [LoopbackServer.json(200, issuedTokens)] }) { server in
            let failure = try await outcome(registration(file), at: server).failure
            #expect(failure?.failureClass == .unreachable && failure?.detail.finding == .clientAssertion)
            #expect(failure?.detail.summary.contains(words) == true, "\(String(describing: failure))")
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `a file that hangs fails in time`() async throws {
        let (entered, enter) = AsyncStream<Void>.makeStream()
        let released = DispatchSemaphore(value: 0)
        defer { released.signal() }
        let files = AssertionFiles(timeLimit: .milliseconds(50)) { _ in
            enter.yield()
            released.wait()
            return nil
        }
        let failure = await #expect(throws: TransportFailure.self) {
            _ = try await files.assertion(in: "/hung/token", at: Timestamp(microseconds: 0))
        }
        #expect(failure?.cause == .assertionFileHangs && failure?.wasSent == false)
        for await _ in entered { break }
    }

    @Test func `a server's refusal does not show the assertion, and only one form of it is tried`() async throws {
        let folder = try TemporaryFolder()
        let secret = token("client")
        let file = try folder.write(secret, to: "token")
        let answer = #"{"error":"invalid_client","error_description":"bad assertion \#(secret)"}"#
        try await withServer({ _, _ in [LoopbackServer.json(401, answer)] }) { server in
            let failure = try await outcome(registration(file), at: server).failure
            #expect(failure?.failureClass == .misconfigured && failure?.detail.finding == .clientAssertion)
            #expect(failure?.detail.oauthErrorDescription?.contains("bad assertion") == true)
            #expect(failure?.detail.oauthErrorDescription?.contains(secret.prefix(24)) == false)
            #expect(server.requests.count == 1)
        }
    }

    @Test(
        arguments: [
            (nil, #"{"access_token":{"xms_cc":{"values":["cp1"]}}}"#),
            (
                #"{"access_token":{"nbf":{"essential":true}},"id_token":{"acr":null}}"#,
                #"{"access_token":{"nbf":{"essential":true},"xms_cc":{"values":["cp1"]}},"id_token":{"acr":null}}"#
            ),
            ("no object", "no object"),
        ] as [(String?, String)]
    )
    func `capabilities join the claims that are asked for anyway`(asked: String?, sent: String) {
        let registration = ClientRegistration(clientID: "client", clientCapabilities: ["cp1"])
        let fields =
            [(name: "grant_type", value: "refresh_token")] + (asked.map { [(name: "claims", value: $0)] } ?? [])
        let all = registration.claimingCapabilities(in: fields)
        #expect(all.filter { $0.name == "claims" }.map(\.value) == [sent])
        #expect(all.count == 2)
        let without = ClientRegistration(clientID: "client").claimingCapabilities(in: fields)
        #expect(without.map(\.value) == fields.map(\.value))
    }

    @Test func `a refresh and a sign-in ask for the capabilities`() async throws {
        try await withServer({ _, _ in [LoopbackServer.json(200, issuedTokens)] }) { server in
            let able = ClientRegistration(clientID: "client", clientCapabilities: ["cp1"])
            #expect(try await outcome(able, at: server).response != nil)
            let claims = server.requests.last.flatMap { FormEncoding.parse($0.body) }?["claims"]
            #expect(claims == #"{"access_token":{"xms_cc":{"values":["cp1"]}}}"#)
            _ = try await outcome(ClientRegistration(clientID: "client"), at: server)
            #expect(server.requests.last.flatMap { FormEncoding.parse($0.body) }?["claims"] == nil)
        }
    }
}
