/// What an access token is requested for, besides the account's default one: scopes, resources, an audience, claims.
///
/// Two callers who name the same scopes and resources, in any order, ask for the same target and share its token. A
/// target's token spends the account's refresh token like any other refresh. It has no schedule: it is requested when a
/// caller asks for it.
///
/// Users know it as a *token set*. The interface (`tokenSets`, `TokenSetStatus`, `TokenSetRefused`), the texts of
/// `authctl`, the journal (`AUTHREFRESH_TOKEN_SET`) and the table `token_set` use that name.
package struct TokenTarget: Hashable, Sendable {
    /// `scope` of RFC 6749 §6, sorted, without duplicates. If empty, it is not sent, and the server gives the scope of
    /// the grant.
    package let scopes: [String]
    /// `resource` of RFC 8707 §2.2: absolute URIs, sorted, without duplicates. If empty, it is not sent.
    package let resources: [String]
    /// `audience` of Auth0, Okta and Keycloak (RFC 8693 §2.1 names it for token exchange); nil if it is not sent.
    package let audience: String?
    /// `claims`, what the token or its ID token should say (OpenID Connect Core §5.5): a JSON object without blanks
    /// between its parts; nil if it is not sent.
    package let claims: String?

    /// The most targets for which an account may hold valid tokens. A person's programs use a handful of resources.
    /// Sixteen tokens of 16 KiB, the largest seen, take a quarter of a megabyte.
    package static let maximum = 16
    /// The most bytes of `text`, enough for a dozen long scopes. A page of 500 accounts, each with all its targets,
    /// stays below 16 MiB.
    package static let longestText = 1_024

    /// The scope that asks for a refresh token (OpenID Connect Core §11).
    package static let offlineAccess = "offline_access"

    /// Creates a target with normalized parts.
    ///
    /// - Throws: what no server could accept.
    package init(
        scopes: [String] = [],
        resources: [String] = [],
        audience: String? = nil,
        claims: String? = nil
    ) throws(ValueError) {
        guard !scopes.isEmpty || !resources.isEmpty || audience != nil || claims != nil else {
            throw ValueError(field: "scopes", "no scope, resource, audience or claim is named")
        }
        for scope in scopes where !TokenTarget.isScopeToken(scope) { throw ValueError(noScope: scope) }
        for resource in resources where !TokenTarget.isResource(resource) {
            throw ValueError(
                field: "resources",
                "'\(resource)' is not an absolute URI without a fragment",
                hint: "RFC 8707 section 2"
            )
        }
        if let audience, !TokenTarget.isAudience(audience) {
            throw ValueError(field: "audience", "it is empty, or not plain ASCII text")
        }
        if let claims, !TokenTarget.isObject(claims) {
            throw ValueError(
                field: "claims",
                "they are not a JSON object",
                hint: #"{"access_token":{"acr":{"essential":true}}}, for example (OpenID Connect Core section 5.5)"#
            )
        }
        self.scopes = Set(scopes).sorted()
        self.resources = Set(resources).sorted()
        self.audience = audience
        self.claims = claims
    }

    /// Whether its `text` is longer than the store keeps.
    package var isTooLong: Bool { text.utf8.count > TokenTarget.longestText }

    /// The canonical text, by which the store identifies the target: a line for each part, `scope …`, `resource …`,
    /// `audience …`, `claims …`, in this order.
    package var text: String {
        let lines =
            scopes.map { "scope \($0)" } + resources.map { "resource \($0)" }
            + (audience.map { ["audience \($0)"] } ?? []) + (claims.map { ["claims \($0)"] } ?? [])
        return lines.joined(separator: "\n")
    }

    /// Reads a canonical text; nil if `text` is not one.
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
        guard let target, !target.isTooLong, target.text == text else { return nil }
        self = target
    }

    /// Whether `text` is a `scope-token` of RFC 6749 §3.3.
    package static func isScopeToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { isVisible($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }

    /// Whether `text` is an absolute URI (RFC 3986 §4.3) without a fragment, as RFC 8707 §2 requires.
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

    /// Whether `text` can be an audience. Servers choose their own texts, mostly URLs.
    private static func isAudience(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x20...0x7e).contains($0) }
    }

    /// Whether `text` is one line and has the braces of an object. The full grammar is checked where the text enters
    /// the program.
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

extension ValueError {
    /// Not a scope token of RFC 6749 §3.3.
    package init(noScope text: String) {
        self.init(
            field: "scopes",
            "'\(text)' is not a scope",
            hint: "visible ASCII without spaces, quotes and backslashes (RFC 6749 section 3.3)"
        )
    }
}
