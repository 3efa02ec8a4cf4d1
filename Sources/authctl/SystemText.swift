internal import Glibc

/// The system's text for an error number.
func systemText(_ number: Int32) -> String {
    guard let text = unsafe strerror(number) else { return "error \(number)" }
    return unsafe String(cString: text).lowercasedFirst
}

extension String {
    /// The text with a lower-case first letter, for use inside a sentence.
    var lowercasedFirst: String {
        guard let first else { return self }
        return first.lowercased() + dropFirst()
    }
}
