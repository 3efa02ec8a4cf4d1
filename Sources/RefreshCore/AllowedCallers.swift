/// The programs that an account's secrets are for. A caller is one of them if it matches either list.
package struct AllowedCallers: Hashable, Sendable {
    /// Names of systemd units: `mbsync.service`.
    package let units: [String]
    /// Absolute paths of executables.
    package let executables: [String]

    /// Nil if both lists are empty: that would be nobody, and means everybody.
    package init?(units: [String], executables: [String]) {
        guard !units.isEmpty || !executables.isEmpty else { return nil }
        self.units = units
        self.executables = executables
    }
}

extension AllowedCallers: CustomStringConvertible {
    package var description: String {
        (units.map { "the unit '\($0)'" } + executables.map { "'\($0)'" }).joined(separator: ", ")
    }
}
