extension Unicode.Scalar {
    /// Whether the scalar controls the display instead of being shown: it moves a cursor, ends a line, or changes the
    /// direction of the text around it (U+202E, U+061C). With such scalars, a stranger's text could look like something
    /// else.
    package var isSteering: Bool {
        // ASCII is decided without Unicode's tables.
        guard value >= 0x7F else { return value < 0x20 }
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return true
        default: return properties.isBidiControl
        }
    }
}

extension String {
    /// The text with `replacement` instead of every control scalar (`Unicode.Scalar.isSteering`).
    package func replacingSteering(with replacement: Unicode.Scalar) -> String {
        guard unicodeScalars.contains(where: \.isSteering) else { return self }
        var scalars = UnicodeScalarView()
        for scalar in unicodeScalars { scalars.append(scalar.isSteering ? replacement : scalar) }
        return String(scalars)
    }
}
