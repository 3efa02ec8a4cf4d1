internal import Glibc

/// A way to show an address in a browser.
struct Browser: Equatable, Sendable {
    /// As it is called in messages: `Firefox`; `the browser` if the desktop chooses it.
    let name: String
    /// The program and its arguments; the address is put in place of each `%s`, or at the end.
    let words: [String]
    /// The profile that this browser alone uses. Its process is then the window: it ends when the window is closed. Nil: the browser may
    /// be one that runs already.
    var ownProfile: String?
    /// Whether this is the desktop's portal. The address goes to its standard input, and its exit status says whether it was opened.
    var isPortal = false

    /// The portal, by the agent's program beside this one; nil if there is no session bus to ask.
    static func portal(in surroundings: Surroundings, parentWindow: String? = nil) -> Browser? {
        let own = surroundings.program
        let agent = String(own[..<(own.lastIndex(of: "/") ?? own.startIndex)]) + "/authagent"
        guard surroundings.environment("DBUS_SESSION_BUS_ADDRESS") != nil, surroundings.program(named: agent) != nil
        else { return nil }
        let words = [agent, "--open"] + (parentWindow.map { [$0] } ?? [])
        return Browser(name: "the browser", words: words, isPortal: true)
    }

    /// The words that show `link`, none of which a shell ever sees.
    func command(for link: WebLink) -> [String] {
        guard !isPortal else { return words }
        let hasPlace = words.contains { $0.contains("%s") }
        return words.map { $0.replacing("%s", with: link.text) } + (hasPlace ? [] : [link.text])
    }

    /// The one that the user's variable names, the desktop's own, or any that there is; nil if there is none.
    static func usual(in surroundings: Surroundings) -> Browser? {
        if let browser = named(in: surroundings) { return browser }
        // Debian's x-www-browser is what the administrator chose; the others are guesses.
        for program in ["xdg-open", "x-www-browser"] where surroundings.program(named: program) != nil {
            return Browser(name: "the browser", words: [program])
        }
        return KnownBrowser.installed(in: surroundings).first.map { Browser(name: $0.name, words: [$0.program]) }
    }

    /// The first of `BROWSER` that is there: commands parted by colons, as xdg-open takes them; nil if it names none.
    ///
    /// Browsers that need the terminal are passed over: it is in use.
    static func named(in surroundings: Surroundings) -> Browser? {
        let commands = surroundings.environment("BROWSER")?.split(separator: ":") ?? []
        for command in commands {
            let words = command.split(separator: " ").map(String.init)
            guard let program = words.first, surroundings.program(named: program) != nil else { continue }
            let name = program.split(separator: "/").last.map(String.init) ?? program
            guard !textBrowsers.contains(name) else { continue }
            return Browser(name: KnownBrowser.known(as: name)?.name ?? "'\(name)'", words: words)
        }
        return nil
    }

    private static let textBrowsers: Set<String> = ["elinks", "links", "links2", "lynx", "w3m", "www-browser"]
}

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

/// Why there is no private window to be had; nothing is opened then, for another window would not be what was asked for.
enum PrivateWindowRefusal: Error, Hashable, Sendable {
    /// `names` are those that could.
    case noneInstalled(names: [String])
    /// The user's own browser is one that we cannot tell to. It is not passed over in silence.
    case unknownDefault(name: String)
    case noPlaceForProfile
    case noDisplay
}

extension PrivateWindowRefusal {
    /// The exit status and the lines for the user.
    var report: Report {
        let reason =
            switch self {
            case .noneInstalled(let names): "none of \(names.joined(separator: ", ")) is in PATH"
            case .unknownDefault(let name): "'\(name)' has no private window that authctl knows how to open"
            case .noPlaceForProfile: "XDG_RUNTIME_DIR names no folder for its profile"
            case .noDisplay: "there is no display here"
            }
        return Report(
            status: .usage,
            message: "no private window was opened, and no other: \(reason)",
            hints: hints
        )
    }

    private var hints: [String] {
        switch self {
        case .noneInstalled, .noDisplay: ["--no-open shows the address, for a private window of your own"]
        case .unknownDefault: ["BROWSER=firefox names another browser", "--no-open shows the address"]
        case .noPlaceForProfile: ["--private alone needs none"]
        }
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

/// A program that is started and left to itself: it outlives this one, and has neither its terminal nor its signals.
struct DetachedProgram {
    /// POSIX_SPAWN_SETSID of spawn.h, which Swift sees only with _GNU_SOURCE.
    private static let newSession: Int16 = 0x80

    let pid: pid_t

    /// Starts a program of `PATH`, without a shell.
    ///
    /// - Returns: nil if it cannot be started.
    ///
    /// - Parameter input: what it reads, shorter than a socket's buffer (208 KiB, socket(7)); nil: nothing.
    init?(_ words: [String], input: String? = nil) {
        var ends: [Int32] = [-1, -1]
        if let input {
            // Close-on-exec in one step, which Swift sees of no pipe.
            let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
            guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
            let bytes = Array("\(input)\n".utf8)
            _ = unsafe write(ends[1], bytes, bytes.count)
        }
        defer { for end in ends where end >= 0 { close(end) } }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        // What a browser complains about is not for this terminal.
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            unsafe posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        if ends[0] >= 0 { unsafe posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO) }
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // A session of its own: Ctrl-C and the end of the terminal are not meant for it. Signals as they are without us.
        var none = sigset_t()
        var all = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        let flags = Self.newSession | Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF)
        unsafe posix_spawnattr_setflags(&attributes, flags)

        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        var child: pid_t = 0
        guard unsafe posix_spawnp(&child, words[0], &actions, &attributes, &arguments, environ) == 0 else { return nil }
        pid = child
    }

    /// How it has ended; nil while it runs.
    func takeEnd() -> CommandOutput.End? {
        var status: Int32 = 0
        guard unsafe waitpid(pid, &status, WNOHANG) == pid else { return nil }
        return .exited(status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F)
    }
}
