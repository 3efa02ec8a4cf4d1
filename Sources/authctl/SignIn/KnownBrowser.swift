/// A browser whose way to a private window we know.
struct KnownBrowser: Equatable, Sendable {
    /// How it is told what to do.
    enum Family: Sendable {
        case firefox, chromium, edge
    }

    let name: String
    /// A name, or a path.
    private(set) var program: String
    let family: Family

    /// In the order in which they are tried where nothing else decides.
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

    static func installed(in surroundings: Surroundings) -> [KnownBrowser] {
        all.filter { surroundings.program(named: $0.program) != nil }
    }

    /// A private window, which keeps nothing and knows nothing of the others.
    ///
    /// - Parameter profile: a folder for a profile of its own. Without one the window shares its cookies with other private windows
    ///   that are open.
    func privateWindow(profile: String?) -> Browser {
        var words = [program]
        switch family {
        case .firefox:
            // --no-remote: a Firefox that runs already would take the address into its own profile.
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
    /// The browser that a private window is opened with: the one that `BROWSER` names, the desktop's default, or the first
    /// that is installed.
    static func forPrivateWindow(in surroundings: Surroundings) throws(PrivateWindowRefusal) -> KnownBrowser {
        if let program = Browser.named(in: surroundings)?.words.first {
            let name = program.split(separator: "/").last.map(String.init) ?? program
            guard var browser = known(as: name) else { throw .unknownDefault(name: name) }
            browser.program = program
            return browser
        }
        if let name = defaultName(in: surroundings) {
            // Names of desktop entries: firefox-esr.desktop, google-chrome.desktop, of a snap firefox_firefox.desktop.
            let program = name.split(separator: "_").first.map(String.init) ?? name
            guard let browser = known(as: program), surroundings.program(named: program) != nil else {
                throw .unknownDefault(name: name)
            }
            return browser
        }
        guard let browser = installed(in: surroundings).first else {
            throw .noneInstalled(names: ["Firefox", "Chromium", "Chrome", "Brave"])
        }
        return browser
    }

    /// The name of the default browser's desktop entry; nil if the desktop has none.
    private static func defaultName(in surroundings: Surroundings) -> String? {
        guard surroundings.program(named: "xdg-settings") != nil else { return nil }
        let answer = surroundings.run(["xdg-settings", "get", "default-web-browser"])
        guard answer.end == .exited(0) else { return nil }
        let name = answer.text.prefix { $0 != "\n" }.replacing(".desktop", with: "")
        return name.isEmpty ? nil : String(name)
    }
}
