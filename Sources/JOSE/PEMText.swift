import FoundationEssentials

/// The blocks of a PEM file (RFC 7468), by label; text between them is skipped.
struct PEMText {
    private let text: String

    init(_ text: String) {
        self.text = text
    }

    /// Whether a private key in it needs a passphrase: PKCS #8's own form, or OpenSSL's old header (RFC 1421).
    var isEncrypted: Bool {
        text.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----") || text.contains("Proc-Type: 4,ENCRYPTED")
    }

    /// The first block of a private key, boundaries included, in lines of 64 characters: the library takes no others, and some tools
    /// write all in one line. `openssl ecparam -genkey` writes a block of parameters before it.
    var privateKey: String? {
        block { $0.hasSuffix("PRIVATE KEY") }.map { block in
            var lines: [Substring] = []
            var rest = block.body.filter { !$0.isWhitespace }[...]
            while !rest.isEmpty {
                lines.append(rest.prefix(64))
                rest = rest.dropFirst(64)
            }
            return "-----BEGIN \(block.label)-----\n" + lines.joined(separator: "\n")
                + "\n-----END \(block.label)-----\n"
        }
    }

    /// The first certificate, in DER.
    var certificate: [UInt8]? {
        block { $0 == "CERTIFICATE" }.flatMap { Data(base64Encoded: $0.body, options: .ignoreUnknownCharacters) }
            .map(Array.init)
    }

    private func block(_ isWanted: (Substring) -> Bool) -> (label: Substring, body: String)? {
        var label: Substring?
        var body = ""
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("-----BEGIN "), line.hasSuffix("-----") {
                let found = line.dropFirst(11).dropLast(5)
                label = isWanted(found) ? found : nil
            } else if let label, line.hasPrefix("-----END ") {
                return (label, body)
            } else if label != nil {
                body += line + "\n"
            }
        }
        return nil
    }
}
