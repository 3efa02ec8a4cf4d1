extension Person {
    /// The name that identifies the person best; nil if there is none.
    package var best: String? { email ?? username ?? name }

    /// The person's mail address, also if the server tells it only as the name to sign in with (Entra).
    package var mailbox: String? { email ?? username.flatMap { $0.utf8.contains(UInt8(ascii: "@")) ? $0 : nil } }
}
