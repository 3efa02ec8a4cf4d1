import NIOSSL
import RefreshCore
import TestSupport
import Testing

@testable import OAuthClient
@testable import OAuthMessages

/// The probe reads a server's certificate, names what is wrong with it, and sends nothing.
struct CertificateProbeTests {
    private func probe(
        _ context: NIOSSLContext?,
        caFile: String?,
        isStopped: Bool = false
    ) async throws -> CertificateFinding {
        let server = try await LoopbackServer.start(tls: context) { _, _ in
            [.send("not TLS\r\n\r\n")]
        }
        if isStopped { try await server.stop() }
        let client = OAuthClient()
        let endpoint = try #require(Endpoint("https://127.0.0.1:\(server.port)"))
        var profile = ProviderProfile(name: "probed")
        profile.caFile = caFile
        let found = await client.inspection.certificate(of: endpoint, profile: profile)
        await client.shutdown()
        #expect(server.requests.isEmpty)
        if !isStopped { try await server.stop() }
        return try #require(found)
    }

    @Test func `the probe returns when a valid certificate expires`() async throws {
        let authority = try TestAuthority()
        defer { try? authority.remove() }
        let server = try authority.server(for: "IP:127.0.0.1", to: "20990101000000Z")
        let found = try await probe(server, caFile: authority.caFile)
        // 2099-01-01 00:00 UTC.
        #expect(found.cause == nil && found.certificate?.notAfter == Timestamp(microseconds: 4_070_908_800_000_000))
    }

    @Test func `each fault has its own name, and a certificate that is not trusted is read`() async throws {
        let authority = try TestAuthority()
        defer { try? authority.remove() }
        let caFile = authority.caFile
        let expired = try await probe(authority.server(for: "IP:127.0.0.1", to: "20210101000000Z"), caFile: caFile)
        #expect(expired.cause == .certificateExpired)
        #expect(expired.certificate?.notAfter == Timestamp(microseconds: 1_609_459_200_000_000))
        let future = try await probe(authority.server(for: "IP:127.0.0.1", from: "20980101000000Z"), caFile: caFile)
        #expect(future.cause == .certificateNotYetValid)
        #expect(future.certificate?.notBefore == Timestamp(microseconds: 4_039_372_800_000_000))
        let other = try await probe(authority.server(for: "DNS:other.example"), caFile: caFile)
        #expect(other == .refused(.certificateHost, nil))
        let selfSigned = try await probe(authority.selfSignedServer(), caFile: caFile)
        #expect(selfSigned.cause == .certificateAuthority && selfSigned.certificate?.authority == "CN = self")
        #expect(try await probe(nil, caFile: "/no/such/file") == .refused(.authorityFile, nil))
        #expect(try await probe(nil, caFile: nil, isStopped: true) == .refused(.connection, nil))
    }
}

extension CertificateFinding {
    fileprivate var cause: TransportCause? {
        if case .refused(let cause, _) = self { cause } else { nil }
    }

    fileprivate var certificate: ServerCertificate? {
        switch self {
        case .trusted(let certificate): certificate
        case .refused(_, let certificate): certificate
        }
    }
}
