internal import Glibc

/// The system's text for an error number, in lower case as in all messages.
package func systemText(_ number: Int32) -> String {
    guard let text = unsafe strerror(number) else { return "error \(number)" }
    return unsafe String(cString: text).lowercasedFirst
}

/// The value of an environment variable; nil if it is not set or is empty.
package func environmentValue(_ name: String) -> String? {
    guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
    return unsafe String(cString: value)
}

extension String {
    /// The text with a lower-case first letter, for use inside a sentence.
    package var lowercasedFirst: String {
        guard let first else { return self }
        return first.lowercased() + dropFirst()
    }
}
