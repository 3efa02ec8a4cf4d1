import AuthRefreshInterface
import Basics
import Foundation
import Testing

@testable import authctl

/// Which browser is started, and with which arguments.
@Suite struct BrowserTests {
    private static let link = "https://login.example.org/authorize?client_id=a&state=b"

    /// A machine with these programs in `/usr/bin`.
    private func machine(
        _ programs: [String],
        _ environment: [String: String] = ["DISPLAY": ":0"],
        defaultBrowser: String? = nil
    ) -> Surroundings {
        let programs = programs + (defaultBrowser == nil ? [] : ["xdg-settings"])
        let variables = environment.merging(["PATH": "/bin:/usr/bin"]) { $1 }
        return Surroundings(
            user: 1000,
            environment: { variables[$0] },
            file: { path in
                programs.contains { "/usr/bin/\($0)" == path }
                    ? Surroundings.File(owner: 0, mode: 0o755, kind: .regular) : nil
            },
            text: { _ in nil },
            program: "/usr/bin/authctl",
            run: { words in
                guard words == ["xdg-settings", "get", "default-web-browser"], let defaultBrowser else {
                    return CommandOutput(end: .notStarted(2))
                }
                return CommandOutput(text: defaultBrowser + "\n", end: .exited(0))
            }
        )
    }

    private func words(_ browser: Browser?) throws -> [String]? {
        browser?.command(for: try #require(WebLink(Self.link)))
    }

    @Test func `the user's browser comes before the desktop's, and that before any other`() throws {
        let all = ["xdg-open", "firefox", "chromium"]
        let named = Browser.usual(in: machine(all, ["BROWSER": "none:chromium:firefox", "DISPLAY": ":0"]))
        #expect(named?.name == "Chromium")
        #expect(try words(named) == ["chromium", Self.link])
        #expect(try words(Browser.usual(in: machine(all))) == ["xdg-open", Self.link])
        #expect(try words(Browser.usual(in: machine(["firefox", "chromium"]))) == ["firefox", Self.link])
        #expect(Browser.usual(in: machine([])) == nil)
    }

    @Test func `in WSL, Windows' browser comes before those of Linux`() throws {
        let inWindows = ["WSL_DISTRO_NAME": "Debian"]
        let viewer = Browser.usual(in: machine(["wslview", "powershell.exe", "xdg-open"], inWindows))
        #expect(try words(viewer) == ["wslview", Self.link])
        let shell = Browser.usual(in: machine(["powershell.exe", "xdg-open"], inWindows))
        #expect(try words(shell)?.last == "Start-Process '\(Self.link)'")
        #expect(try words(Browser.usual(in: machine(["xdg-open"], inWindows))) == ["xdg-open", Self.link])
        #expect(try words(Browser.usual(in: machine(["wslview", "xdg-open"]))) == ["xdg-open", Self.link])
    }

    @Test func `the address replaces the placeholder in BROWSER`() throws {
        let browser = Browser.usual(in: machine(["surf"], ["BROWSER": "surf -n %s -x"]))
        #expect(browser?.name == "'surf'")
        #expect(try words(browser) == ["surf", "-n", Self.link, "-x"])
    }

    @Test func `a browser that draws on the terminal is skipped`() {
        #expect(Browser.usual(in: machine(["w3m", "lynx"], ["BROWSER": "/usr/bin/w3m:lynx"])) == nil)
    }

    @Test(
        arguments: [
            ("firefox", nil, ["firefox", "--private-window", link]),
            ("firefox", "/p", ["firefox", "--no-remote", "--profile", "/p", "--private-window", link]),
            ("chromium", nil, ["chromium", "--incognito", link]),
            (
                "google-chrome", "/p",
                [
                    "google-chrome", "--user-data-dir=/p", "--no-first-run", "--no-default-browser-check",
                    "--incognito", link,
                ]
            ),
            ("brave-browser", nil, ["brave-browser", "--incognito", link]),
            ("microsoft-edge-stable", nil, ["microsoft-edge-stable", "--inprivate", link]),
        ] as [(String, String?, [String])]
    )
    func `each browser gets its own option for a private window`(
        program: String,
        profile: String?,
        expected: [String]
    ) throws {
        let browser = try KnownBrowser.forPrivateWindow(in: machine([program])).privateWindow(profile: profile)
        #expect(try words(browser) == expected)
    }

    @Test(
        arguments: [
            ("firefox-esr.desktop", "firefox-esr"), ("firefox_firefox.desktop", "firefox"),
            ("google-chrome.desktop", "google-chrome"), ("brave-browser.desktop", "brave-browser"),
        ]
    )
    func `the private window is the default browser's`(entry: String, program: String) throws {
        let machine = machine(KnownBrowser.all.map(\.program), defaultBrowser: entry)
        #expect(try KnownBrowser.forPrivateWindow(in: machine).program == program)
    }

    /// An ordinary window, or a browser other than the user's, would not be what was asked for.
    @Test func `without a private window the command fails with the reason`() throws {
        let epiphany = #expect(throws: Report.self) {
            try KnownBrowser.forPrivateWindow(
                in: machine(["firefox"], defaultBrowser: "org.gnome.Epiphany.desktop")
            )
        }
        #expect(epiphany?.name == "authctl.NoPrivateWindow")
        #expect(epiphany?.message.contains("'org.gnome.Epiphany'") == true)
        let surf = #expect(throws: Report.self) {
            try KnownBrowser.forPrivateWindow(in: machine(["surf", "firefox"], ["BROWSER": "surf"]))
        }
        #expect(surf?.name == "authctl.NoPrivateWindow" && surf?.message.contains("'surf'") == true)
        #expect(throws: Report.self) { try KnownBrowser.forPrivateWindow(in: machine(["xdg-open"])) }
        let surroundings = machine(["surf"], ["BROWSER": "surf", "DISPLAY": ":0"])
        #expect(Browser.usual(in: surroundings) != nil)
        var choice = try WindowChoice(.privateWindow(hasOwnProfile: false), browser: nil, in: surroundings)
        #expect(throws: Report.self) { try choice.chooseBrowser(hint: "h") }
    }

    private static let ownEntry = """
        # mine
        [Desktop Entry]
        Type=Application
        Name = Work
        Exec=/opt/browser --profile "a \\\\"b" --class=%%w %i %u
        MimeType=text/html;x-scheme-handler/https;
        [Desktop Action private]
        Exec=other
        """

    /// The words with which the account's browser is started; nil if there is none.
    private func chosen(
        _ name: String?,
        refusedTo account: String? = nil,
        kind: WindowChoice.Kind = .usual,
        in window: LoginWindow? = nil,
        entries: [String: String] = [:],
        configuration: String = "",
        _ environment: [String: String] = [:]
    ) throws -> [String]? {
        var machine = machine(
            ["firefox", "sh", "xdg-open", "surf"],
            ["DISPLAY": ":0", "HOME": "/h"].merging(environment) { $1 }
        )
        var files = ["/h/.config/authrefreshd/authrefreshd.yaml": configuration]
        for (name, text) in entries { files["/usr/share/applications/\(name)"] = text }
        machine.text = { [files] in files[$0] }
        var choice = try WindowChoice(kind, browser: nil, in: machine)
        try choice.chooseBrowser(ofAccount: name, refusedTo: account, in: window, hint: "h")
        return try words(choice.browser)
    }

    @Test func `a name starts a known browser or a browser's desktop entry, nothing else`() throws {
        let entries = ["own.desktop": Self.ownEntry, "firefox_firefox.desktop": Self.ownEntry]
        #expect(try chosen("firefox") == ["firefox", Self.link])
        let own = ["/opt/browser", "--profile", "a \"b", "--class=%w", Self.link]
        #expect(try chosen("own", entries: entries) == own)
        #expect(try chosen("own.desktop", entries: entries) == own)
        let isPrivate = WindowChoice.Kind.privateWindow(hasOwnProfile: false)
        let window = try chosen("firefox_firefox.desktop", kind: isPrivate, entries: entries)
        #expect(window == ["firefox", "--private-window", Self.link])
        #expect(throws: Report.self) { try chosen("own", kind: isPrivate, entries: entries) }
        // Installed programs, and entries that are no browser's.
        for name in ["sh", "surf", "xdg-open", "sh -c id", "/usr/bin/firefox", "../../../usr/share/applications/own"] {
            #expect(throws: Report.self) { try chosen(name, entries: entries) }
        }
        for flaw in ["MimeType=", "Type=", "Exec="] {
            let text = Self.ownEntry.replacing(flaw, with: "X-\(flaw)")
            #expect(throws: Report.self) { try chosen("own", entries: ["own.desktop": text]) }
        }
        for line in ["Terminal=true", "Hidden=true"] {
            let text = Self.ownEntry.replacing("[Desktop Entry]", with: "[Desktop Entry]\n\(line)")
            #expect(throws: Report.self) { try chosen("own", entries: ["own.desktop": text]) }
        }
    }

    @Test func `the account's kind of window is opened unless the person asks for another`() throws {
        #expect(try chosen("firefox", in: .private) == ["firefox", "--private-window", Self.link])
        #expect(try chosen(nil, in: .private, ["BROWSER": "firefox"]) == ["firefox", "--private-window", Self.link])
        #expect(try chosen("firefox", kind: .none, in: .private) == nil)
        // An ordinary window of a browser without a private one would not be what the account wants.
        #expect(throws: Report.self) { try chosen(nil, in: .private, ["BROWSER": "surf"]) }
    }

    @Test func `the account's name goes before the person's configuration, and that before BROWSER`() throws {
        let (configuration, environment) = ("login_browser: /usr/bin/surf -n\n", ["BROWSER": "sh"])
        #expect(try chosen("firefox", configuration: configuration, environment) == ["firefox", Self.link])
        #expect(try chosen(nil, configuration: configuration, environment) == ["/usr/bin/surf", "-n", Self.link])
        #expect(try chosen(nil, environment) == ["sh", Self.link])
        #expect(throws: Report.self) { try chosen(nil, configuration: "login_browser: none\n", environment) }
        // A command of an earlier version: neither it nor another browser is started.
        #expect(throws: Report.self) { try chosen(nil, refusedTo: "work", configuration: configuration) }
    }

    @Test func `only a named scheme becomes a handler`() {
        for (present, isNamed, outcome) in [
            ("", true, SchemeHandler.Outcome.registered(previous: nil)),
            ("chat.desktop", true, .registered(previous: "chat.desktop")), ("", false, .notNamed(scheme: "chat")),
            ("chat.desktop", false, .notNamed(scheme: "chat")), (SchemeHandler.entry, false, .already),
        ] {
            var machine = machine(["xdg-mime"], ["HOME": "/h"])
            let file = machine.file
            machine.file = { path in
                path == "/h/.local/share/applications/\(SchemeHandler.entry)"
                    ? Surroundings.File(owner: 0, mode: 0o644, kind: .regular) : file(path)
            }
            let list = "[Default Applications]\nx-scheme-handler/chat=\(present);\n"
            machine.text = { $0 == "/h/.config/mimeapps.list" ? list : nil }
            machine.run = { words in
                #expect(isNamed)
                return CommandOutput(text: words[1] == "query" ? present + "\n" : "", end: .exited(0))
            }
            #expect(SchemeHandler.register(for: "chat:/cb", isNamed: isNamed, in: machine) == outcome)
        }
    }

    @Test(
        arguments: [
            (["DISPLAY": ":0"], .desktop), (["WAYLAND_DISPLAY": "wayland-0"], .desktop), ([:], .noDisplay),
            (["SSH_CONNECTION": "::1 1 ::1 22"], .remote),
            (["SSH_CONNECTION": "::1 1 ::1 22", "DISPLAY": "localhost:10"], .remote),
            (["SSH_TTY": "/dev/pts/1"], .remote),
            (["SSH_CONNECTION": "::1 1 ::1 22", "BROWSER": "firefox"], .desktop),
            (["BROWSER": "w3m"], .noDisplay),
        ] as [([String: String], SignInPlace)]
    )
    func `the person's place decides which flows are possible`(environment: [String: String], place: SignInPlace) {
        let found = SignInPlace(machine(["firefox", "w3m"], environment))
        #expect(found == place)
        #expect(found.flows == (place == .desktop ? [nil, .device] : [.device, .paste]))
        #expect((found.reason == nil) == (place == .desktop))
    }

    @Test(
        arguments: [
            ("https://login.example.org/a?b=c", "login.example.org"),
            ("HTTPS://Login.Example.org", "login.example.org"),
            ("http://127.0.0.1:8080/x", "127.0.0.1:8080"), ("http://[::1]:8080", "[::1]:8080"),
            ("https://example.org?x=https://evil.example/", "example.org"),
        ]
    )
    func `the reported host is the one that the browser shows`(text: String, host: String) {
        #expect(WebLink(text)?.host == host)
    }

    @Test(
        arguments: [
            "file:///etc/passwd", "javascript:alert(1)", "data:text/html,x", "--version", "", "https://", "https:///x",
            "https://login.example.org@evil.example/", "https://evil.example\\@login.example.org/",
            "https://a.example/ x", "https://a.example/\n", "https://a.exämple/", "vbscript://x", "://x",
        ]
    )
    func `only web addresses are opened`(text: String) {
        #expect(WebLink(text) == nil)
    }
}

/// Folders for browser profiles that contain nothing of the user's.
@Suite struct TemporaryProfileTests {
    @Test func `a killed program's profile is removed when the next page is opened`() throws {
        let run = try CommandRun()
        defer { run.remove() }
        var surroundings = Surroundings.real
        surroundings.environment = { [path = run.folder.path] in $0 == "XDG_RUNTIME_DIR" ? path : nil }
        let held = try TemporaryProfile.make(in: surroundings).path
        // The locks were released when their programs were killed. The removal of one had begun.
        for name in ["killed", "half.removed"] {
            let profile = run.folder.appendingPathComponent("authctl-browser-\(name)")
            try FileManager.default.createDirectory(at: profile, withIntermediateDirectories: false)
            for file in ["authctl.lock", "Cookies"] {
                try Data("sesame".utf8).write(to: profile.appendingPathComponent(file))
            }
        }
        let others = run.folder.appendingPathComponent("authctl-other")
        try FileManager.default.createDirectory(at: others, withIntermediateDirectories: false)
        let outcome = try run.run("XDG_RUNTIME_DIR=$PWD authctl login work --no-open")
        #expect(outcome.status == 69)
        #expect(try run.profiles == ["authctl-other", String(held.split(separator: "/").last ?? "")].sorted())
        TemporaryProfile.remove(held, surroundings)
        #expect(try run.profiles == ["authctl-other"])
    }

    @Test func `a window that outlives its program keeps its profile until it is closed`() throws {
        let run = try CommandRun()
        defer { run.remove() }
        var surroundings = Surroundings.real
        surroundings.environment = { [path = run.folder.path] in $0 == "XDG_RUNTIME_DIR" ? path : nil }
        let (profile, lock) = try TemporaryProfile.make(in: surroundings)
        let closed = run.folder.appendingPathComponent("closed").path
        #expect(unsafe mkfifo(closed, 0o600) == 0)
        let window = DetachedProgram(["sh", "-c", "read end < '\(closed)'"], keepingOpen: lock)
        // Simulates a kill of this program.
        close(lock)
        TemporaryProfile.removeAbandoned(in: surroundings)
        #expect(FileManager.default.fileExists(atPath: profile))
        try "now\n".write(toFile: closed, atomically: false, encoding: .utf8)
        #expect(try #require(window).waitForEnd() == .exited(0))
        TemporaryProfile.removeAbandoned(in: surroundings)
        #expect(!FileManager.default.fileExists(atPath: profile))
    }
}

extension CommandRun {
    fileprivate var profiles: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("authctl-") }
                .sorted()
        }
    }
}

/// Programs that are started and not waited for.
@Suite struct DetachedProgramTests {
    @Test func `a program has its own session, no terminal, and no blocked signal`() throws {
        let run = try CommandRun()
        defer { run.remove() }
        let file = run.folder.appendingPathComponent("seen").path
        let script = """
            ps -o sid=,pid= -p $$ > '\(file)'; grep SigBlk /proc/self/status >> '\(file)'
            readlink /proc/self/fd/0 >> '\(file)'; exit 7
            """
        var held = sigset_t()
        var before = sigset_t()
        unsafe sigemptyset(&held)
        unsafe sigaddset(&held, SIGINT)
        unsafe pthread_sigmask(SIG_BLOCK, &held, &before)
        let program = DetachedProgram(["sh", "-c", script])
        unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
        let started = try #require(program)
        #expect(started.waitForEnd() == .exited(7))
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(lines[0].split(separator: " ").map(String.init) == [String(started.pid), String(started.pid)])
        #expect(lines[1].hasSuffix("\t0000000000000000"))
        #expect(lines[2] == "/dev/null")
    }

    @Test func `a missing program is not started`() {
        #expect(DetachedProgram(["no-such-program-here"]) == nil)
    }
}

extension DetachedProgram {
    /// Waits for the end, without a limit.
    fileprivate func waitForEnd() -> ProgramRun.End? {
        var facts = unsafe siginfo_t()
        unsafe waitid(P_PID, id_t(pid), &facts, WEXITED | WNOWAIT)
        return takeEnd()
    }
}
