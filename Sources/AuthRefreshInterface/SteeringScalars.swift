extension Unicode.Scalar {
    /// Whether it does something where text is shown, instead of being shown: it moves a cursor, ends a line, or turns the direction in
    /// which the text around it is read (U+202E, U+061C), so that strangers' text would pass for something else.
    package var isSteering: Bool {
        // All of ASCII is decided without a look at Unicode's tables.
        guard value >= 0x7F else { return value < 0x20 }
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return true
        default: return properties.isBidiControl
        }
    }
}

extension String {
    /// The text with `replacement` in place of every scalar that steers (`Unicode.Scalar.isSteering`).
    package func replacingSteering(with replacement: Unicode.Scalar) -> String {
        guard unicodeScalars.contains(where: \.isSteering) else { return self }
        var scalars = UnicodeScalarView()
        for scalar in unicodeScalars { scalars.append(scalar.isSteering ? replacement : scalar) }
        return String(scalars)
    }
}
