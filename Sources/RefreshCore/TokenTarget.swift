/// What an access token is asked for beside the account's default one: scopes, resources, an audience, claims.
///
/// Two callers who name the same scopes and resources, in whatever order, ask for the same target and share its token. A token of a
/// target spends the account's one refresh token like any other refresh, and has no schedule: it is obtained when somebody asks for it.
///
/// Callers know it as a *token set*: the interface (`tokenSets`, `TokenSetStatus`, `TokenSetRefused`), the texts of `authctl`, the
/// journal (`AUTHREFRESH_TOKEN_SET`) and the table `token_set` keep that name.
package struct TokenTarget: Hashable, Sendable {
    /// `scope` of RFC 6749 §6: sorted, each once. Empty: not sent, so the server gives what the grant holds.
    package let scopes: [String]
    /// `resource` of RFC 8707 §2.2: absolute URIs, sorted, each once. Empty: not sent.
    package let resources: [String]
    /// `audience`, as Auth0, Okta and Keycloak take it (RFC 8693 §2.1 names it for token exchange). Nil: not sent.
    package let audience: String?
    /// `claims`: what the token, or what comes with it, shall say (OpenID Connect Core §5.5): a JSON object without blanks between its
    /// parts. Nil: not sent.
    package let claims: String?

    /// Targets that an account may hold valid tokens of. A person's programs use a handful of resources; sixteen tokens of 16 KiB, the
    /// largest seen, are a quarter of a megabyte.
    package static let maximum = 16
    /// Bytes of `text`: the names of a dozen long scopes. A page of 500 accounts, each with all its targets, stays below 16 MiB.
    package static let longestText = 1_024

    /// The scope that asks for a refresh token (OpenID Connect Core §11).
    package static let offlineAccess = "offline_access"

    /// - Throws: `TokenTargetError` for what no server could take.
    package init(
        scopes: [String] = [],
        resources: [String] = [],
        audience: String? = nil,
        claims: String? = nil
    ) throws(TokenTargetError) {
        guard !scopes.isEmpty || !resources.isEmpty || audience != nil || claims != nil else { throw .empty }
        for scope in scopes where !TokenTarget.isScopeToken(scope) { throw .scope(scope) }
        for resource in resources where !TokenTarget.isResource(resource) { throw .resource(resource) }
        if let audience, !TokenTarget.isAudience(audience) { throw .audience(audience) }
        self.scopes = Set(scopes).sorted()
        self.resources = Set(resources).sorted()
        if let claims, !TokenTarget.isObject(claims) { throw .claims }
        self.audience = audience
        self.claims = claims
        guard text.utf8.count <= TokenTarget.longestText else { throw .tooLong }
    }

    /// Its only name: a line for each part, `scope …`, `resource …`, `audience …`, `claims …`, in this order. What the store calls it by.
    package var text: String {
        let lines =
            scopes.map { "scope \($0)" } + resources.map { "resource \($0)" }
            + (audience.map { ["audience \($0)"] } ?? []) + (claims.map { ["claims \($0)"] } ?? [])
        return lines.joined(separator: "\n")
    }

    /// Nil if `text` is not what `text` gives for some target.
    package init?(text: String) {
        var (scopes, resources, audiences, claims): ([String], [String], [String], [String]) = ([], [], [], [])
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2 else { return nil }
            switch parts[0] {
            case "scope": scopes.append(parts[1])
            case "resource": resources.append(parts[1])
            case "audience": audiences.append(parts[1])
            case "claims": claims.append(parts[1])
            default: return nil
            }
        }
        let target = try? TokenTarget(
            scopes: scopes,
            resources: resources,
            audience: audiences.first,
            claims: claims.first
        )
        guard let target, target.text == text else { return nil }
        self = target
    }

    /// `scope-token` of RFC 6749 §3.3.
    static func isScopeToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { isVisible($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }

    /// RFC 8707 §2: an absolute URI (RFC 3986 §4.3) without a fragment.
    private static func isResource(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":"), text.index(after: colon) < text.endIndex,
            let first = text.utf8.first, isLetter(first)
        else { return false }
        let isSchemeByte = { (byte: UInt8) in
            isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "+-.".utf8.contains(byte)
        }
        return text[..<colon].utf8.allSatisfy(isSchemeByte)
            && text.utf8.allSatisfy { isVisible($0) && !"#\"\\<>^`{|}".utf8.contains($0) }
    }

    /// A text of the server's own choosing; a URL more often than not.
    private static func isAudience(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x20...0x7e).contains($0) }
    }

    /// Whether it stands on one line and begins and ends as an object does; its grammar is looked at where it comes in.
    private static func isObject(_ text: String) -> Bool {
        text.hasPrefix("{") && text.hasSuffix("}") && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
    }

    private static func isVisible(_ byte: UInt8) -> Bool {
        (0x21...0x7e).contains(byte)
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}

/// What is wrong with a token target that was asked for.
package enum TokenTargetError: Error, Hashable, Sendable {
    /// It asks for nothing: that is the account's default token.
    case empty
    /// No scope token of RFC 6749 §3.3.
    case scope(String)
    /// No absolute URI, or one with a fragment.
    case resource(String)
    case audience(String)
    /// No JSON object.
    case claims
    /// Longer than `TokenTarget.longestText`.
    case tooLong
}
