import Foundation
import NIOSSL
@testable import RefreshCore
import TestSupport
import Testing
import TextEncodings

@testable import OAuthClient
@testable import OAuthMessages

/// Clients that authenticate with a certificate (RFC 8705).
struct MutualTLSTests {
    private func withAuthority(_ body: (TestAuthority) async throws -> Void) async throws {
        let authority = try TestAuthority()
        do {
            try await body(authority)
            try authority.remove()
        } catch {
            try authority.remove()
            throw error
        }
    }

    private func refresh(
        _ registration: ClientRegistration,
        at server: LoopbackServer,
        _ authority: TestAuthority
    ) async throws -> RefreshOutcome {
        var profile = ProviderProfile(name: "tls")
        profile.caFile = authority.caFile
        let origin = "https://127.0.0.1:\(server.port)"
        let request = try refreshRequest(to: origin, registration: registration, profile: profile)
        return try await withClient { await $0.refresh(request) }
    }

    @Test(arguments: [ClientAuthentication.tlsClientAuth, .selfSignedTLSClientAuth])
    func `the certificate is presented in the handshake, and the client is named in the body`(
        method: ClientAuthentication
    ) async throws {
        try await withAuthority { authority in
            let tls = try authority.server(for: "IP:127.0.0.1", wantsClientCertificate: true)
            let server = try await LoopbackServer.start(tls: tls) { _, _ in [LoopbackServer.json(200, issuedTokens)] }
            let key = Secret(try authority.client())
            let registration = ClientRegistration(clientID: "client", authentication: method, clientKey: key)
            #expect(try await refresh(registration, at: server, authority).response != nil)
            #expect(FormEncoding.parse(server.requests.first?.body ?? "")?["client_id"] == "client")
            // The same server refuses a client without one.
            let plain = ClientRegistration(clientID: "client")
            #expect(try await refresh(plain, at: server, authority).response == nil)
            #expect(server.requests.count == 1)
            try await server.stop()
        }
    }

    @Test func `a key without its certificate is misconfiguration and nothing is sent`() async throws {
        try await withAuthority { authority in
            let tls = try authority.server(for: "IP:127.0.0.1")
            let server = try await LoopbackServer.start(tls: tls) { _, _ in [LoopbackServer.json(200, issuedTokens)] }
            let pem = try authority.client()
            let bare = String(pem[(pem.range(of: "-----BEGIN EC PRIVATE KEY")?.lowerBound ?? pem.endIndex)...])
            for text in [bare, "no key"] {
                let registration = ClientRegistration(
                    clientID: "client",
                    authentication: .tlsClientAuth,
                    clientKey: Secret(text)
                )
                let outcome = try await refresh(registration, at: server, authority)
                #expect(outcome.failure?.failureClass == .misconfigured)
                #expect(outcome.failure?.detail.summary.contains("certificate") == true)
            }
            #expect(server.requests.isEmpty)
            try await server.stop()
        }
    }

    @Test func `clients with a certificate go to the endpoint that the server has for them`() throws {
        let issuer = try Issuer(url: "https://op.example")
        let fields: [String: JSONTree] = [
            "issuer": .string("https://op.example"), "token_endpoint": .string("https://op.example/token"),
            "revocation_endpoint": .string("https://op.example/revoke"),
            "mtls_endpoint_aliases": .object(["token_endpoint": .string("https://mtls.op.example/token")]),
        ]
        let metadata = try AuthorizationServerMetadata(issuer: issuer, template: nil, documents: [fields])
        #expect(metadata.mutualTLSAlias(of: metadata.tokenEndpoint) == Endpoint("https://mtls.op.example/token"))
        let revocation = try #require(metadata.revocationEndpoint)
        #expect(metadata.mutualTLSAlias(of: revocation) == nil)
    }
}
