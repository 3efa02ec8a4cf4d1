internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

/// Plain words for codes on the wire.
enum Wording {
    /// Why the user is needed. An unknown reason is shown unchanged.
    ///
    /// - Parameter summary: what the daemon says of the server's answer, which is more exact; nil if there was none.
    static func reason(_ reason: String?, summary: String? = nil) -> String {
        if let summary, ["grantEnded", "userRequired"].contains(reason) { return PlainText.line(summary) }
        return switch reason {
        case "grantEnded": "the authorization server says that the grant has ended"
        case "rejectedWithoutReason":
            "the authorization server refuses again and again, and does not say that the grant has ended"
        case "outcomeUnknown":
            "the answer to a refresh was lost, and the server no longer accepts the old refresh token"
        case "userRequired": "the authorization server asks you to sign in"
        case "noRefreshToken": "the server gave no refresh token, so the access token cannot be refreshed"
        case "noIDToken": "it has no ID token that is still valid, and the server sends none with a refresh"
        case "sourceAccount": "the account that its token is derived from needs a sign-in"
        case "otherPerson": "a refresh brought tokens of another person, and they are not handed out"
        case "stepUp": "a server that got the token asks for a stronger sign-in or for more scopes"
        case "scopesLost": "the server no longer gives all scopes that you granted; sign in again to get them back"
        case let other?: PlainText.line(other)
        case nil: "no reason is given"
        }
    }

    /// Why an account is parked.
    static func parked(_ status: AccountStatus) -> String {
        status.reason == "otherMachine" ? "the store came from another machine" : "it was exported to be moved"
    }

    /// Why the expiry of an access token is assumed. An unknown code is shown unchanged.
    static func basis(_ basis: String) -> String {
        switch basis {
        case "notStated": "the server does not say how long its tokens live"
        case "unreadable": "the lifetime that the server states cannot be read"
        default: PlainText.line(basis)
        }
    }

    /// The authorization server's text on one line: `invalid_grant: Token has been revoked. [AADSTS70043]`; nil if
    /// there is none.
    static func serverWords(code: String?, description: String?, finer: [String?]) -> String? {
        let parts = [code, description].compactMap(\.self).filter { !$0.isEmpty }
        let codes = finer.compactMap(\.self).filter { !$0.isEmpty }
        let words = parts.joined(separator: ": ") + (codes.isEmpty ? "" : " [\(codes.joined(separator: ", "))]")
        return words.isEmpty ? nil : PlainText.line(words)
    }

    /// The authorization server's text about a failure, with the HTTP status; nil if it did not answer.
    static func serverWords(_ failure: FailureReport) -> String? {
        let words = serverWords(
            code: failure.oauthError,
            description: failure.oauthErrorDescription,
            finer: [failure.subError, failure.providerCode]
        )
        let status = failure.httpStatus.map { "HTTP \($0)" }
        guard let words else { return status }
        return words + (status.map { " (\($0))" } ?? "")
    }

    /// A reason with the authorization server's text, and since when the server refuses what it accepted before: `there
    /// is no token endpoint at this address (HTTP 404); it worked until 14:02`.
    static func joined(_ reason: String, _ failure: FailureReport?) -> String {
        guard let failure else { return reason }
        let words = serverWords(failure).map { " (\($0))" } ?? ""
        return reason + words + (failure.workedUntilUSec.map { "; it worked until \(LocalTime.now.clock($0))" } ?? "")
    }
}
