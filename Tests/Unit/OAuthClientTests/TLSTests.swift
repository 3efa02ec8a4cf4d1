import Foundation
import NIOSSL
@testable import RefreshCore
import Synchronization
import TestSupport
import Testing

@testable import OAuthClient
@testable import OAuthMessages

struct TLSTests {
    /// Refreshes at a TLS server on 127.0.0.1 with the certificate of `context`.
    private func outcome(
        _ context: NIOSSLContext,
        caFile: String?,
        now: Timestamp? = nil
    ) async throws -> (outcome: RefreshOutcome, requests: Int) {
        let server = try await LoopbackServer.start(tls: context) { request, _ in
            // The preface of HTTP/2 (RFC 9113 §3.4), which this server does not support.
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

    @Test func `a server with an authority from the CA file is trusted`() async throws {
        try await withAuthority { authority in
            let (outcome, _) = try await outcome(authority.server(for: "IP:127.0.0.1"), caFile: authority.caFile)
            #expect(outcome.response != nil)
        }
    }

    @Test(arguments: [
        (issuedTokens, true), (String(issuedTokens.dropLast()), false), ("access_token=a1&refresh_token=r2", false),
    ])
    func `an answer without a length may end without the end of TLS only if it is a whole object`(
        _ body: String,
        isRead: Bool
    ) async throws {
        try await withAuthority { authority in
            let server = try await LoopbackServer.start(tls: authority.server(for: "IP:127.0.0.1")) { _, _ in
                [.send("HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n" + body), .cut]
            }
            var profile = ProviderProfile(name: "tls")
            profile.caFile = authority.caFile
            let request = try refreshRequest(to: "https://127.0.0.1:\(server.port)", profile: profile)
            let outcome = try await withClient { await $0.refresh(request) }
            try await server.stop()
            #expect(outcome.response?.refreshToken == (isRead ? RefreshToken(Secret("r2")) : nil))
            #expect(outcome.failure?.failureClass == (isRead ? nil : .unanswered))
        }
    }

    @Test func `an answer over TLS with a status below 100 counts as unanswered`() async throws {
        try await withAuthority { authority in
            let server = try await LoopbackServer.start(tls: authority.server(for: "IP:127.0.0.1")) { _, _ in
                [.send("HTTP/1.1 000 x\r\ncontent-length: 2\r\n\r\n{}")]
            }
            var profile = ProviderProfile(name: "tls")
            profile.caFile = authority.caFile
            let request = try refreshRequest(to: "https://127.0.0.1:\(server.port)", profile: profile)
            let outcome = try await withClient { await $0.refresh(request) }
            try await server.stop()
            #expect(outcome.failure?.failureClass == .unanswered)
        }
    }

    @Test func `HTTP/1.1 is used even if the server prefers HTTP/2`() async throws {
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
            let cases: [(word: String, NIOSSLContext, String?)] = [
                ("no authority that this machine trusts", try authority.server(for: "IP:127.0.0.1"), nil),
                ("no authority that this machine trusts", try authority.selfSignedServer(), authority.caFile),
                ("has expired", expired, authority.caFile),
                ("is not valid yet", early, authority.caFile),
                ("is for another host", try authority.server(for: "IP:127.0.0.2"), authority.caFile),
                ("is for another host", try authority.server(for: "DNS:other.example"), authority.caFile),
            ]
            for (word, context, caFile) in cases {
                let (outcome, requests) = try await outcome(context, caFile: caFile)
                #expect(outcome.failure?.failureClass == .untrusted, "\(word)")
                #expect(outcome.failure?.detail.summary.contains(word) == true, "\(word)")
                #expect(requests == 0, "\(word)")
            }
        }
    }

    @Test func `with an unset clock a certificate that is not valid yet counts only as unreachable`() async throws {
        try await withAuthority { authority in
            let early = try authority.server(for: "IP:127.0.0.1", from: "20980101000000Z")
            let (outcome, _) = try await outcome(early, caFile: authority.caFile, now: Timestamp(microseconds: 0))
            #expect(outcome.failure?.failureClass == .unreachable)
        }
    }

    @Test func `TLS 1.1 is refused`() async throws {
        try await withAuthority { authority in
            let old = try authority.server(for: "IP:127.0.0.1", maximum: .tlsv11)
            let (outcome, _) = try await outcome(old, caFile: authority.caFile)
            #expect(outcome.failure?.failureClass == .unreachable)
            #expect(outcome.failure?.detail.summary.contains("have no TLS version in common") == true)
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

    @Test func `a CA file that is a FIFO, a device or too large is refused at once`() async throws {
        let folder = try TemporaryFolder()
        let fifo = folder.path + "/fifo"
        let made = unsafe mkfifo(fifo, 0o600)
        #expect(made == 0)
        try folder.write(String(repeating: "x", count: CertificateAuthorities.fileBytesMax + 1), to: "large")
        try await withServer({ _, _ in [LoopbackServer.json(200, issuedTokens)] }) { server in
            try await withClient { client in
                for file in [fifo, "/dev/zero", folder.path, folder.path + "/large"] {
                    var profile = ProviderProfile(name: "tls")
                    profile.caFile = file
                    let outcome = await client.refresh(try refreshRequest(to: server.origin, profile: profile))
                    #expect(outcome.failure?.failureClass == .misconfigured, "\(file)")
                }
                #expect(try await client.refresh(refreshRequest(to: server.origin)).response != nil)
            }
        }
        // A good file with empty lines behind it, up to the limit and one more.
        try await withAuthority { authority in
            let certificate = try String(contentsOfFile: authority.caFile, encoding: .utf8)
            for (excess, isRead) in [(0, true), (1, false)] {
                let padding = CertificateAuthorities.fileBytesMax + excess - certificate.utf8.count
                try folder.write(certificate + String(repeating: "\n", count: padding), to: "padded")
                let context = try authority.server(for: "IP:127.0.0.1")
                let (outcome, _) = try await outcome(context, caFile: folder.path + "/padded")
                #expect((outcome.failure == nil) == isRead, "\(excess)")
            }
        }
    }

    @Test func `requests with a CA file that hangs fail in time, and no others wait`() async throws {
        let hanging = HangingFile()
        defer { hanging.release() }
        let change = { (configuration: inout OAuthClientConfiguration) in
            configuration.authorities = CertificateAuthorities(fileTimeLimit: .milliseconds(200), fileReadsMax: 1) {
                path in
                hanging.read(path)
            }
        }
        try await withServer({ _, _ in [LoopbackServer.json(200, issuedTokens)] }) { server in
            try await withClient(change) { client in
                var profile = ProviderProfile(name: "tls")
                profile.caFile = "/hung/ca.pem"
                let request = try refreshRequest(to: server.origin, profile: profile)
                async let stuck = client.refresh(request)
                await hanging.isRead()
                // The file is still being read.
                #expect(try await client.refresh(refreshRequest(to: server.origin)).response != nil)
                let failure = await stuck.failure
                #expect(failure?.failureClass == .unreachable)
                #expect(failure?.detail.summary.contains("does not answer") == true)
                // Further requests that need the file fail at once, without a thread each.
                for _ in 0..<100 { #expect(await client.refresh(request).failure?.failureClass == .unreachable) }
                // The limit is one thread here, so another file is not read.
                profile.caFile = "/hung/other.pem"
                let other = try refreshRequest(to: server.origin, profile: profile)
                #expect(await client.refresh(other).failure?.failureClass == .unreachable)
                #expect(hanging.reads == 1)
            }
        }
    }

    @Test func `any number of CA files and client certificates can be used one after the other`() async throws {
        try await withAuthority { authority in
            let server = try await LoopbackServer.start(tls: authority.server(for: "IP:127.0.0.1")) { _, _ in
                [LoopbackServer.json(200, issuedTokens)]
            }
            let folder = try TemporaryFolder()
            let certificate = try String(contentsOfFile: authority.caFile, encoding: .utf8)
            let identity = try authority.client()
            try await withClient { client in
                for number in 0..<70 {
                    try folder.write(certificate, to: "\(number).pem")
                    var profile = ProviderProfile(name: "tls")
                    profile.caFile = folder.path + "/\(number).pem"
                    // A renewed certificate has another text.
                    let key = Secret(identity + String(repeating: "\n", count: number))
                    let registration = ClientRegistration(
                        clientID: "client",
                        authentication: .tlsClientAuth,
                        clientKey: key
                    )
                    let origin = "https://127.0.0.1:\(server.port)"
                    let request = try refreshRequest(to: origin, registration: registration, profile: profile)
                    let outcome = await client.refresh(request)
                    #expect(outcome.response != nil, "\(number): \(outcome.failure?.detail.summary ?? "")")
                }
            }
            try await server.stop()
        }
    }

    @Test func `a connection closed in the handshake counts as unreachable`() async throws {
        let server = try await LoopbackServer.start(refusesConnections: true) { _, _ in [] }
        let request = try refreshRequest(to: "https://127.0.0.1:\(server.port)")
        let outcome = try await withClient { await $0.refresh(request) }
        #expect(outcome.failure?.failureClass == .unreachable)
        try await server.stop()
    }

    @Test func `silence in the handshake counts as unreachable at the time limit`() async throws {
        // The server never receives a whole request, so it never answers.
        try await withServer({ _, _ in [] }) { server in
            let request = try refreshRequest(to: "https://127.0.0.1:\(server.port)")
            let change = { (configuration: inout OAuthClientConfiguration) in
                configuration.totalTimeout = .milliseconds(300)
            }
            let outcome = try await withClient(change) { client in
                await client.refresh(request)
            }
            #expect(outcome.failure?.failureClass == .unreachable)
            #expect(outcome.failure?.detail.summary == "the server could not be reached in time")
        }
    }
}

/// A file on a mount that does not answer.
private final class HangingFile: Sendable {
    private let count = Mutex(0)
    private let end = DispatchSemaphore(value: 0)
    private let (begun, begin) = AsyncStream.makeStream(of: Void.self)

    var reads: Int { count.withLock(\.self) }

    /// Blocks until the mount is released.
    func read(_: String) -> [UInt8]? {
        count.withLock { $0 += 1 }
        begin.yield()
        end.wait()
        return nil
    }

    /// Waits until somebody reads the file.
    func isRead() async {
        for await _ in begun { return }
    }

    func release() {
        end.signal()
    }
}
