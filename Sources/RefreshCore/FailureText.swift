/// Makes what a server wrote fit for journals and terminals.
package enum FailureText {
    /// Longest text kept, in characters.
    package static let limit = 200
    /// Only so much of a server's text is looked at.
    private static let readLimit = 8192

    /// `text` without control characters and without `secrets`, cut to `limit` characters; nil if nothing is left.
    package static func clean(_ text: String?, hiding secrets: [Secret] = []) -> String? {
        guard let text else { return nil }
        var bytes = Array(text.utf8.prefix(readLimit))
        for secret in secrets { hide(secret, in: &bytes) }
        // Direction overrides and other invisible characters could make a journal line read as something else.
        let shown = String(decoding: bytes, as: UTF8.self).unicodeScalars.map { scalar -> Character in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: " "
            default: Character(scalar)
            }
        }
        let words = shown.split(separator: " ").map { String($0) }
        let line = words.joined(separator: " ")
        return line.isEmpty ? nil : String(line.prefix(limit))
    }

    /// Replaces each place where `secret` stands in `bytes`.
    ///
    /// Windows of the text are compared as secrets, so that looking for a token does not open it.
    private static func hide(_ secret: Secret, in bytes: inout [UInt8]) {
        guard !secret.isEmpty, secret.count <= bytes.count else { return }
        var start = 0
        while start + secret.count <= bytes.count {
            let window = start..<(start + secret.count)
            if Secret(bytes[window]) == secret {
                bytes.replaceSubrange(window, with: "<redacted>".utf8)
                start += "<redacted>".utf8.count
            } else {
                start += 1
            }
        }
    }
}
