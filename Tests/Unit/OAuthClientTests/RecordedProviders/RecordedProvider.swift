import Foundation
@testable import RefreshCore
import Testing
import Yams

@testable import OAuthMessages

/// The documented answers of a provider, and what our client must make of them: a file in `Fixtures/recordings`.
struct RecordedProvider: Decodable, Sendable, CustomTestStringConvertible {
    /// One exchange at the token endpoint.
    struct Exchange: Decodable, Sendable {
        struct Expectation: Decodable, Sendable {
            let lifetime: Int?
            let refreshToken: Bool
            let refreshTokenLifetime: Int?
            let refreshIn: Int?
            let scopes: [String]?
            let tokenType: String?
            let subject: String?
            let kept: [String: String]?
        }

        /// The method and address that the request must have; nil for any.
        let line: String?
        /// The fields that the request must have, and those that it must not have.
        let fields: [String: String]?
        let absent: [String]?
        let headers: [String: String]?
        let basic: Bool?
        let contentType: String?
        let accept: String?
        let type: String?
        let body: JSONTree
        let expect: Expectation
    }

    /// An answer with an error.
    struct Refusal: Decodable, Sendable {
        /// The request that is answered so: `code`; nil for a refresh.
        let to: String?
        let status: Int
        let type: String?
        let headers: [String: String]?
        let body: JSONTree
        let workedBefore: Bool?
        let outcome: String
        let providerCode: String?
        let retryAfter: Int?
    }

    struct Device: Decodable, Sendable {
        let body: JSONTree
        let userCode: String
        let verification: String
    }

    let source: String
    /// The issuer of accounts, if the profile names none.
    let issuer: String?
    /// The account's values for the profile's variables.
    let variables: [String: String]?
    /// The document that the provider publishes; nil if the profile replaces it.
    let metadata: JSONTree?
    /// Claims of its ID tokens in addition to the usual ones.
    let claims: [String: JSONTree]?
    /// Whether the client has a secret; nil means yes.
    let secret: Bool?
    let scopes: [String]?
    let scopeParameter: String?
    let scope: String?
    /// The parameters that the authorization URL must have, and those that it must not have.
    let authorize: [String: String]?
    let absent: [String]?
    /// Fields of the redirect that are kept.
    let callback: [String]?
    let code: Exchange
    /// The exchange right after the code; nil if there is none.
    let exchange: Exchange?
    let refresh: Exchange?
    let refusals: [Refusal]
    let device: Device?
    /// The answer of the introspection endpoint about the access token.
    let introspection: JSONTree?

    /// The profile's name. The code that reads the file sets it.
    private(set) var name = ""

    private enum CodingKeys: CodingKey {
        case source, issuer, variables, metadata, claims, secret, scopes, scopeParameter, scope, authorize, absent,
            callback, code, exchange
        case refresh, refusals, device, introspection
    }

    var testDescription: String { name }

    static var folder: URL {
        get throws { try #require(Bundle.module.resourceURL).appendingPathComponent("Fixtures/recordings") }
    }

    static func all() throws -> [RecordedProvider] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "json" }
            .sorted { $0.path < $1.path }
            .map { file in
                var recording = try JSONDecoder().decode(RecordedProvider.self, from: Data(contentsOf: file))
                recording.name = file.deletingPathExtension().lastPathComponent
                return recording
            }
    }

    /// The shipped profile, with `origin` instead of the provider's hosts.
    func profile(at origin: String) throws -> ProviderProfile {
        let file = ProviderProfileTests.folder.appendingPathComponent(name + ".yaml")
        let lines = try String(contentsOf: file, encoding: .utf8).split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        let moved = lines.map { line in
            line.replacing(#/^(issuer|issuer_template|jwks_uri|[a-z_]+_endpoint): https:\/\/[^\/]+/#) { match in
                "\(match.1): \(origin)"
            }
        }
        let profile = try YAMLDecoder().decode(ProviderProfile.self, from: moved.joined(separator: "\n"))
        return try profile.resolved(with: variables ?? [:])
    }

    /// The issuer of an account of `profile` at `origin`.
    func issuer(of profile: ProviderProfile, at origin: String) throws -> Issuer {
        if let issuer = profile.issuer { return issuer }
        let path = try #require(issuer).replacing(#/^https:\/\/[^\/]+/#, with: "")
        return try Issuer(url: origin + path)
    }

    /// The exchange that begins with a request with this `grant_type`; nil if there is none.
    func exchange(for grant: String) -> Exchange? {
        if grant == "authorization_code" { return code }
        return grant == exchange?.fields?["grant_type"] ? exchange : refresh
    }

    var registration: ClientRegistration {
        ClientRegistration(
            clientID: "client",
            clientSecret: secret ?? true ? Secret("recording-secret") : nil,
            scopes: scopes ?? []
        )
    }
}

/// A server that answers as the recording says.
struct RecordedProviderServer: Sendable {
    let recording: RecordedProvider
    let signer = TestSigner()
    /// The answer to codes or refreshes, instead of the recording's usual answer.
    var refusal: RecordedProvider.Refusal?

    var script: LoopbackServer.Script {
        { request, _ in
            let origin = request.origin
            if request.line.hasPrefix("GET"), request.tokenFields["grant_type"] == nil {
                guard let document = recording.metadata, request.line.contains("/.well-known/openid-configuration")
                else {
                    return [LoopbackServer.json(request.line.contains("/.well-known/") ? 404 : 200, signer.keySet)]
                }
                return [LoopbackServer.json(200, text(document, origin))]
            }
            guard let grant = request.tokenFields["grant_type"] else {
                if let introspection = recording.introspection {
                    return [LoopbackServer.json(200, text(introspection, origin))]
                }
                return [LoopbackServer.json(200, recording.device.map { text($0.body, origin) } ?? "{}")]
            }
            if request.tokenFields["code"]?.hasPrefix("rehearsal") == true {
                return [LoopbackServer.json(400, #"{"error":"invalid_grant"}"#)]
            }
            if let refusal {
                return [answer(refusal.status, refusal.type, refusal.headers, text(refusal.body, origin))]
            }
            guard let exchange = recording.exchange(for: grant) else {
                return [LoopbackServer.json(400, #"{"error":"unsupported_grant_type"}"#)]
            }
            return [answer(200, exchange.type, nil, text(exchange.body, origin))]
        }
    }

    private func answer(_ status: Int, _ type: String?, _ headers: [String: String]?, _ body: String)
        -> LoopbackServer.Step
    {
        LoopbackServer.answer(
            status,
            ["content-type": type ?? "application/json"].merging(headers ?? [:]) { $1 },
            body
        )
    }

    private func text(_ body: JSONTree, _ origin: String) -> String {
        let now = Int64(Date.now.timeIntervalSince1970)
        let claims = (recording.claims ?? [:]).mapValues { value in
            value.text.map { JSONTree.string($0.replacing("ORIGIN", with: origin)) } ?? value
        }
        let token = try? signer.token(TestSigner.claims(origin, claims))
        return (body.text ?? String(decoding: body.bytes, as: UTF8.self))
            .replacing("ORIGIN", with: origin)
            .replacing("ID_TOKEN", with: token ?? "")
            .replacing(#""NOW+21600""#, with: String(now + 21_600))
            .replacing(#""NOW+7200""#, with: String(now + 7200))
            .replacing("SENT", with: "r1")
    }
}

extension LoopbackServer.Request {
    /// Whether the request asks for tokens without a code.
    var isRefresh: Bool { tokenFields["grant_type"].map { $0 != "authorization_code" } ?? false }

    /// The fields of a token request in either format.
    var tokenFields: [String: String] {
        if header("content-type") == "application/json" {
            return (JSONTree.object(in: Array(body.utf8)) ?? [:]).compactMapValues(\.text)
        }
        if line.hasPrefix("GET") { return formFields(line.drop { $0 != "?" }.dropFirst()).compactMapValues(\.first) }
        return fields.compactMapValues(\.first)
    }
}
