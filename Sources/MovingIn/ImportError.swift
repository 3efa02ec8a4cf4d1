internal import ClientFiles
package import CommandLineProgram

/// Why accounts could not be read from another program, or taken over.
package struct ImportError: Error, Hashable, Sendable {
    package let status: ExitStatus
    /// What failed, on what, and why. Lower case, no full stop.
    package let message: String
    /// What the user can do; nil if the message says everything.
    package let hint: Hint?

    package init(_ status: ExitStatus, _ message: String, hint: Hint? = nil) {
        self.status = status
        self.message = message
        self.hint = hint
    }
}

extension ImportError {
    /// - Parameters:
    ///   - origin: the file, or the command that printed the bytes.
    ///   - expected: what the bytes should have been.
    package static func wrongFormat(_ origin: String, expected: String) -> ImportError {
        ImportError(.badData, "'\(origin)' cannot be read: expected \(expected)")
    }

    /// - Parameter hint: how a person makes the file readable.
    package static func encrypted(_ origin: String, hint: Hint) -> ImportError {
        ImportError(.badData, "'\(origin)' is encrypted", hint: hint)
    }

    package static func tooLarge(_ origin: String) -> ImportError {
        ImportError(.badData, "'\(origin)' has more than \(ImportLimit.sourceBytesMax) bytes")
    }

    package static func tooManyAccounts(_ origin: String) -> ImportError {
        ImportError(.badData, "'\(origin)' has more than \(ImportLimit.movedAccountsMax) accounts")
    }
}
