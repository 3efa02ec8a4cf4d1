import AuthRefreshInterface
import Crypto
import CryptoExtras
import DemoIssuer
import Foundation
import TestSupport
import Testing

/// Service accounts whose key signs assertions (RFC 7523 §2.1), with real programs and a server that checks each
/// signature.
struct AssertionAccountTests {
    private static let email = "robot@project.iam.gserviceaccount.com"

    /// A key file for a service account, as Google issues it.
    private static func keyFile(_ key: _RSA.Signing.PrivateKey) throws -> String {
        let fields = [
            "type": "service_account", "private_key_id": "k-1", "private_key": key.pkcs8PEMRepresentation,
            "client_email": email, "token_uri": "https://oauth2.googleapis.com/token",
        ]
        return String(decoding: try JSONEncoder().encode(fields), as: UTF8.self)
    }

    private static func client(_ id: String, publicKey: String) -> DemoClient {
        DemoClient(id: id, serviceScope: "deploy read", assertionKey: publicKey)
    }

    private func withStage(
        _ client: DemoClient,
        _ body: (DaemonStage, DemoIssuer, String) async throws -> Void
    ) async throws {
        let stage = try DaemonStage(hasOwnClock: true)
        try await withIssuer(clients: [client], now: stage.now) { issuer, url in
            let daemon = try await stage.start()
            try await body(stage, issuer, url)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    private func add(_ stage: DaemonStage, _ url: String, key: String, _ more: [String]) async throws -> CommandOutcome
    {
        let file = try stage.folder.write(key, to: "key")
        let arguments = [
            "account", "add", "robot", "--issuer", url, "--grant", "jwt-bearer", "--client-key-file", file,
        ]
        return try await stage.authctl(arguments + more)
    }

    @Test func `Google's key file is enough, and tokens follow one another`() async throws {
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let client = Self.client(Self.email, publicKey: key.publicKey.pemRepresentation)
        try await withStage(client) { stage, issuer, url in
            let more = ["--assertion-subject", "ann@example.org", "--scope", "deploy"]
            let added = try await add(stage, url, key: try Self.keyFile(key), more)
            #expect(added.end == .exited(0), "\(added)")
            let first = try await stage.acquire("robot")
            let feed = try await ChangeFeed(stage)
            try await stage.passToNextAttempt(of: "robot")
            try await feed.next("token-refreshed", of: "robot")
            let second = try await stage.acquire("robot")
            #expect(second.accessToken != first.accessToken)
            let asked = await issuer.entries().filter { $0.path == "/token" }
            #expect(asked.allSatisfy { $0.outcome == .issued && $0.clientID == Self.email })
            let shown = try await stage.authctl("account", "show", "robot")
            #expect(shown.output.contains("client id       \(Self.email)\n"), "\(shown)")
            #expect(shown.output.contains("grant           jwt-bearer, without anybody\n"))
            #expect(shown.output.contains("assertion for   ann@example.org\n"))
            let user = try await RawWeb.get(url + "/userinfo", headers: ["Authorization: Bearer \(second.accessToken)"])
            #expect(user.body.contains("ann@example.org"), "\(user)")
            #expect(try await stage.authctl("store", "check").end == .exited(0))
        }
    }

    @Test func `an unknown key is a misconfiguration, and the right one corrects it`() async throws {
        let (right, wrong) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
        let client = Self.client("app", publicKey: right.publicKey.pemRepresentation)
        try await withStage(client) { stage, issuer, url in
            let added = try await add(stage, url, key: wrong.pemRepresentation, ["--client-id", "app"])
            #expect(added.end == .exited(78), "\(added)")
            #expect(added.errors.contains("does not accept the client's assertion"), "\(added.errors)")
            #expect(await issuer.entries().last?.outcome == .assertionRefused)
            let status = try await stage.status("robot")
            #expect(status.state == "misconfigured")
            #expect(status.hint?.contains("authctl account edit robot --client-key-file FILE") == true)
            #expect(status.hint?.contains("clock") == true)
            let file = try stage.folder.write(right.pemRepresentation, to: "right")
            #expect(try await stage.authctl("account", "edit", "robot", "--client-key-file", file).end == .exited(0))
            let refreshed = try await stage.authctl("refresh", "robot")
            #expect(refreshed.end == .exited(0), "\(refreshed)")
        }
    }

    @Test func `an account's audience and lifetime reach the server, and can be cleared`() async throws {
        let key = P256.Signing.PrivateKey()
        let client = Self.client("app", publicKey: key.publicKey.pemRepresentation)
        try await withStage(client) { stage, _, url in
            let more = ["--client-id", "app", "--assertion-audience", "https://other.example"]
            #expect(try await add(stage, url, key: key.pemRepresentation, more).end == .exited(78))
            let longer = ["--assertion-audience", url, "--assertion-lifetime", "1h"]
            #expect(try await stage.authctl(["account", "edit", "robot"] + longer).end == .exited(0))
            #expect(try await stage.authctl("refresh", "robot").end == .exited(0))
            let clear = ["--clear", "assertion-audience", "--clear", "assertion-lifetime"]
            #expect(try await stage.authctl(["account", "edit", "robot"] + clear).end == .exited(0))
            #expect(try await stage.authctl("refresh", "robot").end == .exited(0))
            let tooLong = try await stage.authctl("account", "edit", "robot", "--assertion-lifetime", "2h")
            #expect(tooLong.end == .exited(65) && tooLong.errors.contains("from 10 s to 1 hour"), "\(tooLong)")
        }
    }

    /// A token as a platform writes it for its programs, valid for a quarter of an hour.
    private static func projectedToken(_ key: P256.Signing.PrivateKey, aud: String) throws -> String {
        let exp = Int(Date.now.timeIntervalSince1970) + 900
        let parts = [#"{"alg":"ES256"}"#, #"{"iss":"app","sub":"app","aud":"\#(aud)","exp":\#(exp)}"#]
            .map { Data($0.utf8).base64URL }
        let signature = try key.signature(for: Data(parts.joined(separator: ".").utf8))
        return (parts + [signature.rawRepresentation.base64URL]).joined(separator: ".")
    }

    @Test func `a client shows the assertion in a file, and goes on when a missing one is there again`() async throws {
        let key = P256.Signing.PrivateKey()
        let client = DemoClient(
            id: "app",
            authentication: .privateKey(pem: key.publicKey.pemRepresentation),
            serviceScope: "deploy"
        )
        try await withIssuer(clients: [client]) { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let file = try stage.folder.write(Self.projectedToken(key, aud: url) + "\n", to: "token")
            let added = try await stage.authctl(
                ["account", "add", "ci", "--issuer", url, "--client-id", "app", "--grant", "client-credentials"]
                    + ["--scope", "deploy", "--client-assertion-file", file]
            )
            #expect(added.end == .exited(0), "\(added)")
            #expect(try await stage.status("ci").state == "fresh")

            try FileManager.default.removeItem(atPath: file)
            let sent = await issuer.counters.tokenRequests
            let missing = try await stage.authctl("refresh", "ci")
            #expect(missing.end == .exited(75) && missing.errors.contains("the client's assertion"), "\(missing)")
            let status = try await stage.authctl("status", "ci")
            #expect(status.output.contains("--client-assertion-file FILE"), "\(status)")
            #expect(await issuer.counters.tokenRequests == sent)
            #expect(try await stage.authctl("token", "ci").end == .exited(0))

            _ = try stage.folder.write(Self.projectedToken(key, aud: url), to: "token")
            #expect(try await stage.authctl("refresh", "ci").end == .exited(0))
            #expect(try await stage.authctl("account", "show", "ci").output.contains(file))
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `an assertion's required settings are demanded, and refused for other grants`() async throws {
        try await withIssuer { _, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let add = ["account", "add", "robot", "--issuer", url, "--client-id", "app"]
            let keyless = try await stage.authctl(add + ["--grant", "jwt-bearer"])
            #expect(keyless.end == .exited(65) && keyless.errors.contains("--client-key-file FILE"), "\(keyless)")
            let personal = try await stage.authctl(add + ["--assertion-subject", "ann"])
            #expect(personal.end == .exited(65) && personal.errors.contains("--grant jwt-bearer"), "\(personal)")
            #expect(try await daemon.terminate() == .exited(0))
        }
    }
}

extension Data {
    /// Without padding (RFC 7515 §2).
    fileprivate var base64URL: String {
        base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
