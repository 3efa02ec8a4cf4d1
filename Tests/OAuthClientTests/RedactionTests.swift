import Foundation
import Testing
import TextEncodings

@testable import OAuthClient

struct RedactionTests {
    /// Where secrets may be opened in this module, line by line: form bodies, credential headers and hashes. Whoever adds a line here
    /// has looked at where its text goes.
    private static let openers = #"""
        AuthorizationRequest.swift
            ("redirect_uri", request.redirectURI), ("state", request.state.reveal()),
            ("nonce", request.nonce?.reveal()),
            unsafe Base64URL.encode(verifier.withBytes { unsafe SHA256.hash(data: $0) })
            parameters = [name, ("request", try requestObject(of: parameters, by: client, metadata).reveal())]
        ClientCredentials.swift
            let text = assertion?.reveal() ?? ""
            return [id] + (secret.map { [(name: "client_secret", value: $0.reveal())] } ?? [])
            let secret = registration.clientSecret?.reveal() ?? ""
        ClientGrant.swift
            [("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"), ("assertion", assertion.reveal())]
            ("subject_token", subjectToken.reveal()), ("subject_token_type", subjectTokenType.rawValue),
            fields += [("actor_token", actorToken.reveal()), ("actor_token_type", actorTokenType.rawValue)]
        ClientIdentity.swift
            let bytes = unsafe pem.withBytes { unsafe Array($0) }
        CodeExchange.swift
            (name: "grant_type", value: "authorization_code"), ("code", code.reveal()), ("redirect_uri", redirectURI),
            case .s256: return fields + [("code_verifier", codeVerifier.reveal())]
            + [(form.parameter, grant.tokens.accessToken.secret.reveal())]
        DeviceAuthorization.swift
            ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"), ("device_code", deviceCode.reveal()),
        HTTPClients.swift
            authorization: server.credentials.map { .basic(credentials: Base64.encode($0.reveal())) }
        OAuthClient+EndSession.swift
            if let token = request.idTokenHint { fields.append(("id_token_hint", token.reveal())) }
            if let state = request.state { fields.append(("state", state.reveal())) }
        OAuthClient+Registration.swift
            if let token { headers.add(name: "authorization", value: "Bearer " + token.reveal()) }
        OAuthClient.swift
            return [("grant_type", form.grantType), (form.parameter, request.refreshToken.secret.reveal())]
        Revocation.swift
            let fields = [("token", token.reveal()), ("token_type_hint", hint)] + parameters.map { ($0.key, $0.value) }
            let fields = [("token", token.secret.reveal()), ("token_type_hint", "access_token")]
        """#

    @Test func `secrets are opened only where a request is written, the refresh token in one place`() throws {
        let folder = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Sources/OAuthClient", isDirectory: true).resolvingSymlinksInPath()
        var found: [String: [String]] = [:]
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            let lines = text.split(separator: "\n").map { $0.drop { $0 == " " } }
            let opening = lines.filter { !$0.hasPrefix("//") && $0.contains(/reveal|withBytes/) }.map { String($0) }
            if !opening.isEmpty { found[file.lastPathComponent] = opening }
        }
        let shown = found.sorted { $0.key < $1.key }.map { file, lines in
            ([file] + lines.map { "    " + $0 }).joined(separator: "\n")
        }
        #expect(shown.joined(separator: "\n") == Self.openers)
    }
}
