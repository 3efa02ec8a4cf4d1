internal import AuthRefreshInterface

/// What the person is told who is to sign in; nothing of it is secret.
struct SignInText {
    let account: String
    let flow: SignInFlow?
    let link: WebLink
    let userCode: String?
    let place: SignInPlace
    /// What is about to be opened; nil: nothing.
    let browser: Browser?
    /// Whether an address can be pasted here.
    let takesPaste: Bool

    /// The lines before anything is opened, each with its newline.
    var opening: String {
        "\(account): \(sentence)\n\n  \(link.text)\n\n" + code
    }

    /// What stands there instead of a prompt.
    static let waiting = "Waiting for you to sign in; Ctrl-C cancels.\n"

    /// What asks for the paste, without a newline; nil if nothing can be pasted.
    var prompt: String? {
        guard takesPaste else { return nil }
        switch flow {
        case .device: return nil
        case .paste: return "Paste the address here that the browser ends on (it is not shown): "
        case .browser, .scheme, nil:
            return "If the browser ends on a page that it cannot load, paste its address here (it is not shown): "
        }
    }

    private var sentence: String {
        if let browser { return "opening \(link.host) in \(browser.name)\(browserEnding)" }
        let why = place.reason.map { " (\($0))" } ?? ""
        return switch flow {
        case .browser, .scheme, nil: "sign in at \(link.host): open this address in a browser of this machine\(why)"
        case .device: "sign in at \(link.host): open this address on any device, and type the code\(why)"
        case .paste: "sign in at \(link.host): open this address in any browser\(why)"
        }
    }

    private var browserEnding: String {
        userCode == nil ? "; if that fails, open this address yourself" : ", where the code is to be typed"
    }

    private var code: String {
        userCode.map { "  code: \(PlainText.line($0))\n\n" } ?? ""
    }
}
