internal import Basics

/// A browser that we know how to open a private window with.
struct KnownBrowser: Equatable, Sendable {
    /// The kind of command line.
    enum Family: Sendable {
        case firefox, chromium, edge
    }

    let name: String
    /// The program's name or path.
    private(set) var program: String
    let family: Family

    /// All known browsers, in the order in which they are tried by default.
    static let all = [
        KnownBrowser(name: "Firefox", program: "firefox", family: .firefox),
        KnownBrowser(name: "Firefox", program: "firefox-esr", family: .firefox),
        KnownBrowser(name: "LibreWolf", program: "librewolf", family: .firefox),
        KnownBrowser(name: "Chromium", program: "chromium", family: .chromium),
        KnownBrowser(name: "Chromium", program: "chromium-browser", family: .chromium),
        KnownBrowser(name: "Chrome", program: "google-chrome", family: .chromium),
        KnownBrowser(name: "Chrome", program: "google-chrome-stable", family: .chromium),
        KnownBrowser(name: "Brave", program: "brave-browser", family: .chromium),
        KnownBrowser(name: "Brave", program: "brave", family: .chromium),
        KnownBrowser(name: "Vivaldi", program: "vivaldi-stable", family: .chromium),
        KnownBrowser(name: "Edge", program: "microsoft-edge-stable", family: .edge),
        KnownBrowser(name: "Edge", program: "microsoft-edge", family: .edge),
    ]

    static func known(as program: String) -> KnownBrowser? {
        all.first { $0.program == program }
    }

    /// The known browser with this desktop entry: `firefox-esr.desktop`, `google-chrome.desktop`; `firefox_firefox.desktop`
    /// for a snap.
    static func known(asEntry name: String) -> KnownBrowser? {
        let entry = name.hasSuffix(DesktopEntry.suffix) ? name.dropLast(DesktopEntry.suffix.count) : name[...]
        return known(as: entry.split(separator: "_").first.map(String.init) ?? "")
    }

    static func installed(in surroundings: Surroundings) -> [KnownBrowser] {
        all.filter { surroundings.program(named: $0.program) != nil }
    }

    /// A private window, which stores nothing and is separate from other windows.
    ///
    /// - Parameter profile: a folder for a separate profile. Without one, the window shares its cookies with other open
    ///   private windows.
    func privateWindow(profile: String?) -> Browser {
        var words = [program]
        switch family {
        case .firefox:
            // --no-remote: otherwise a running Firefox would open the address in its own profile.
            if let profile { words += ["--no-remote", "--profile", profile] }
            words.append("--private-window")
        case .chromium, .edge:
            if let profile { words += ["--user-data-dir=\(profile)", "--no-first-run", "--no-default-browser-check"] }
            words.append(family == .edge ? "--inprivate" : "--incognito")
        }
        return Browser(name: "a private window of \(name)", words: words, ownProfile: profile)
    }
}

extension KnownBrowser {
    /// The browser for a private window: the one in `BROWSER`, the desktop's default, or the first that is installed.
    static func forPrivateWindow(in surroundings: Surroundings) throws(Report) -> KnownBrowser {
        if let program = Browser.named(in: surroundings)?.words.first {
            let name = program.split(separator: "/").last.map(String.init) ?? program
            guard var browser = known(as: name) else { throw Self.unknown(name) }
            browser.program = program
            return browser
        }
        if let name = defaultName(in: surroundings) {
            return try forPrivateWindow(entry: name, in: surroundings)
        }
        guard let browser = installed(in: surroundings).first else {
            throw .noPrivateWindow(
                "PATH has none of Firefox, Chromium, Chrome, Brave",
                hints: [Report.openPrivateWindow]
            )
        }
        return browser
    }

    /// The browser with this desktop entry.
    static func forPrivateWindow(
        entry name: String,
        in surroundings: Surroundings
    ) throws(Report) -> KnownBrowser {
        guard let browser = known(asEntry: name), surroundings.program(named: browser.program) != nil else {
            throw Self.unknown(name)
        }
        return browser
    }

    /// The person's browser is unknown to us. It is not silently replaced by another one.
    private static func unknown(_ name: String) -> Report {
        .noPrivateWindow(
            "'\(name)' has no private window that authctl knows how to open",
            hints: ["name another browser: --browser firefox", "--no-open shows the address"]
        )
    }

    /// The name of the default browser's desktop entry; nil if the desktop has none.
    private static func defaultName(in surroundings: Surroundings) -> String? {
        guard surroundings.program(named: "xdg-settings") != nil else { return nil }
        let answer = surroundings.run(["xdg-settings", "get", "default-web-browser"])
        guard answer.end == .exited(0) else { return nil }
        let name = answer.text.prefix { $0 != "\n" }.replacing(DesktopEntry.suffix, with: "")
        return name.isEmpty ? nil : String(name)
    }
}
