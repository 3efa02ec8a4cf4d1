/// Why the demo issuer, or a show with it, could not do what was requested.
package struct DemoError: Error, Equatable, CustomStringConvertible {
    package enum Cause: Equatable, Sendable {
        /// The issuer, or the machine.
        case surroundings
        /// The daemon, whose log helps to understand the error.
        case daemon
        /// A signal ended the show early.
        case signal(Int32)
    }

    /// What failed, on what, and why: lower case, no full stop.
    package let description: String
    package let cause: Cause

    package init(_ description: String, _ cause: Cause = .surroundings) {
        self.description = description
        self.cause = cause
    }
}
