internal import OAuthClient
internal import Yams

/// What an account says instead of its provider's profile: keys of a profile's file, with their values as they stand there.
enum ProviderSettings {
    /// Keys that are no account's to say: they are about the profile itself, or accounts have a setting of their own for it.
    static let excluded: Set = ["name", "issuer", "variables", "documentation", "client_id_hint"]

    /// The profile that the file's `text` makes with `settings` in it; the same reader reads both.
    ///
    /// - Throws: the first of the settings that cannot be used.
    static func profile(
        _ settings: [String: String],
        over text: String
    ) throws(ProviderSettingFault) -> ProviderProfile {
        guard let root = try? Yams.compose(yaml: text), var mapping = root.mapping else {
            preconditionFailure("the text of a profile was read before, and is a mapping")
        }
        for (key, value) in settings.sorted(by: { $0.key < $1.key }) {
            guard !excluded.contains(key) else {
                throw ProviderSettingFault(key: key, reason: "\"\(key)\" is not said by accounts")
            }
            mapping[key] = value.isEmpty ? nil : try node(value, for: key)
        }
        do {
            return try YAMLDecoder().decode(ProviderProfile.self, from: Node.mapping(mapping))
        } catch {
            let place = (error as? DecodingError)?.place
            let key = place?.path.first?.stringValue ?? ""
            throw ProviderSettingFault(key: key, reason: place?.reason ?? "cannot be used")
        }
    }

    private static let unfit =
        "has brackets that do not close or are too deep, or texts with & * ! # ? ' \" in them and no quotes around them"

    /// A text stands for itself, whatever YAML would make of its characters: a comma is a comma. Lists and mappings have brackets.
    private static func node(_ value: String, for key: String) throws(ProviderSettingFault) -> Node {
        guard value.first == "[" || value.first == "{" else { return Node(value, Tag(.str)) }
        guard PlainFlowText.isPlain(value) else {
            throw ProviderSettingFault(key: key, reason: "\"\(key)\" \(unfit)")
        }
        guard let node = try? Yams.compose(yaml: value) else {
            throw ProviderSettingFault(key: key, reason: "\"\(key)\" has brackets, and is neither a list nor a mapping")
        }
        return node
    }
}

/// Why an account cannot say so instead of its provider's profile.
struct ProviderSettingFault: Error, Hashable {
    /// The profile's key; empty if it is not one alone.
    let key: String
    /// What is wrong, as of a profile's file.
    let reason: String
}
