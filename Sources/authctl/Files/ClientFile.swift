internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

extension FileClient {
    /// The client ID for the account.
    ///
    /// - Parameter said: the ID that was given in addition to the file.
    /// - Throws: `document` if the two differ.
    func id(said: String?) throws(Report) -> String? {
        guard let id, let said, id != said else { return said ?? id }
        throw .document(
            "the file belongs to another client than '--client-id' names",
            hint: "leave '--client-id' out: the file names the client"
        )
    }
}

/// The files of `--client-secret-file` and `--client-key-file`.
extension SecretFile {
    /// The secret of an account's client, and the client ID if the file contains it; nil if no file is named.
    ///
    /// - Throws: why the file cannot be read or used, or is another client's; `cancelled`.
    static func client(in name: String?, of account: String, clientId: String?) throws(Report) -> FileClient? {
        guard let name else { return nil }
        var client = try client(in: name, prompt: "Client secret of '\(PlainText.line(account))': ")
        client.id = try client.id(said: clientId)
        return client
    }

    /// Reads the secret, and the client ID if the file contains it.
    ///
    /// - Parameter prompt: the prompt on a terminal.
    /// - Throws: why the file cannot be read or used; `cancelled`.
    static func client(in name: String, prompt: String = "") throws(Report) -> FileClient {
        let secret = try SecretFile(name: name, purpose: .clientSecret).read(prompt: prompt)
        let text = secret.reveal()
        switch ClientFile(Array(text.utf8)) {
        case .client(let client), .impersonation(let client, _):
            guard client.secret != nil else {
                guard client.id != nil else { break }
                throw .document(
                    "the file names a client that has no secret",
                    hint: "leave '--client-secret-file' out, and name the client: --client-id ID"
                )
            }
            return client
        case .serviceAccountKey: throw .isServiceAccountKey
        case .externalAccount, nil: break
        }
        try checkIsSecret(text)
        return FileClient(id: nil, secret: try PastedText(text, purpose: .clientSecret).secret())
    }

    /// Refuses text that is not a secret. A secret may begin with any character (RFC 6749 §A.2), but no server gives out
    /// one that begins like a JSON object with a member.
    private static func checkIsSecret(_ text: String) throws(Report) {
        let json = JSONValue(text)
        let isJSON = json?.isObject ?? false || json?.elements != nil
        let isPage = ["<!doctype", "<html", "<?xml"].contains { text.lowercased().hasPrefix($0) }
        guard !isJSON, !isPage else {
            throw .document(
                "the file contains \(isPage ? "a web page" : "JSON"), but no client secret",
                hint: "expected: the secret on one line, or a JSON file with \"client_id\" and \"client_secret\""
            )
        }
        if text.prefixMatch(of: /\{\s*"/) != nil {
            throw .brokenJSON
        }
        if text.hasPrefix("-----BEGIN ") {
            throw .document(
                "the file contains a key, but no client secret",
                hint: "for a key: --client-key-file FILE"
            )
        }
        guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) }) else {
            throw .notOneLine(.clientSecret)
        }
    }

    /// Reads the key unchanged; the daemon parses it.
    ///
    /// - Throws: why the file cannot be read or used.
    static func clientKey(in name: String) throws(Report) -> SecretText {
        let key = try SecretFile(name: name, purpose: .clientKey).read(prompt: nil)
        let text = key.reveal()
        switch ClientFile(Array(text.utf8)) {
        case .serviceAccountKey: return key
        case .client, .impersonation:
            throw .document(
                "the file contains a client with its secret, but no key",
                hint: "for a secret: --client-secret-file FILE"
            )
        case .externalAccount, nil: break
        }
        let json = JSONValue(text)
        let isJWK = json?["kty"]?.string != nil || json?["keys"]?.elements != nil
        guard isJWK || text.contains("-----BEGIN ") else {
            throw .document(
                "the file contains no client key",
                hint:
                    "expected: a private key in PEM or as a JWK, or the JSON file of a service account's key from Google"
            )
        }
        return key
    }
}

extension FileClient {
    /// Warns if the server will not send a browser back to this machine: the client is a web site's.
    func warnOfRedirects() {
        guard !redirectURIs.isEmpty, !redirectURIs.contains(where: Self.isLoopback) else { return }
        StandardError.warn(
            "no redirect URI of this client leads to this machine, so the server will refuse the sign-in;"
                + " create a client of the type 'Desktop app' instead"
        )
    }

    /// Whether the address is on this machine (RFC 8252 §7.3, §8.3).
    private static func isLoopback(_ uri: String) -> Bool {
        WebLink(uri).map { LoopbackHost.isNamed(in: $0.host) } ?? false
    }
}
