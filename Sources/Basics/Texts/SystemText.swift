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

/// Opens standard input, output and error where they are closed. Otherwise a socket or a file would get their number, and
/// be read or written as a standard stream.
///
/// They get `/dev/null`, opened for the wrong direction, so that reading and writing still fail with `EBADF`, as on a
/// closed descriptor. Call it before anything is opened.
package func fillStandardDescriptors() {
    for place in STDIN_FILENO...STDERR_FILENO where fcntl(place, F_GETFD) < 0 {
        // The kernel assigns the lowest free number.
        _ = unsafe open("/dev/null", place == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
}

extension String {
    /// The text with a lower-case first letter, for use inside a sentence.
    package var lowercasedFirst: String {
        guard let first else { return self }
        return first.lowercased() + dropFirst()
    }
}
