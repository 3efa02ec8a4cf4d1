/// A secret on its way to the daemon or to a file. It always prints as `<redacted>`.
struct SecretText: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable, Sendable {
    private let text: String

    init(_ text: String) {
        self.text = text
    }

    /// The secret itself, for a call's parameters or for a file with mode 0600.
    func reveal() -> String { text }

    var description: String { "<redacted>" }
    var debugDescription: String { "<redacted>" }
    var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
