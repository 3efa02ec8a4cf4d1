/// The name under which people can call `authctl`, for texts with commands.
///
/// Ubuntu's authd also has an `authctl`. If the shell finds that one, "run 'authctl login work'" would be wrong advice.
package struct InvokedAs: Hashable, Sendable {
    package static let usual = InvokedAs(name: "authctl")
    /// A second name that no other project uses; `systemd/files.bash` creates the link.
    package static let unmistakable = InvokedAs(name: "authrefreshctl")

    package let name: String

    package init(name: String) {
        self.name = name
    }
}

extension InvokedAs: CustomStringConvertible {
    package var description: String { name }
}
