/// What a program wants when the user is asked: `request` of `ServeConfirmations`.
package enum ConfirmationRequest: String, CaseIterable, Sendable {
    case token, export, change, remove, derive
}

/// The user's answer to the question whether a program may have what it wants.
package enum ConfirmationAnswer: String, CaseIterable, Sendable {
    case allowOnce = "allow-once"
    case allowForAnHour = "allow-for-an-hour"
    case deny
}
