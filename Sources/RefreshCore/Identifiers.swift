/// The number of an account in the store; stays the same when the account is renamed, and is never given twice.
package struct AccountID: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: Int64

    package init(_ rawValue: Int64) {
        self.rawValue = rawValue
    }

    package var description: String { "\(rawValue)" }

    package static func < (lhs: AccountID, rhs: AccountID) -> Bool {
        lhs.rawValue < rhs.rawValue
    }
}

/// The number of an issuer in the store.
package struct IssuerID: Hashable, Sendable {
    package let rawValue: Int64

    package init(_ rawValue: Int64) {
        self.rawValue = rawValue
    }
}

/// How often an account's refresh token has changed.
///
/// An answer belongs to the generation that was spent for it. Telling answers apart by generation, not by phase, is what keeps a
/// rotated refresh token that arrives late (RFC 9700 §4.14.2).
package struct Generation: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: Int64

    package init(_ rawValue: Int64) {
        self.rawValue = rawValue
    }

    package var next: Generation { Generation(rawValue + 1) }

    package var description: String { "\(rawValue)" }

    package static func < (lhs: Generation, rhs: Generation) -> Bool {
        lhs.rawValue < rhs.rawValue
    }
}
