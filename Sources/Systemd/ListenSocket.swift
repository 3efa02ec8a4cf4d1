/// A listening Unix stream socket that the service manager opened for us; close-on-exec is set.
package struct ListenSocket: Hashable, Sendable {
    /// The descriptor; the receiver owns it from now on.
    package let descriptor: Int32
    /// `FileDescriptorName=` of the socket unit, "unknown" where a manager gave none.
    package let name: String
}
