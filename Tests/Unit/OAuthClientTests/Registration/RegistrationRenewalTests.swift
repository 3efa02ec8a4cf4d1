import Foundation
@testable import RefreshCore
import Testing

@testable import OAuthClient
@testable import OAuthMessages

/// Renewing secrets that expire (RFC 7592 §2.1 and §2.2).
struct RegistrationRenewalTests {
    private static let end = 2_000_000_000

    /// Renews at a server that gives these answers to reading and updating. Returns the result, or nil if `keep`
    /// stopped the renewal.
    ///
    /// - Parameter keep: gets the registration that was read. Returns whether to continue.
    private func attempt(
        reading: String,
        updating: String,
        status: Int = 200,
        keep: @escaping @Sendable (ClientRegistration) async -> Bool = { _ in true }
    ) async throws -> (RegistrationRenewal?, [LoopbackServer.Request]) {
        let script: LoopbackServer.Script = { request, _ in
            let isUpdate = request.line.hasPrefix("PUT")
            return [LoopbackServer.json(isUpdate ? status : 200, isUpdate ? updating : reading)]
        }
        return try await withServer(script) { server in
            try await withClient { client in
                let management = RegistrationManagement(uri: server.origin + "/register/c1", accessToken: Secret("rat"))
                let registration = ClientRegistration(
                    clientID: "c1",
                    clientSecret: Secret("s1"),
                    clientSecretExpiresAt: Timestamp(microseconds: Int64(Self.end) * 1_000_000),
                    management: management
                )
                let requesting = try requestingClient(at: server.origin, registration: registration)
                return (await client.registrar.renew(management, of: requesting, keep: keep), server.requests)
            }
        }
    }

    /// Renews as above, without a `keep` that stops.
    private func renew(
        reading: String,
        updating: String,
        status: Int = 200
    ) async throws -> (RegistrationRenewal, [LoopbackServer.Request]) {
        let (renewal, sent) = try await attempt(reading: reading, updating: updating, status: status)
        return (try #require(renewal), sent)
    }

    @Test func `a registration that was read is stored before it is used, and nothing more is sent if that fails`()
        async throws
    {
        let reading = #"{"client_id":"c1","registration_access_token":"rat-2"}"#
        let (renewal, sent) = try await attempt(reading: reading, updating: "{}") { read in
            #expect(read.clientSecret == Secret("s1"))
            #expect(read.management?.accessToken == Secret("rat-2"))
            return false
        }
        #expect(renewal == nil)
        #expect(sent.map(\.line) == ["GET /register/c1"])
    }

    private static let known = """
        {"client_id":"c1","client_secret":"s1","client_secret_expires_at":\(end),"client_id_issued_at":1,
        "registration_access_token":"rat-2","registration_client_uri":"http://127.0.0.1:1/x","redirect_uris":["a.b:/c"],
        "token_endpoint_auth_method":"client_secret_basic","x_own":{"y":[1]}}
        """

    @Test func `the registration is sent back without the server's own fields, and the new secret is accepted`()
        async throws
    {
        let (renewal, sent) = try await renew(
            reading: Self.known.replacing("\"registration_client_uri\":\"http://127.0.0.1:1/x\",", with: ""),
            updating: #"{"client_id":"c1","client_secret":"s2","client_secret_expires_at":\#(Self.end + 9)}"#
        )
        #expect(renewal.failure == nil)
        #expect(renewal.registration.clientSecret == Secret("s2"))
        #expect(renewal.registration.clientSecretExpiresAt?.microseconds == Int64(Self.end + 9) * 1_000_000)
        #expect(renewal.registration.management?.accessToken == Secret("rat-2"))
        #expect(sent.map(\.line) == ["GET /register/c1", "PUT /register/c1"])
        #expect(sent.map { $0.header("authorization") } == ["Bearer rat", "Bearer rat-2"])
        let document = try JSONDecoder().decode(JSONTree.self, from: Data(try #require(sent.last).body.utf8))
        #expect(
            document
                == .object([
                    "client_id": .string("c1"), "redirect_uris": .array([.string("a.b:/c")]),
                    "token_endpoint_auth_method": .string("client_secret_basic"),
                    "x_own": .object(["y": .array([.number(1)])]),
                ])
        )
    }

    @Test func `if reading renews the secret, no update is sent`() async throws {
        let (renewal, sent) = try await renew(
            reading: #"{"client_id":"c1","client_secret":"s2","client_secret_expires_at":0}"#,
            updating: "{}"
        )
        #expect(renewal.failure == nil)
        #expect(renewal.registration.clientSecret == Secret("s2"))
        #expect(renewal.registration.clientSecretExpiresAt == nil)
        #expect(renewal.registration.management?.accessToken == Secret("rat"))
        #expect(sent.count == 1)
    }

    @Test func `the same secret for longer is a renewal, too`() async throws {
        let (renewal, _) = try await renew(
            reading: #"{"client_id":"c1"}"#,
            updating: #"{"client_id":"c1","client_secret_expires_at":\#(Self.end + 9)}"#
        )
        #expect(renewal.failure == nil)
        #expect(renewal.registration.clientSecret == Secret("s1"))
        #expect(renewal.registration.clientSecretExpiresAt?.microseconds == Int64(Self.end + 9) * 1_000_000)
    }

    @Test(arguments: [
        (200, #"{"client_id":"c1","client_secret":"s1","client_secret_expires_at":2000000000}"#),
        (200, #"{"client_id":"other","client_secret":"s2","client_secret_expires_at":0}"#),
        (403, #"{"error":"access_denied"}"#), (503, ""),
    ])
    func `a refused update keeps the secret, and the registration's new token`(
        status: Int,
        body: String
    ) async throws {
        let reading = #"{"client_id":"c1","registration_access_token":"rat-2"}"#
        let (renewal, _) = try await renew(reading: reading, updating: body, status: status)
        #expect(renewal.failure != nil)
        #expect(renewal.registration.clientSecret == Secret("s1"))
        #expect(renewal.registration.clientSecretExpiresAt?.microseconds == Int64(Self.end) * 1_000_000)
        #expect(renewal.registration.management?.accessToken == Secret("rat-2"))
        let text = "\(String(describing: renewal.failure))"
        #expect(!text.contains("rat-") && !text.contains("s2"))
    }
}
