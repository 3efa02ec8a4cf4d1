internal import Glibc

internal import CommandLineProgram

/// The kind of secret, for prompts and messages.
enum SecretPurpose: String, Sendable {
    case refreshToken = "refresh token"
    case clientSecret = "client secret"
    case clientKey = "client key"
    case initialAccessToken = "initial access token"
    case document = "document"
    case redirect = "redirected address"
    case page = "page's address"
    case headers = "answer's headers"
}

/// Why a secret could not be read.
enum SecretFileError: Error, Hashable, Sendable {
    /// There is no such file. Its name is not repeated, because it may be the secret itself.
    case noSuchFile(purpose: SecretPurpose)
    case unreadable(purpose: SecretPurpose, errno: Int32)
    case isDirectory(purpose: SecretPurpose)
    case empty(purpose: SecretPurpose)
    case tooLong(purpose: SecretPurpose)
    /// The content has several lines or control characters.
    case notOneLine(purpose: SecretPurpose)
    /// It would have to be typed, but has many lines.
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
            Report(
                status: .usage,
                message: "the file named for the \(purpose.rawValue) is a directory",
                hints: ["name a file, or '-' for standard input"]
            )
        case .empty(let purpose):
            Report(status: .badData, message: "the \(purpose.rawValue) is empty")
        case .tooLong(let purpose):
            Report(
                status: .badData,
                message: "the \(purpose.rawValue) is longer than \(SecretFile.largestSize / 1024) KiB"
            )
        case .notOneLine(.clientKey):
            Report(
                status: .badData,
                message: "the client key is not text",
                hints: ["expected: PEM; to convert DER: openssl pkey -inform DER -in FILE -out key.pem"]
            )
        case .notOneLine(let purpose):
            Report(
                status: .badData,
                message: "the \(purpose.rawValue) is not one line of printable text",
                hints: ["the file must contain only the \(purpose.rawValue)"]
            )
        case .notForTerminal(let purpose):
            Report(
                status: .usage,
                message: "the \(purpose.rawValue) cannot be typed on a terminal",
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
