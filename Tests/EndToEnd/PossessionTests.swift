import AuthRefreshInterface
import DemoIssuer
import Foundation
import TestSupport
import Testing

/// Proofs for tokens that are bound to a key, as `authctl token --dpop` prints them.
struct PossessionTests {
    private struct Claims: Decodable {
        var htm: String
        var htu: String
        var jti: String
        var ath: String
        var nonce: String?
    }

    private func claims(_ proof: Substring) throws -> Claims {
        let payload = try #require(proof.split(separator: ".").dropFirst().first)
        var text = String(payload).replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        return try JSONDecoder().decode(Claims.self, from: try #require(Data(base64Encoded: text)))
    }

    private func withStage(isBound: Bool, _ body: (DaemonStage) async throws -> Void) async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            var settings = AccountSettings(name: "work", issuer: url, clientId: "app")
            settings.dpop = isBound ? true : nil
            let grant = try await issuer.issueGrant(clientID: "app")
            let parameters = AddAccount.Parameters(settings: settings, refreshToken: grant.refreshToken)
            _ = try await stage.ask(.addAccount, parameters, for: AddAccount.Reply.self)
            try await body(stage)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `each proof is for a single request with this token`() async throws {
        try await withStage(isBound: true) { stage in
            let url = "https://API.example:443/v1/mail?x=1"
            let arguments = ["token", "work", "--dpop", "GET", url, "--dpop-nonce", "n-1", "--format", "header"]
            let first = try await stage.authctl(arguments)
            #expect(first.end == .exited(0), "\(first.errors)")
            let lines = first.output.split(separator: "\n")
            #expect(lines.first?.hasPrefix("Authorization: DPoP ") == true)
            let made = try claims(try #require(lines.last).dropFirst("DPoP: ".count))
            #expect(made.htm == "GET")
            #expect(made.htu == "https://api.example/v1/mail")
            #expect(made.nonce == "n-1")
            #expect(!made.ath.isEmpty)
            let second = try await stage.authctl("token", "work", "--dpop", "GET", url)
            let other = try claims(try #require(second.output.split(separator: "\n").last))
            #expect(other.jti != made.jti)
            #expect(other.ath == made.ath)
            #expect(other.nonce == nil)
        }
    }

    @Test func `an impossible request is refused`() async throws {
        try await withStage(isBound: true) { stage in
            for (method, url) in [("GE T", "https://a.example/"), ("GET", "http://a.example/"), ("GET", "a.example")] {
                let outcome = try await stage.authctl("token", "work", "--dpop", method, url)
                #expect(outcome.end == .exited(65), "\(method) \(url): \(outcome.errors)")
            }
        }
    }

    @Test func `an account without a key proves nothing`() async throws {
        try await withStage(isBound: false) { stage in
            let outcome = try await stage.authctl("token", "work", "--dpop", "GET", "https://a.example/")
            #expect(outcome.end == .exited(65))
            #expect(outcome.errors.contains("are not bound to a key"), "\(outcome.errors)")
        }
    }
}
