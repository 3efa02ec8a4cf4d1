/// A secret on its way to the daemon or to a file. It always prints as `<redacted>`.
package struct SecretText: Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable, Sendable
{
    private let text: String

    package init(_ text: String) {
        self.text = text
    }

    /// The secret itself, for a call's parameters or for a file with mode 0600.
    package func reveal() -> String { text }

    package var description: String { "<redacted>" }
    package var debugDescription: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
