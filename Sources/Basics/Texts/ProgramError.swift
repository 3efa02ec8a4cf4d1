/// Why one of our programs cannot do its work: what it prints, and its exit status.
///
/// `authctl`, whose failures other commands build on, has a type of its own, `Report`.
package struct ProgramError: Error, Hashable, Sendable, CustomStringConvertible {
    package let status: ExitStatus
    /// What failed, on what, and why. Lower case, no full stop.
    package let message: String
    /// What the person can do; nil if the message says everything.
    package let hint: Hint?

    package init(_ status: ExitStatus, _ message: String, hint: Hint? = nil) {
        self.status = status
        self.message = message
        self.hint = hint
    }

    package var description: String { message }
}
