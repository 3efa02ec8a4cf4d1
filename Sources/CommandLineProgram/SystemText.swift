internal import Glibc

/// The system's words for an error number, in lower case as messages have them.
package func systemText(_ number: Int32) -> String {
    guard let text = unsafe strerror(number) else { return "error \(number)" }
    return unsafe String(cString: text).lowercasedFirst
}

/// The value of an environment variable; nil if it is not set, or empty.
package func environmentValue(_ name: String) -> String? {
    guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
    return unsafe String(cString: value)
}

extension String {
    /// The same text with a small first letter, for use within a sentence.
    package var lowercasedFirst: String {
        guard let first else { return self }
        return first.lowercased() + dropFirst()
    }
}
