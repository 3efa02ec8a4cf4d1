/// Why a bench could not be run.
struct BenchError: Error, Equatable, CustomStringConvertible {
    /// What failed, on what, and why: lower case, no full stop. What a program printed may follow on more lines.
    let description: String
    /// What helps; nil if that is unknown.
    let hint: String?

    init(_ description: String, hint: String? = nil) {
        self.description = description
        self.hint = hint
    }

    /// A program of the bench failed.
    static func failed(_ program: String, errors: String = "") -> BenchError {
        BenchError("'\(program)' failed\(errors.isEmpty ? "" : ":\n\(errors)")")
    }

    /// A program of the bench printed something unexpected.
    static func unreadable(_ program: String, output: String) -> BenchError {
        BenchError("'\(program)' printed what cannot be read: '\(output)'")
    }

    /// The daemon or the authorization server failed.
    static func failedToServe(_ reason: String) -> BenchError {
        BenchError("a bench came to no end: \(reason)")
    }

    /// The store of a bench could not be filled.
    static func cannotFillStore(_ reason: String) -> BenchError {
        BenchError("the store cannot be filled: \(reason)")
    }
}
