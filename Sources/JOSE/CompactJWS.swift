import RefreshCore
import TextEncodings

/// A signed token in its compact form (RFC 7515 §3.1), taken apart; nothing of it is to be believed yet.
struct CompactJWS: Sendable {
    /// Longest token read, in bytes. An ID token of Entra with 200 groups has 12 KiB.
    static let sizeLimit = 64 << 10

    let header: JSONObject
    let payload: JSONObject
    let signature: [UInt8]
    /// What was signed: header and payload as they came, with the dot.
    let signingInput: [UInt8]
    let algorithm: SigningAlgorithm

    /// `kid`: which key it says it was signed with. Keys that the token brings along (`jwk`, `jku`, `x5c`, `x5u`) are not looked at.
    var keyID: String? { header.text("kid") }

    /// - Throws: a case about the token's form or header.
    init(_ token: Secret) throws(JOSEError) {
        guard token.count <= Self.sizeLimit else { throw .tooLarge }
        let bytes = unsafe token.withBytes { unsafe Array($0) }
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count != 5 else { throw .encrypted }
        guard parts.count == 3, let header = Base64URL.decode(parts[0]), let payload = Base64URL.decode(parts[1]),
            let signature = Base64URL.decode(parts[2])
        else { throw .malformed }
        self.header = try JSONObject(header)
        algorithm = try Self.algorithm(self.header)
        self.payload = try JSONObject(payload)
        self.signature = signature
        signingInput = Array(bytes[..<parts[1].endIndex])
    }

    private static func algorithm(_ header: JSONObject) throws(JOSEError) -> SigningAlgorithm {
        // RFC 7515 §4.1.11: whoever does not understand what it names must refuse. `b64` (RFC 7797) needs it, too.
        guard !header.has("crit") else { throw .criticalExtension }
        // RFC 7519 §5.2: a token within a token; nobody has a use for it here.
        guard !header.has("cty"), let name = header.text("alg") else { throw .malformed }
        guard name.lowercased() != "none" else { throw .unsigned }
        guard !header.has("enc") else { throw .encrypted }
        guard let algorithm = SigningAlgorithm(rawValue: name) else { throw .unknownAlgorithm(name) }
        return algorithm
    }
}
