/// A way to show an address in a browser.
struct Browser: Equatable, Sendable {
    /// As it is called in messages: `Firefox`; `the browser` if the desktop chooses it.
    let name: String
    /// The program and its arguments; the address is put in place of each `%s`, or at the end.
    let words: [String]

    /// The words that show `link`, none of which a shell ever sees.
    func command(for link: WebLink) -> [String] {
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
