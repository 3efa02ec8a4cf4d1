/// The scope of a grant, as far as the server's answers show it, and whether the account's own access token has all of
/// it.
///
/// RFC 6749 §6: a refresh that names a narrower scope affects only the access token that it brings. A refresh that
/// names no scope brings the scope of the grant. At some servers, however, the narrower scope applies to every later
/// refresh that names none, or to the refresh token that it brings, for good.
package struct GrantedScope: Hashable, Sendable {
    /// The scope tokens that the server granted: sorted, without duplicates.
    package private(set) var granted: [String]
    /// The granted scope tokens that the account's own access token lacks.
    package private(set) var missing: [String]
    /// What the sign-in asked for and did not get, because the person or the server declined it. Sorted.
    package private(set) var declined: [String]
    /// What the account's own requests send as scope.
    package private(set) var request: Request
    /// What requests for fewer scopes have shown.
    package private(set) var narrowing: Narrowing

    package enum Request: String, Hashable, Sendable, CaseIterable {
        /// No scope: the server gives the scope of the grant (RFC 6749 §6).
        case omitted
        /// The whole granted scope, because the server gave less to a request without a scope.
        case named
        /// No scope again, because the server refused a request that named it.
        case refused
    }

    package enum Narrowing: String, Hashable, Sendable, CaseIterable {
        case untried
        /// A token has fewer scopes, and no later answer has shown what that did to the grant.
        case tried
        /// The server has stated the whole scope afterwards.
        case kept
    }

    /// The longest scope that is kept, in bytes of all scope tokens, because it is sent in requests. A dozen of
    /// Google's scopes take less than 1 KiB.
    package static let longest = 4_096

    /// The scope that the answer to a sign-in, or to the first refresh of a grant, states; nil if it cannot be stored
    /// or sent.
    ///
    /// - Parameter asked: the scope that the sign-in asked for; empty if that is unknown.
    package init?(granted scopes: [String], asked: [String] = []) {
        guard Self.isUsable(scopes) else { return nil }
        let declined = asked.filter { Self.isDeclined($0, of: scopes) }
        self.init(granted: Set(scopes).sorted(), missing: [], declined: Set(declined).sorted(), request: .omitted)
    }

    /// The same with what an earlier grant at the same server has shown.
    package func after(_ earlier: GrantedScope?) -> GrantedScope {
        var scope = self
        if earlier?.narrowing == .kept { scope.narrowing = .kept }
        return scope
    }

    /// Restores a scope from the store.
    package init(
        granted: [String],
        missing: [String],
        declined: [String] = [],
        request: Request,
        narrowing: Narrowing = .untried
    ) {
        self.granted = granted
        self.missing = missing
        self.declined = declined
        self.request = request
        self.narrowing = narrowing
    }

    /// Whether the server has taken scopes from the grant: it gives them neither to a request that names none nor to one
    /// that names them. Only a sign-in brings them back.
    package var isLost: Bool { request == .refused && !missing.isEmpty }

    /// Whether the server keeps the scope of a grant when a token asks for a part of it; nil until answers show it.
    package var isKept: Bool? {
        switch narrowing {
        case .untried: nil
        case .tried: missing.isEmpty ? nil : false
        case .kept: missing.isEmpty
        }
    }

    /// Whether a token with `scopes` has fewer than the grant.
    package func isWider(than scopes: [String]) -> Bool { !Set(granted).isSubset(of: scopes) }

    /// Records that a token has fewer scopes than the grant.
    package mutating func noteNarrowing() {
        if narrowing == .untried { narrowing = .tried }
    }

    /// The scope that the account's own request has to send; nil if none.
    package var toName: [String]? { request == .named ? granted : nil }

    /// Records the scope of an access token from the account's own request; nil if the answer states none.
    package mutating func note(_ stated: [String]?) {
        // RFC 6749 §5.1: a server that states no scope has granted the requested one.
        guard let scopes = stated ?? toName, Self.isUsable(scopes) else { return }
        let (now, before) = (Set(scopes), Set(granted))
        guard now.isSubset(of: before) else {
            // The answer has more scope tokens, or has them under other names. Nothing shows that the token has less.
            granted = now.sorted()
            missing = []
            declined = declined.filter { Self.isDeclined($0, of: scopes) }
            return
        }
        // `offline_access` asks for a refresh token and says nothing about the access token (OpenID Connect Core §11).
        // Some answers leave it out.
        missing = before.subtracting(now).subtracting([TokenTarget.offlineAccess]).sorted()
        switch request {
        case _ where missing.isEmpty: if request == .omitted, narrowing == .tried { narrowing = .kept }
        case .omitted: request = .named
        // Naming the scope did not bring it back.
        case .named: request = .refused
        case .refused: break
        }
    }

    /// Records that the server refused a request that named the scope.
    package mutating func noteRefusal() {
        request = .refused
    }

    /// Scope tokens that say who signs in or how long the grant lasts, not what the token may do. Servers list or omit
    /// them at will.
    private static let unlisted: Set = ["openid", "profile", "email", "address", "phone", TokenTarget.offlineAccess]

    /// Whether the requested `scope` was not granted under any name.
    ///
    /// Entra may answer `Mail.Read` for `https://graph.microsoft.com/Mail.Read`, at times in another case, and
    /// `.default` stands for all scopes of a resource.
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
