import FoundationEssentials

/// RFC 4648 §4, for `Authorization: Basic` (RFC 7617).
enum Base64 {
    static func encode(_ text: String) -> String {
        Data(text.utf8).base64EncodedString()
    }
}
