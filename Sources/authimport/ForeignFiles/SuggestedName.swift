/// Suggests names for accounts.
enum SuggestedName {
    /// The longest account name, in characters. The first character is not a dot, a dash or a colon.
    private static let lengthMax = 64

    /// The name from another program, with a dash for each character that an account name cannot have.
    ///
    /// - Parameter fallback: the name to use if no character is usable.
    static func from(_ text: String, fallback: String) -> String {
        let characters = text.unicodeScalars.map { isPossible($0) ? Character($0) : "-" }
        let name = String(characters.drop { "-.".contains($0) }.prefix(lengthMax))
        return name.isEmpty ? fallback : name
    }

    private static func isPossible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "@", "+", ".", "-": true
        default: false
        }
    }
}
