/// A person at the pages of the demo issuer. Their browser follows a redirect only if a test opens it.
package struct Person: Sendable {
    package let subject: String

    package init(_ subject: String = "alice") {
        self.subject = subject
    }

    /// Opens `url` and allows or denies the request.
    ///
    /// - Returns: the address of the redirect.
    package func decide(_ isAllowed: Bool = true, at url: String) async throws -> String {
        try await decide(isAllowed ? "allow" : "deny", at: url)
    }

    /// Opens `url` and submits `decision`, a button of the page.
    ///
    /// - Returns: the address of the redirect.
    package func decide(_ decision: String, at url: String) async throws -> String {
        let reply = try await answer(decision, at: url)
        guard reply.status == 303, let location = reply.headers["location"] else {
            throw TestFault.unreadable("no redirect: \(reply.status ?? 0) \(reply.body)")
        }
        return location
    }

    /// Opens `url` and decides, at a server that answers with a form.
    ///
    /// - Returns: the form's address, and its encoded fields.
    package func decideByForm(_ isAllowed: Bool = true, at url: String) async throws -> (action: String, form: String) {
        let reply = try await answer(isAllowed ? "allow" : "deny", at: url)
        guard let action = reply.body.firstMatch(of: /action="([^"]*)"/)?.1 else {
            throw TestFault.unreadable("no form: \(reply.body)")
        }
        let fields = reply.body.matches(of: /name="([^"]*)" value="([^"]*)"/).map { "\($0.1)=\(Self.encoded($0.2))" }
        return (String(action), fields.joined(separator: "&"))
    }

    /// Types the code of a device at `page`, and decides.
    package func decide(_ isAllowed: Bool = true, device userCode: String, at page: String) async throws {
        let form = "user_code=\(userCode)&subject=\(subject)&decision=\(isAllowed ? "allow" : "deny")"
        let reply = try await RawWeb.post(page, form)
        guard reply.status == 200 else { throw TestFault.unreadable(reply.body) }
    }

    private func answer(_ decision: String, at url: String) async throws -> WebReply {
        let page = try await RawWeb.get(url)
        guard let id = page.body.firstMatch(of: /name="request" value="([^"]*)"/)?.1 else {
            throw TestFault.unreadable("no consent page: \(page.status ?? 0) \(page.headers) \(page.body)")
        }
        let origin = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).prefix(3)
        let form = "request=\(id)&subject=\(subject)&decision=\(decision)"
        return try await RawWeb.post(origin.joined(separator: "/") + "/authorize/decision", form)
    }

    private static func encoded(_ text: Substring) -> String {
        text.utf8.map { byte in
            let isPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~".utf8.contains(byte)
            guard !isPlain else { return String(UnicodeScalar(byte)) }
            return "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }
}
