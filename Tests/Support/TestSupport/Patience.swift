extension Duration {
    /// The limit of waits for events. It only ends a hang: on the busiest machine, what is awaited comes earlier.
    package static let patience = Duration.seconds(120)

    /// Whole milliseconds, for poll(2) and calls.
    var milliseconds: Int32 {
        Int32(components.seconds) * 1000 + Int32(components.attoseconds / 1_000_000_000_000_000)
    }
}
