internal import AuthRefreshInterface
internal import Basics

/// Why accounts cannot be read from another program.
extension ProgramError {
    /// - Parameters:
    ///   - origin: the file, or the command that printed the bytes.
    ///   - expected: what the bytes should have been.
    static func wrongFormat(_ origin: String, expected: String) -> ProgramError {
        ProgramError(.badData, "'\(origin)' cannot be read: expected \(expected)")
    }

    /// - Parameter hint: how a person makes the file readable.
    static func encrypted(_ origin: String, hint: Hint) -> ProgramError {
        ProgramError(.badData, "'\(origin)' is encrypted", hint: hint)
    }

    static func tooLarge(_ origin: String) -> ProgramError {
        ProgramError(.badData, "'\(origin)' has more than \(ImportLimit.sourceBytesMax) bytes")
    }

    static func tooManyAccounts(_ origin: String) -> ProgramError {
        ProgramError(.badData, "'\(origin)' has more than \(ImportLimit.movedAccountsMax) accounts")
    }
}
