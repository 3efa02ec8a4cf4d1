/// Why the configuration cannot be used.
enum ConfigurationError: Error, Equatable {
    case unreadable(path: String, reason: String)
    /// The text is not YAML, or has an unknown key, a wrong type or an impossible value at this place.
    case invalid(path: String, line: Int, key: String, reason: String)
    /// Two profiles of one name in the same folder.
    case duplicateProfile(name: String, path: String)
}

extension ConfigurationError: CustomStringConvertible {
    var description: String {
        switch self {
        case .unreadable(let path, let reason): "'\(path)' cannot be read: \(reason)"
        case .invalid(let path, let line, "", let reason): "'\(path)', line \(line): \(reason)"
        case .invalid(let path, let line, let key, let reason): "'\(path)', line \(line), key '\(key)': \(reason)"
        case .duplicateProfile(let name, let path):
            "'\(path)': another file of this folder has a profile named '\(name)' too"
        }
    }
}
