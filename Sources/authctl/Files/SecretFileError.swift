internal import Glibc

/// Why a secret could not be read.
enum SecretFileError: Error, Hashable, Sendable {
    /// The name is not repeated: it may be the secret itself.
    case noSuchFile(purpose: SecretPurpose)
    case unreadable(purpose: SecretPurpose, errno: Int32)
    case isDirectory(purpose: SecretPurpose)
    case empty(purpose: SecretPurpose)
    case tooLong(purpose: SecretPurpose)
    /// It holds several lines or control characters.
    case notOneLine(purpose: SecretPurpose)
    /// It would have to be typed, and it has many lines.
    case notForTerminal(purpose: SecretPurpose)
    /// There is no terminal to ask on.
    case noTerminal(purpose: SecretPurpose)
}

extension SecretFileError {
    /// The exit status and the lines for the user.
    var report: Report {
        switch self {
        case .noSuchFile(let purpose):
            Report(
                status: .usage,
                message: "the file named for the \(purpose.rawValue) does not exist",
                hints: ["name a file, or '-' for standard input; never type the secret itself"]
            )
        case .unreadable(let purpose, let number):
            Report(
                status: number == EACCES ? .notPermitted : .badData,
                message: "cannot read the file with the \(purpose.rawValue): \(systemText(number))"
            )
        case .isDirectory(let purpose):
            Report(status: .usage, message: "the file named for the \(purpose.rawValue) is a directory")
        case .empty(let purpose):
            Report(status: .badData, message: "the \(purpose.rawValue) is empty")
        case .tooLong(let purpose):
            Report(
                status: .badData,
                message: "the \(purpose.rawValue) is longer than \(SecretFile.largestSize / 1024) KiB"
            )
        case .notOneLine(let purpose):
            Report(
                status: .badData,
                message: "the \(purpose.rawValue) is not one line of printable text",
                hints: ["the file must hold the \(purpose.rawValue) and nothing else"]
            )
        case .notForTerminal(let purpose):
            Report(
                status: .usage,
                message: "a \(purpose.rawValue) cannot be typed on a terminal",
                hints: ["name a file"]
            )
        case .noTerminal(let purpose):
            Report(
                status: .usage,
                message: "there is no terminal to ask for the \(purpose.rawValue)",
                hints: ["name a file, or give it on standard input"]
            )
        }
    }
}
