internal import AuthRefreshInterface
internal import Basics

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
        return switch flow {
        case .device: nil
        case .paste: "Paste the address that the browser ends on (not shown): "
        case .browser, .scheme, nil: "If the browser's last page does not load, paste its address (not shown): "
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
