internal import Basics
internal import RefreshCore

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
                text: "The account “\(account)” is signed in. Its tokens are kept fresh from now on.",
                advice: "You can close this window."
            )
        case .policyCompleted:
            self.init(
                .success,
                title: "Done",
                text: "The server has completed what you did there. The account “\(account)” is as it was.",
                advice: "You can close this window."
            )
        case .passwordForgotten(let isResettable):
            self.init(
                .failure,
                title: "The password was not reset",
                text: isResettable
                    ? "The server asked a second time for the password to be reset. \(target.unchanged)"
                    : "The account “\(account)” does not name the policy that resets passwords. It is unchanged.",
                advice: isResettable ? "To try again, type:" : "To name that policy, type:",
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
                advice:
                    "Sign in as “\(owner)”, for example in a private window. To give the account to “\(signedIn)”, type:",
                command: Command("login", account.text, "--replace")
            )
        case .timedOut:
            self.init(
                .failure,
                title: "The sign-in timed out",
                text: "The answer came too late. \(target.unchanged)",
                advice: "To start again, type:",
                command: target.command
            )
        case .cancelled(let canceller):
            let how =
                canceller == .user
                ? "You cancelled it, here or at the server." : "It was stopped before it was complete."
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
            title: "The sign-in continues",
            text:
                "The browser opens the server’s page by itself. The sign-in of the account “\(account)” is under way.",
            advice: "If nothing happens, type:",
            command: Command("login", account.text, "--restart")
        )
        page.location = url
        return page
    }

    /// The page if the browser's response is not the answer to the sign-in of `account`. The sign-in continues.
    init(_ refusal: ResponseFinding, _ account: AccountName) {
        let text =
            switch refusal {
            case .wrongState:
                "The browser brought an answer that belongs to another sign-in, or was forged. The present sign-in continues."
            case .wrongPath:
                "The answer came to the redirect URI of another server. The present sign-in continues."
            case .noAnswer: "The server sent the browser back without an answer. The sign-in continues."
            case .needsWholeAddress: "A code alone is not enough for this server. The sign-in continues."
            case .alreadyAnswered: "This sign-in already has an answer, and takes only one."
            case .notAwaited: "This sign-in does not wait for an answer by a browser."
            }
        self.init(
            .notice,
            title: "This is not the expected answer",
            text: text,
            advice: "Continue in the window where you were signing in to “\(account)”. If you have closed it, type:",
            command: Command("login", account.text, "--restart")
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
                title: "There is no answer yet",
                text: "If the address of this window has a “#”, the server’s answer follows it, and browsers do not "
                    + "send that part. The sign-in of the account “\(account)” continues.",
                advice: "Copy the whole address, and paste it where authctl asks for it, or type:",
                command: Command("callback", "-")
            )
        }
        return RedirectPage(
            .notice,
            title: "There is no answer yet",
            text: "A sign-in of the account “\(account)” is waiting for the server to send you back here.",
            advice: "Continue in the window where you were signing in."
        )
    }

    static let nothingUnderWay = RedirectPage(
        .notice,
        title: "No sign-in is under way",
        text: "It is complete, was cancelled, or timed out. This page changed nothing.",
        advice: "To start one, type:",
        command: Command("login", "ACCOUNT")
    )

    static let unreadable = RedirectPage(
        .failure,
        title: "This is not an answer to a sign-in",
        text: "The answer cannot be read, and was not used. The present sign-in continues.",
        advice: "Continue in the window where you were signing in."
    )
}

/// What the browser shows at the end of a web session.
extension RedirectPage {
    static let webSessionDone = RedirectPage(
        .success,
        title: "Done here",
        text: "The program that opened this page was handed the answer, and tells you the result.",
        advice: "You can close this window."
    )

    static let webSessionOver = RedirectPage(
        .notice,
        title: "Nobody waits for this answer",
        text: "The program that opened this page has ended, or already had an answer. Nothing was handed on.",
        advice: "You can close this window, and start again in that program."
    )
}

extension ErrorResponse {
    /// The server's text on one line.
    fileprivate var words: String {
        description.map { "\(error): \($0)" } ?? error
    }
}

extension SignInFailure.Kind {
    /// Advice before the command that tries again.
    fileprivate var advice: String {
        switch self {
        case .refused: "To try again, type:"
        case .unavailable: "The problem is probably temporary. To try again later, type:"
        case .misconfigured:
            "Correct the settings of the account, here or at the server. Then type:"
        }
    }
}

extension SignInFailure {
    /// The reason, with what the server said.
    fileprivate var sentence: String {
        guard let detail, let error = detail.oauthError else { return reason }
        return "\(reason) (\(detail.oauthErrorDescription.map { "\(error): \($0)" } ?? error))"
    }
}
