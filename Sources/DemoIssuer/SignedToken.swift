internal import FoundationEssentials
internal import TextEncodings

/// A signed token (RFC 7515 §3.1) as somebody shows it, with nothing verified.
struct SignedToken {
    let algorithm: String?
    let claims: JSONText
    /// What the signature is about.
    let signed: [UInt8]
    let signature: Data

    /// Reads a token; nil if it has another form.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let head = Self.bytes(parts[0]), let body = Self.bytes(parts[1]),
            let signature = Self.bytes(parts[2]), let header = try? JSONText(Array(head)[...]),
            let claims = try? JSONText(Array(body)[...])
        else { return nil }
        algorithm = header["alg"]?.string
        self.claims = claims
        signed = Array("\(parts[0]).\(parts[1])".utf8)
        self.signature = signature
    }

    /// Decodes base64url (RFC 7515 §2); nil if it is invalid.
    static func bytes(_ text: Substring) -> Data? {
        Base64URL.decode(text.utf8).map { Data($0) }
    }
}
