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
    ) async throws -> Result<ServerCertificate, CertificateProbeError> {
        let server = try await LoopbackServer.start(tls: context) { _, _ in
            [.send("not TLS\r\n\r\n")]
        }
        if isStopped { try await server.stop() }
        let client = OAuthClient()
        let endpoint = try #require(Endpoint("https://127.0.0.1:\(server.port)"))
        let result: Result<ServerCertificate, CertificateProbeError>
        do throws(CertificateProbeError) {
            result = .success(
                try await CertificateProbe(transport: client.servers.transport.transport).run(endpoint, caFile: caFile)
            )
        } catch {
            result = .failure(error)
        }
        await client.shutdown()
        #expect(server.requests.isEmpty)
        if !isStopped { try await server.stop() }
        return result
    }

    private func failure(_ result: Result<ServerCertificate, CertificateProbeError>) -> CertificateProbeError? {
        if case .failure(let error) = result { error } else { nil }
    }

    @Test func `the probe returns when a valid certificate expires`() async throws {
        let authority = try TestAuthority()
        defer { try? authority.remove() }
        let server = try authority.server(for: "IP:127.0.0.1", to: "20990101000000Z")
        let certificate = try await probe(server, caFile: authority.caFile).get()
        // 2099-01-01 00:00 UTC.
        #expect(certificate.notAfter == Timestamp(microseconds: 4_070_908_800_000_000))
    }

    @Test func `each fault has its own name`() async throws {
        let authority = try TestAuthority()
        defer { try? authority.remove() }
        let expired = try authority.server(for: "IP:127.0.0.1", to: "20210101000000Z")
        let future = try authority.server(for: "IP:127.0.0.1", from: "20980101000000Z")
        let other = try authority.server(for: "DNS:other.example")
        let caFile = authority.caFile
        #expect(
            failure(try await probe(expired, caFile: caFile))
                == .expired(at: Timestamp(microseconds: 1_609_459_200_000_000))
        )
        #expect(
            failure(try await probe(future, caFile: caFile))
                == .notYetValid(until: Timestamp(microseconds: 4_039_372_800_000_000))
        )
        #expect(failure(try await probe(other, caFile: caFile)) == .wrongHost)
        let selfSigned = try await probe(try authority.selfSignedServer(), caFile: caFile)
        #expect(failure(selfSigned) == .untrusted(authority: "CN = self"))
        let unreadable = try await probe(nil, caFile: "/no/such/file")
        #expect(failure(unreadable) == .authorityFile)
        let absent = try await probe(nil, caFile: nil, isStopped: true)
        #expect(failure(absent) == .unreachable)
    }
}
