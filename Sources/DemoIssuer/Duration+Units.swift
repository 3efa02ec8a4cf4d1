extension Duration {
    /// Whole seconds, rounded towards zero.
    var wholeSeconds: Int { Int(components.seconds) }

    /// Whole microseconds, rounded towards zero.
    var wholeMicroseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
