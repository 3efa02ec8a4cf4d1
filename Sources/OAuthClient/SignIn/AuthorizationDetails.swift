extension OAuthClient {
    /// `text` as it is sent in `authorization_details`, without white space; nil if it is no JSON array of objects that each have a
    /// `type` (RFC 9396 §2).
    package static func authorizationDetails(_ text: String) -> String? {
        // Read as the only member of an object: what brings members of its own is no value.
        let wrapped = JSONValue.object(in: Array(#"{"value":\#(text)}"#.utf8))
        guard let wrapped, wrapped.count == 1, case .array(let details)? = wrapped["value"], !details.isEmpty,
            details.allSatisfy({ $0.fields?["type"]?.text?.isEmpty == false })
        else { return nil }
        return String(decoding: JSONValue.array(details).bytes, as: UTF8.self)
    }
}
