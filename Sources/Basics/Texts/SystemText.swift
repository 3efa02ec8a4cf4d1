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

/// The names of what is in a folder, in no order; empty if it cannot be read.
package func folderNames(_ path: String) -> [String] {
    guard let listing = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(listing) }
    var names: [String] = []
    while let entry = unsafe readdir(listing) {
        let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        if name != ".", name != ".." { names.append(name) }
    }
    return names
}

extension String {
    /// The text with a lower-case first letter, for use inside a sentence.
    package var lowercasedFirst: String {
        guard let first else { return self }
        return first.lowercased() + dropFirst()
    }
}
