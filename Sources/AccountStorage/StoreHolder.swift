/// The process that has a store open, as far as it is known.
package struct StoreHolder: Hashable, Sendable {
    /// The process id; nil if it is unknown.
    package let pid: Int32?
    /// The name of its program; nil if it is unknown.
    package let program: String?
    /// The name of its host; nil if the process is no daemon, but a program that has opened the database.
    package let host: String?

    /// Whether another daemon or a restore has the store, and not a program that reads the database for a while.
    package var isDaemon: Bool { host != nil }
}

extension StoreHolder: CustomStringConvertible {
    /// Completes "in use by".
    package var description: String {
        let process = pid.map { "process \($0)" }
        let named = program.map { name in "'\(name)'" + (process.map { " (\($0))" } ?? "") }
        let who = named ?? process ?? "another process"
        return who + (host.flatMap { $0.isEmpty ? nil : " on host '\($0)'" } ?? "")
    }
}
