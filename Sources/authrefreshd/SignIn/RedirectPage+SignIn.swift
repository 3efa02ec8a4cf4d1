internal import RedirectListener
internal import RefreshCore
internal import SignIn

/// The pages that the browser shows.
extension RedirectPage {
    /// The page at the end of a sign-in.
    init(_ end: SignInEnd, _ target: SignInTarget) {
        let account = target.account
        switch end {
        case .completed:
            self.init(
                .success,
                title: "Signed in",
                text: "The account “\(account)” is signed in, and stays so: its tokens are kept fresh from now on.",
                advice: "You can close this window."
            )
        case .policyCompleted:
            self.init(
                .success,
                title: "Done",
                text: "What you did at the server is done. The account “\(account)” is as it was.",
                advice: "You can close this window."
            )
        case .passwordForgotten(let isResettable):
            self.init(
                .failure,
                title: "The password is not reset",
                text: isResettable
                    ? "The server asks again for another password. \(target.unchanged)"
                    : "The account “\(account)” does not say where at this server passwords are reset. It is unchanged.",
                advice: isResettable ? "To try again, type:" : "Name the policy in which they are:",
                command: isResettable ? target.command : SignInEnd.passwordResetCommand(for: target.settled)
            )
        case .denied(let refusal):
            self.init(
                .failure,
                title: "The sign-in was declined",
                text: "The server says “\(refusal.words)”. \(target.unchanged)",
                advice: "To try again, type:",
                command: target.command
            )
        case .otherSubject(let signedIn, let owner):
            self.init(
                .failure,
                title: "That was somebody else",
                text:
                    "You signed in as “\(signedIn)”, but the account “\(account)” belongs to “\(owner)”. Nothing was changed.",
                advice: "Sign in as that person, in a private window perhaps, or give the account to the other one:",
                command: "authctl login \(account) --replace"
            )
        case .timedOut:
            self.init(
                .failure,
                title: "That took too long",
                text: "Nobody waits any more for the answer of this sign-in of the account “\(account)”.",
                advice: "To begin anew, type:",
                command: target.command
            )
        case .cancelled(let canceller):
            let how =
                canceller == .user
                ? "You turned back before it was over, here or at the server." : "It was ended before it was over."
            self.init(
                .notice,
                title: "The sign-in was cancelled",
                text: "\(how) \(target.unchanged)",
                advice: "You can close this window."
            )
        case .failed(let failure):
            self.init(
                .failure,
                title: "The sign-in did not succeed",
                text: "\(target.unchanged) The reason: \(failure.sentence).",
                advice: failure.kind.advice,
                command: target.command
            )
        }
    }

    /// The page that sends the browser on to the server, at `url`, where the sign-in continues.
    static func goingOn(to url: String, _ account: AccountName) -> RedirectPage {
        var page = RedirectPage(
            .notice,
            title: "The sign-in goes on",
            text: "The browser goes on to the server by itself. The sign-in of the account “\(account)” is under way.",
            advice: "If nothing happens, type:",
            command: "authctl login \(account) --restart"
        )
        page.location = url
        return page
    }

    /// The page if the browser's response is not the answer to the sign-in of `account`. The sign-in continues.
    init(_ refusal: ResponseRefusal, _ account: AccountName) {
        let text =
            switch refusal {
            case .wrongState:
                "What the browser brought belongs to another sign-in, or was made up. The one under way goes on."
            case .wrongPath:
                "What the browser brought came back to another server's redirect URI. The sign-in that is under way goes on."
            case .noAnswer: "The server sent the browser back without an answer. The sign-in goes on."
            case .needsWholeAddress: "A code alone is not enough for this server. The sign-in goes on."
            case .alreadyAnswered: "The answer to this sign-in has come before, and counts once."
            case .notAwaited: "This sign-in does not wait for an answer by this browser."
            }
        self.init(
            .notice,
            title: "This is not the answer that is waited for",
            text: text,
            advice: "Go on in the window in which you were signing in to “\(account)”. If there is none, type:",
            command: "authctl login \(account) --restart"
        )
    }

    /// The page for a browser that brings nothing.
    ///
    /// - Parameter mayBeBehindHash: whether a server without form post (OAuth 2.0 Form Post Response Mode) would put
    ///   its answer after the "#", which browsers do not send.
    static func awaited(_ account: AccountName, mayBeBehindHash: Bool) -> RedirectPage {
        guard !mayBeBehindHash else {
            return RedirectPage(
                .notice,
                title: "The answer has not come yet",
                text: "If there is a “#” in the address of this window, the answer of the server is behind it, and the "
                    + "browser keeps that to itself. The sign-in of the account “\(account)” goes on.",
                advice: "Copy the whole address, and paste it where authctl asks for it, or here:",
                command: "authctl callback -"
            )
        }
        return RedirectPage(
            .notice,
            title: "The answer has not come yet",
            text: "A sign-in of the account “\(account)” is under way, and waits for the server to send you back here.",
            advice: "Go on in the window in which you were signing in."
        )
    }

    static let nothingUnderWay = RedirectPage(
        .notice,
        title: "No sign-in is under way",
        text: "It is over, was cancelled, or took too long. Nothing was changed.",
        advice: "To begin one, type:",
        command: "authctl login ACCOUNT"
    )

    static let unreadable = RedirectPage(
        .failure,
        title: "This is no answer to a sign-in",
        text: "What the browser brought cannot be read, and was not used. The sign-in that is under way goes on.",
        advice: "Go on in the window in which you were signing in."
    )
}

extension ServerRefusal {
    /// The server's text on one line.
    fileprivate var words: String {
        description.map { "\(error): \($0)" } ?? error
    }
}

extension SignInFailure {
    /// The reason, with the server's text.
    var sentence: String {
        guard let detail, let error = detail.oauthError else { return reason }
        return "\(reason) (\(detail.oauthErrorDescription.map { "\(error): \($0)" } ?? error))"
    }
}

extension SignInFailure.Kind {
    /// Advice before the command that tries again.
    fileprivate var advice: String {
        switch self {
        case .refused: "To try again, type:"
        case .unavailable: "It will probably pass by itself. To try again later, type:"
        case .misconfigured:
            "That is for the settings of the account, here or at the server. Once they are right, type:"
        }
    }
}
