import NIOSSL
import RefreshCore
import TestSupport
import Testing

@testable import OAuthClient

struct TLSTests {
    /// Refreshes at a TLS server on 127.0.0.1 with `context`'s certificate.
    private func outcome(
        _ context: NIOSSLContext,
        caFile: String?,
        now: Timestamp? = nil
    ) async throws -> (outcome: RefreshOutcome, requests: Int) {
        let server = try await LoopbackServer.start(tls: context) { request, _ in
            // The preface of HTTP/2 (RFC 9113 §3.4), which this server does not speak.
            request.line.hasPrefix("PRI ") ? [.close] : [LoopbackServer.json(200, issuedTokens)]
        }
        var profile = ProviderProfile(name: "tls")
        profile.caFile = caFile
        let request = try refreshRequest(to: "https://127.0.0.1:\(server.port)", profile: profile)
        let outcome = try await withClient { configuration in
            if let now { configuration.now = { now } }
        } _: {
            await $0.refresh(request)
        }
        try await server.stop()
        return (outcome, server.requests.count)
    }

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

    @Test func `a server whose authority is in the CA file is trusted`() async throws {
        try await withAuthority { authority in
            let (outcome, _) = try await outcome(authority.server(for: "IP:127.0.0.1"), caFile: authority.caFile)
            #expect(outcome.response != nil)
        }
    }

    @Test func `HTTP/1.1 is spoken even where the server prefers HTTP/2`() async throws {
        try await withAuthority { authority in
            let server = try authority.server(for: "IP:127.0.0.1", protocols: ["h2", "http/1.1"])
            let (outcome, requests) = try await outcome(server, caFile: authority.caFile)
            #expect(outcome.response != nil)
            #expect(requests == 1)
        }
    }

    @Test func `untrusted certificates are misconfiguration and nothing is sent`() async throws {
        try await withAuthority { authority in
            let expired = try authority.server(for: "IP:127.0.0.1", to: "20210101000000Z")
            let early = try authority.server(for: "IP:127.0.0.1", from: "20980101000000Z")
            let cases: [(String, NIOSSLContext, String?)] = [
                ("unknown authority", try authority.server(for: "IP:127.0.0.1"), nil),
                ("self-signed", try authority.selfSignedServer(), authority.caFile),
                ("expired", expired, authority.caFile),
                ("not yet valid", early, authority.caFile),
                ("another address", try authority.server(for: "IP:127.0.0.2"), authority.caFile),
                ("another name", try authority.server(for: "DNS:other.example"), authority.caFile),
            ]
            for (name, context, caFile) in cases {
                let (outcome, requests) = try await outcome(context, caFile: caFile)
                #expect(outcome.failure?.failureClass == .untrusted, "\(name)")
                #expect(outcome.failure?.detail.summary.contains("clock") == true, "\(name)")
                #expect(requests == 0, "\(name)")
            }
        }
    }

    @Test func `with an unset clock a refused certificate is only unreachable`() async throws {
        try await withAuthority { authority in
            let (outcome, _) = try await outcome(
                authority.selfSignedServer(),
                caFile: nil,
                now: Timestamp(microseconds: 0)
            )
            #expect(outcome.failure?.failureClass == .unreachable)
        }
    }

    @Test func `TLS 1.1 is not spoken`() async throws {
        try await withAuthority { authority in
            let old = try authority.server(for: "IP:127.0.0.1", maximum: .tlsv11)
            let (outcome, _) = try await outcome(old, caFile: authority.caFile)
            #expect(outcome.failure?.failureClass == .unreachable)
            #expect(outcome.failure?.detail.summary == "no TLS connection to the server could be made")
        }
    }

    @Test(arguments: ["/nonexistent/ca.pem", "/dev/null", "/etc/hostname"])
    func `a CA file that cannot be read is misconfiguration`(_ file: String) async throws {
        try await withServer({ _, _ in [LoopbackServer.json(200, issuedTokens)] }) { server in
            var profile = ProviderProfile(name: "tls")
            profile.caFile = file
            let outcome = try await withClient {
                await $0.refresh(try refreshRequest(to: server.origin, profile: profile))
            }
            #expect(outcome.failure?.failureClass == .misconfigured)
            #expect(outcome.failure?.detail.summary == "the configured CA file cannot be read")
        }
    }

    @Test func `a connection closed in the handshake is unreachable`() async throws {
        let server = try await LoopbackServer.start(refusesConnections: true) { _, _ in [] }
        let request = try refreshRequest(to: "https://127.0.0.1:\(server.port)")
        let outcome = try await withClient { await $0.refresh(request) }
        #expect(outcome.failure?.failureClass == .unreachable)
        try await server.stop()
    }

    @Test func `silence in the handshake is unreachable when the time is up`() async throws {
        // Never sees a whole request, so it never says anything.
        try await withServer({ _, _ in [] }) { server in
            let request = try refreshRequest(to: "https://127.0.0.1:\(server.port)")
            let change = { (configuration: inout OAuthClientConfiguration) in
                configuration.totalTimeout = .milliseconds(300)
                // Shutting down waits for connections that are being made.
                configuration.connectTimeout = .seconds(4)
            }
            let outcome = try await withClient(change) { client in
                let begin = ContinuousClock.now
                let outcome = await client.refresh(request)
                #expect(begin.duration(to: .now) < .milliseconds(3500))
                return outcome
            }
            #expect(outcome.failure?.failureClass == .unreachable)
            #expect(outcome.failure?.detail.summary == "the server could not be reached in time")
        }
    }
}
