internal import Glibc

/// What characters the user's locale has, as far as it matters here.
enum Charset: Sendable {
    case utf8
    /// Only ASCII is safe.
    case ascii

    static let current = Charset(environment: environmentValue)

    /// - Parameter environment: looks up a variable; nil if it is not set, or empty.
    init(environment: (String) -> String?) {
        // locale(7): the first that is set decides. None set is a service or a container, whose readers take UTF-8.
        guard let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environment).first else {
            self = .utf8
            return
        }
        let name = locale.lowercased()
        self = name.contains("utf-8") || name.contains("utf8") ? .utf8 : .ascii
    }

    /// What stands for text that was cut off.
    var ellipsis: String {
        switch self {
        case .utf8: "…"
        case .ascii: "..."
        }
    }

    /// The text as the locale can show it; what it lacks becomes "?".
    func rendered(_ text: String) -> String {
        switch self {
        case .utf8: return text
        case .ascii:
            guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
            return text.reduce(into: "") { $0 += $1.isASCII ? String($1) : $1 == "…" ? ellipsis : "?" }
        }
    }

    private static func environmentValue(_ name: String) -> String? {
        guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
        return unsafe String(cString: value)
    }
}
