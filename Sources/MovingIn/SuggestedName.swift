/// Makes names for accounts.
package enum SuggestedName {
    /// The characters of an account's name, 64 at most; the first is no dot, dash or colon.
    private static let lengthMax = 64

    /// The name as another program has it, with a dash for what an account's name cannot have.
    ///
    /// - Parameter fallback: a name for what has nothing usable in it.
    package static func from(_ text: String, fallback: String) -> String {
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
