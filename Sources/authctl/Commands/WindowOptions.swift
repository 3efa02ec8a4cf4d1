internal import ArgumentParser

/// The options of commands that open a page for the person: the browser, and the kind of window.
struct WindowOptions: ParsableArguments {
    @Flag(
        name: .customLong("private"),
        help: "Open a private window; fail if no browser can. The server asks there who you are."
    )
    var isPrivate = false

    @Flag(help: "Open a private window with a profile of its own, in which nobody is signed in.")
    var temporaryProfile = false

    @Flag(help: "Do not open a browser; show the address. You may be signed in already where you open it.")
    var noOpen = false

    @Option(
        help: .value(
            "program",
            "The browser to open: a program in PATH, or its path. You may be signed in there already."
        )
    )
    var browser: String?

    @Flag(
        help:
            "Open the page only with the desktop's portal, in the browser that it chooses. You may be signed in there already."
    )
    var portal = false

    @Option(help: .value("handle", "The window that the portal's dialog belongs to: x11:XID, wayland:HANDLE."))
    var parentWindow: String?

    func validate() throws {
        guard !noOpen || !(isPrivate || temporaryProfile) else {
            throw ValidationError("'--no-open' cannot be combined with '--private' or '--temporary-profile'")
        }
        guard parentWindow == nil || portal else { throw ValidationError("'--parent-window' needs '--portal'") }
        guard !portal || !(noOpen || isPrivate || temporaryProfile || browser != nil) else {
            throw ValidationError("'--portal' chooses the window, and cannot be combined with other options that do")
        }
        guard !noOpen || browser == nil else {
            throw ValidationError("'--no-open' cannot be combined with '--browser'")
        }
    }

    var kind: WindowChoice.Kind {
        if portal { return .portal(parentWindow: parentWindow) }
        if noOpen { return .none }
        return isPrivate || temporaryProfile ? .privateWindow(hasOwnProfile: temporaryProfile) : .usual
    }
}
