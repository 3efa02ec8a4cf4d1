import Crypto
import Foundation
import RefreshCore

/// The columns whose values are sealed. The raw values are authenticated, and must never change.
package enum SealedColumn: String, Hashable, Sendable, CaseIterable {
    case clientSecret = "account.client_secret"
    case clientKey = "account.client_key"
    case dpopKey = "account.dpop_key"
    case registrationToken = "account.registration_token"
    case refreshToken = "token.refresh"
    case accessToken = "token.access"
    case idToken = "token.id"
    /// The digest of a refresh token of which somebody has a copy.
    case copiedToken = "token.copied"
    /// A known value that identifies the right key; it belongs to no account.
    case keyCheck = "meta.key_check"

    private static let tokens = "token."

    /// The value of the column `kind` in a token's row.
    var kind: String { String(rawValue.dropFirst(Self.tokens.count)) }

    /// Reads the column `kind`; nil if the kind of token is unknown.
    init?(kind: String) { self.init(rawValue: Self.tokens + kind) }
}

/// The place of a sealed value, for example of a token. The value opens only there.
struct SealedPlace: Hashable {
    var account: AccountID
    var column: SealedColumn
    var generation: Generation
    /// The target of an access token; empty for the account's default and for other values.
    var target = ""
}

/// Seals secrets for their place in the store, and opens them there.
///
/// A sealed value consists of these bytes:
///
///     1       version (1)
///     12      nonce, random
///     n       ciphertext, as long as the secret
///     16      tag
///
/// The cipher is AES-256-GCM. Each account has its own key: HKDF-SHA256 (RFC 5869) of the store's key with the info
/// `authrefresh account key` followed by the account's number. One key allows 2³² random nonces (NIST SP 800-38D §8.3),
/// so that limit applies to each account and not to all of them together. The additional authenticated data is:
///
///     1       version (1)
///     8       account number, big-endian
///     8       generation, big-endian
///     n       column, as `SealedColumn` writes it
///     1       0
///     n       target
///
/// While the store's key is being changed, there are two keys. New values are sealed with the new key. A value that the
/// new key does not open is opened with the old one.
final class Sealer: Sendable {
    private static let version: UInt8 = 1

    private let key: SealingKey
    /// The old key; nil unless the store's key is being changed.
    private let previous: SealingKey?

    init(_ key: StoreKey, previous: StoreKey? = nil) {
        self.key = SealingKey(key)
        self.previous = previous.map(SealingKey.init)
    }

    func seal(_ secret: Secret, for place: SealedPlace) throws(StoreError) -> Data {
        do {
            let box = try unsafe secret.withBytes { bytes in
                try unsafe AES.GCM.seal(
                    bytes,
                    using: key.accountKey(place.account),
                    authenticating: Sealer.context(of: place)
                )
            }
            // GCM with a nonce of 12 bytes always has this form.
            guard let combined = box.combined else { throw StoreError.sealBroken(place.account, column: place.column) }
            var sealed = Data(capacity: 1 + combined.count)
            sealed.append(Sealer.version)
            sealed.append(combined)
            return sealed
        } catch {
            throw .sealBroken(place.account, column: place.column)
        }
    }

    /// Opens a sealed value.
    ///
    /// - Throws: `sealBroken` if the value was altered, moved, or sealed with another key.
    func open(_ sealed: Data, at place: SealedPlace) throws(StoreError) -> Secret {
        if let secret = Sealer.open(sealed, at: place, with: key) { return secret }
        if let previous, let secret = Sealer.open(sealed, at: place, with: previous) { return secret }
        throw .sealBroken(place.account, column: place.column)
    }

    /// Seals the value with the new key; nil if it already is.
    ///
    /// - Throws: `sealBroken` if neither key opens it.
    func reseal(_ sealed: Data, at place: SealedPlace) throws(StoreError) -> Data? {
        guard Sealer.open(sealed, at: place, with: key) == nil else { return nil }
        return try seal(try open(sealed, at: place), for: place)
    }

    /// Opens the value; nil if it was altered, moved, or sealed with another key.
    private static func open(_ sealed: Data, at place: SealedPlace, with key: SealingKey) -> Secret? {
        guard sealed.first == version, let box = try? AES.GCM.SealedBox(combined: sealed.dropFirst()),
            var bytes = try? AES.GCM.open(
                box,
                using: key.accountKey(place.account),
                authenticating: context(of: place)
            )
        else { return nil }
        defer { bytes.resetBytes(in: bytes.startIndex..<bytes.endIndex) }
        return Secret(bytes)
    }

    private static func context(of place: SealedPlace) -> [UInt8] {
        var context: [UInt8] = []
        context.reserveCapacity(48 + place.target.utf8.count)
        context.append(version)
        context += bigEndian(place.account.rawValue)
        context += bigEndian(place.generation.rawValue)
        context += place.column.rawValue.utf8
        context.append(0)
        context += place.target.utf8
        return context
    }
}

/// One key of the store, from which the keys of the accounts are derived.
private struct SealingKey: Sendable {
    private static let info = Array("authrefresh account key".utf8)

    /// HMAC-SHA256 with the store's extracted key, before any input. It is prepared once, because that is half the work
    /// of a derivation.
    private let extracted: HMAC<SHA256>

    init(_ key: StoreKey) {
        extracted = HMAC(key: key.extracted)
    }

    /// The first block of HKDF-Expand (RFC 5869 §2.3), which has the length of a key.
    func accountKey(_ account: AccountID) -> SymmetricKey {
        var block = extracted
        block.update(data: SealingKey.info + bigEndian(account.rawValue) + [1])
        return SymmetricKey(data: block.finalize())
    }
}

private func bigEndian(_ number: Int64) -> [UInt8] {
    unsafe withUnsafeBytes(of: number.bigEndian) { unsafe Array($0) }
}
