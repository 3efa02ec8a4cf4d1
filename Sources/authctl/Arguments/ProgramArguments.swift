/// What the program was called with.
enum ProgramArguments {
    /// Without the program's name. What is no UTF-8 is repaired, as `CommandLine.arguments` does it.
    ///
    /// That would be the place to take them from, but it has the Swift runtime make up the type of its array, which takes as
    /// long as a tenth of the whole hot path.
    static var all: [String] {
        let count = max(0, Int(CommandLine.argc) - 1)
        // An array that grows would have it made up, too.
        return unsafe [String](unsafeUninitializedCapacity: count) { place, filled in
            while filled < count, let argument = unsafe CommandLine.unsafeArgv[filled + 1] {
                unsafe place.initializeElement(at: filled, to: String(cString: argument))
                filled += 1
            }
        }
    }
}
