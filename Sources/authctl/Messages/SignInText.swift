internal import AuthRefreshInterface
internal import Terminal

/// The text for the person who signs in. It contains no secret.
struct SignInText {
    /// The account in the lines.
    let account: String
    var action = "sign in at"
    let flow: SignInFlow?
    let link: WebLink
    let userCode: String?
    let place: SignInPlace
    /// The browser that will be opened; nil for none.
    let browser: Browser?
    /// Whether an address can be pasted here.
    let takesPaste: Bool

    /// The lines before anything is opened, each with a newline.
    var opening: String {
        "\(account): \(sentence)\n\n  \(link.text)\n\n" + code
    }

    /// The prompt for pasting, without a newline; nil if nothing can be pasted.
    var prompt: String? {
        guard takesPaste else { return nil }
        switch flow {
        case .device: return nil
        case .paste: return Prompt.pasteEnd
        case .browser, .scheme, nil:
            return Prompt.pasteFailedPage
        }
    }

    private var sentence: String {
        if let browser { return "opening \(link.host) in \(browser.name)\(browserEnding)" }
        let why = place.reason.map { " (\($0))" } ?? ""
        return switch flow {
        case .browser, .scheme, nil: "\(action) \(link.host): open this address in a browser on this machine\(why)"
        case .device: "\(action) \(link.host): open this address on any device, and type the code\(why)"
        case .paste: "\(action) \(link.host): open this address in any browser\(why)"
        }
    }

    private var browserEnding: String {
        userCode == nil ? "; if that fails, open this address yourself" : "; type the code there"
    }

    private var code: String {
        userCode.map { "  code: \(PlainText.line($0))\n\n" } ?? ""
    }
}

/// What is told during a sign-in or a web session: whole lines, each with its newline.
enum SignInProgress {
    /// It is shown instead of a prompt.
    static let waitingForPerson = "Waiting for you to sign in; Ctrl-C cancels.\n"
    static let waitingForBrowser = "Waiting for the browser to come back; Ctrl-C cancels.\n"
    static let emptyInput = "Standard input was empty. Pass the address on with: authctl callback URL\n"

    static func waitingForServer(_ account: String) -> String {
        "\(account): waiting for its authorization server; Ctrl-C cancels\n"
    }

    /// A server has asked for more than the account has. Whoever starts the sign-in may not know that.
    static func demandedScopes(_ scopes: [String], of account: String) -> String {
        "\(account): this sign-in also asks for scopes that a server has demanded: \(scopes.joined(separator: " "))\n"
            + "  to sign in without them: Ctrl-C, then authctl refresh \(account)\n"
    }

    /// The reminder if nothing has come back after half a minute.
    ///
    /// - Parameter redirectURI: where the answer arrives; nil if there is no such address.
    static func nothingYet(redirectURI: String?) -> String {
        let uri = redirectURI.map { " '\(PlainText.line($0))'" } ?? ""
        return """
            Nothing has come back yet. If the page shows an error, this may help:
              unknown client      compare the client id with 'authctl account show'
              redirect URI        register\(uri) with the client
            Ctrl-C ends the sign-in.

            """
    }

    static func answered(_ account: String) -> String { "\(account): the answer has arrived; fetching the tokens\n" }

    /// - Parameter policy: the policy in which the password is reset; nil: the server did not name it.
    static func resetPlace(policy: String?) -> String {
        "to the page that resets the password" + (policy.map { " (the policy '\(PlainText.line($0))')" } ?? "")
    }

    static let signInAgainPlace = "back to the sign-in: the password is reset"

    /// The browser that brought the answer is sent on.
    static func goesOn(_ account: String, _ place: String) -> String { "\(account): the browser goes \(place)\n" }

    /// An address is opened here to go on.
    static func goOn(_ account: String, _ place: String, _ link: WebLink, in browser: Browser?) -> String {
        let how = browser.map { "opening \(link.host) in \($0.name), to go" } ?? "open this address to go"
        return "\(account): \(how) \(place)\n\n  \(link.text)\n\n"
    }

    static func policyCompleted(_ policy: String, _ account: String) -> String {
        "\(account): the policy '\(policy)' is done; the account has not changed\n"
    }

    static func openingSessionEnd(_ account: String, _ link: WebLink, _ browser: Browser) -> String {
        "\(account): opening \(link.host) in \(browser.name), to end the session\n"
    }

    static func endSession(_ account: String, _ link: WebLink, _ place: SignInPlace) -> String {
        let why = place.reason.map { " (\($0))" } ?? ""
        return "\(account): to end the session at \(link.host), open this address\(why)\n\n  \(link.text)\n"
    }

    /// What to put into programs, so that they ask for the tokens of `account`.
    ///
    /// - Parameter mailbox: the address of the person who signed in, if the server says it. Only a plain one is shown:
    ///   the lines are copied into files whose quotes and backticks mean something, and neomutt runs what is in them.
    static func programs(for account: String, mailbox: String?) -> String {
        let mailbox = mailbox.flatMap { $0.wholeMatch(of: /[A-Za-z0-9._+-]+@[A-Za-z0-9.-]+/) == nil ? nil : $0 }
        // The keys for the user's name, each on a line of its own.
        func user(_ key: String, _ quote: String = "") -> String {
            mailbox.map { "\n           \(key)\(quote)\($0)\(quote)" } ?? ""
        }
        return """

            '\(account)' is ready. Programs get its token by:
              mbsync   AuthMechs XOAUTH2
                       PassCmd "authctl token \(account)"\(user("User "))
              msmtp    auth oauthbearer
                       passwordeval authctl token \(account)\(user("user "))
              neomutt  set imap_oauth_refresh_command = "authctl token \(account)"\(user("set imap_user = ", "\""))
              git      git config --global credential.helper authctl
                       authctl account edit \(account) --url https://HOST/
              curl     authctl token \(account) --format header | curl -H @- URL
              shell    token=$(authctl token \(account))

            """
    }
}

/// Why a page was not opened.
enum PageTrouble {
    static let noPort = "no loopback port is free"
    static let browserNotOpened = "the browser was not opened"
    static let dialogClosed = "the desktop's dialog was closed"

    static func cannotStart(_ browser: String) -> String { "\(browser) cannot be started" }

    static func notOpened(_ browser: String) -> String { "\(browser) was not opened" }

    static func notAskedFor(_ browser: String) -> String { "\(browser) did not open the page" }
}

extension SignInPlace {
    /// Why no browser is opened; nil if one is.
    var reason: String? {
        switch self {
        case .desktop: nil
        case .remote: "this is a session over SSH"
        case .noDisplay: "there is no display here"
        }
    }
}

extension SignInPlan {
    /// The hint if the account's browser is missing.
    var browserHint: String {
        let account = PlainText.line(parameters.account)
        return "for this time: --browser PROGRAM; for good: authctl account edit \(account) --login-browser NAME"
    }
}
