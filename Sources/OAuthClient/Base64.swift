import FoundationEssentials

/// RFC 4648.
enum Base64 {
    /// §4, for `Authorization: Basic` (RFC 7617).
    static func encode(_ text: String) -> String {
        Data(text.utf8).base64EncodedString()
    }

    /// §5 without padding, as JOSE and PKCE want it.
    static func encodeForURL(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").filter { $0 != "=" }
    }
}
