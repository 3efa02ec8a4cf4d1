/// What a person brings back from a browser by hand, or a desktop by a URI scheme: the address that the browser was sent to,
/// `code#state` as some pages show it, the parameters alone, or the code alone.
package enum PastedRedirect {
    /// Reads `text`. White space in it is dropped: terminals and mails break long lines, and no address has any.
    package static func read(_ text: String) throws(PastedRedirectError) -> AuthorizationResponse {
        let bytes = text.utf8.filter { !($0 == 0x20 || (0x09...0x0d).contains($0)) }
        guard !bytes.isEmpty else { throw .empty }
        guard bytes.count <= AuthorizationResponse.bytesMax else { throw .response(.tooLong) }
        let parts = bytes.split(separator: UInt8(ascii: "#"), maxSplits: 1, omittingEmptySubsequences: false)
        let (address, fragment) = (parts[0], parts.count > 1 ? parts[1] : [])
        if isAddress(address) {
            let query = address.firstIndex(of: UInt8(ascii: "?")).map { address[$0...].dropFirst() } ?? []
            // Servers put errors, and some of them everything, behind the "#" (`response_mode=fragment`).
            return try response(query.isEmpty ? fragment : query)
        }
        if address.contains(UInt8(ascii: "=")), address.contains(UInt8(ascii: "&")) || hasName(address) {
            return try response(address)
        }
        return AuthorizationResponse(
            code: String(decoding: address, as: UTF8.self),
            state: parts.count > 1 ? String(decoding: fragment, as: UTF8.self) : nil
        )
    }

    private static func response(_ form: ArraySlice<UInt8>) throws(PastedRedirectError) -> AuthorizationResponse {
        do throws(AuthorizationResponseError) {
            return try AuthorizationResponse(form: form)
        } catch {
            throw .response(error)
        }
    }

    /// Whether it begins with a URI scheme, or has a query. Codes may have a colon or a slash in them (Google's), but no `:/`.
    private static func isAddress(_ text: ArraySlice<UInt8>) -> Bool {
        if text.contains(UInt8(ascii: "?")) { return true }
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { return false }
        return text[colon...].dropFirst().first == UInt8(ascii: "/")
    }

    /// Whether it begins with the name of a parameter that only an answer has. Codes may end in "=".
    private static func hasName(_ text: ArraySlice<UInt8>) -> Bool {
        ["code=", "error=", "state="].contains { text.starts(with: $0.utf8) }
    }
}

/// Why what was brought cannot be read.
package enum PastedRedirectError: Error, Hashable, Sendable {
    case empty
    case response(AuthorizationResponseError)
}
