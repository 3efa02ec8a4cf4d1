/// What the program was called with.
enum ProgramArguments {
    /// Without the program's name. What is no UTF-8 is repaired, as `CommandLine.arguments` does it.
    ///
    /// That would be the place to take them from, but it has the Swift runtime make up the type of its array, which takes as
    /// long as a tenth of the whole hot path.
    static var all: [String] {
        (1..<max(1, Int(CommandLine.argc))).compactMap { index in
            unsafe CommandLine.unsafeArgv[index].map { unsafe String(cString: $0) }
        }
    }
}
