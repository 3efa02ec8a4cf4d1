/// What a grant covers, as far as the server's answers tell, and whether the account's own access token has all of it.
///
/// RFC 6749 §6: a refresh that names a narrower scope changes nothing but the access token that it brings, and one that names none brings
/// the scope of the grant. At some servers the narrower scope becomes that of every later refresh which names none.
package struct GrantedScope: Hashable, Sendable {
    /// The scope tokens that the server named for the grant: sorted, each once.
    package private(set) var granted: [String]
    /// Those of them that the account's own access token lacks.
    package private(set) var missing: [String]
    /// What the sign-in asked for and the grant does not have: the person or the server declined it. Sorted.
    package private(set) var declined: [String]
    /// What the account's own requests say of the scope.
    package private(set) var request: Request

    package enum Request: String, Hashable, Sendable, CaseIterable {
        /// Nothing: the server gives what the grant has (RFC 6749 §6).
        case omitted
        /// All of it: the server was seen to give less to a request that named nothing.
        case named
        /// Nothing again: the server refused a request that named it.
        case refused
    }

    /// Longest that is kept, in bytes of all tokens: it goes into requests. A dozen of Google's take less than 1 KiB.
    package static let longest = 4_096

    /// What the answer to a sign-in, or to the first refresh of a grant, tells; nil if it cannot be kept or asked for.
    ///
    /// - Parameter asked: what a sign-in asked for; empty if nothing is known to have been.
    package init?(granted scopes: [String], asked: [String] = []) {
        guard Self.isUsable(scopes) else { return nil }
        let declined = asked.filter { Self.isDeclined($0, of: scopes) }
        self.init(granted: Set(scopes).sorted(), missing: [], declined: Set(declined).sorted(), request: .omitted)
    }

    /// As it was stored.
    package init(granted: [String], missing: [String], declined: [String] = [], request: Request) {
        self.granted = granted
        self.missing = missing
        self.declined = declined
        self.request = request
    }

    /// What the account's own request has to name; nil if nothing.
    package var toName: [String]? { request == .named ? granted : nil }

    /// Takes note of the scope of an access token that the account's own request has brought; nil if the answer names none.
    package mutating func note(_ scopes: [String]?) {
        // RFC 6749 §5.1: a server that names no scope has given what was asked for.
        guard let scopes = scopes ?? toName, Self.isUsable(scopes) else { return }
        let (now, before) = (Set(scopes), Set(granted))
        guard now.isSubset(of: before) else {
            // More, or the same by other names: nothing shows that there is less.
            granted = now.sorted()
            missing = []
            declined = declined.filter { Self.isDeclined($0, of: scopes) }
            return
        }
        // It says whether there is a refresh token, not what the access token may (OpenID Connect Core §11); some answers leave it out.
        missing = before.subtracting(now).subtracting([TokenTarget.offlineAccess]).sorted()
        if !missing.isEmpty, request == .omitted { request = .named }
    }

    /// Takes note that the server has given no tokens to a request that named the scope.
    package mutating func noteRefusal() {
        request = .refused
    }

    /// What says who signs in, or how long the grant lasts, and not what the token may: servers list it or leave it out as they like.
    private static let unlisted: Set = ["openid", "profile", "email", "address", "phone", TokenTarget.offlineAccess]

    /// Whether `scope`, which was asked for, is not among what was granted by any name: `Mail.Read` stands for
    /// `https://graph.microsoft.com/Mail.Read` in Entra's answers, in another case at times; and `.default` for all that a resource has.
    private static func isDeclined(_ scope: String, of granted: [String]) -> Bool {
        let name = shortName(scope)
        return !unlisted.contains(scope) && name != ".default" && !granted.contains { shortName($0) == name }
    }

    private static func shortName(_ scope: String) -> String {
        (scope.split(separator: "/").last.map(String.init) ?? scope).lowercased()
    }

    private static func isUsable(_ scopes: [String]) -> Bool {
        !scopes.isEmpty && scopes.reduce(0) { $0 + $1.utf8.count + 1 } <= longest
            && scopes.allSatisfy(TokenTarget.isScopeToken)
    }
}
