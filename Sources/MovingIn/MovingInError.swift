/// Why accounts could not be read from another program.
package enum MovingInError: Error, Hashable, Sendable {
    /// The bytes do not have this program's format.
    case wrongFormat(origin: String, expected: ExpectedFormat)
    /// The bytes are encrypted.
    case encrypted(origin: String, hint: DecryptionHint)
    /// The file or the answer has more than `bytesMax` bytes.
    case tooLarge(origin: String, bytesMax: Int)
    /// The file has more than `accountsMax` accounts.
    case tooManyAccounts(origin: String, accountsMax: Int)
    case unreadable(origin: String, errno: Int32)
    /// A program that is needed to read the accounts is not installed.
    case programMissing(origin: String, program: String)
    /// The program exited with a status other than 0.
    case programFailed(origin: String, program: String, status: Int32)
    /// The program did not end in time and was stopped.
    case programTimedOut(origin: String, program: String, seconds: Int)
}
