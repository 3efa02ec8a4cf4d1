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

/// A program as it was seen when it called: what a list of allowed callers is held against after it has ended.
package struct SeenProgram: Hashable, Sendable {
    /// The systemd unit that it ran in; nil if it ran in none.
    package let unit: String?
    /// The path of its executable, free of symbolic links; nil if the daemon could not see it, or found another file there.
    package let executable: String?

    package init(unit: String?, executable: String?) {
        self.unit = unit
        self.executable = executable
    }
}

extension SeenProgram: CustomStringConvertible {
    package var description: String {
        let program = executable.map { "'\($0)'" } ?? "a program that the daemon could not see"
        return unit.map { program + " in the unit '\($0)'" } ?? program
    }
}
