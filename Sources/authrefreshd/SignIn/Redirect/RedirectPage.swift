internal import Basics

/// A page for the person whom the server sent back: plain text in a card, without scripts and without anything from
/// other sites.
struct RedirectPage: Hashable, Sendable {
    enum Mood: Hashable, Sendable {
        case success, notice, failure
    }

    var mood: Mood
    var title: String
    var text: String
    /// The person's next step; nil if there is nothing to do.
    var advice: String?
    /// A command to type; nil if there is none.
    var command: Command?
    /// The address that the browser opens next; nil if it stays on this page.
    var location: String?

    init(_ mood: Mood, title: String, text: String, advice: String? = nil, command: Command? = nil) {
        self.mood = mood
        self.title = title
        self.text = text
        self.advice = advice
        self.command = command
    }

    /// The page as HTML. The browser accepts its only style because of `nonce`.
    func html(nonce: String) -> String {
        var body = "<h1>\(Self.escaped(title))</h1>\n<p>\(Self.escaped(text))</p>\n"
        if let advice { body += "<p>\(Self.escaped(advice))</p>\n" }
        if let command { body += "<pre><code>\(Self.escaped(command.text(by: .usual)))</code></pre>\n" }
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta name="robots" content="noindex">
            <link rel="icon" href="data:,">
            <title>\(Self.escaped(title))</title>
            <style nonce="\(nonce)">\(Self.style)</style>
            </head>
            <body class="\(mood.name)">
            <main>
            \(mood.sign)
            \(body)<footer>authrefreshd on this machine</footer>
            </main>
            </body>
            </html>

            """
    }

    /// `text`, with all characters escaped that have a meaning in HTML.
    ///
    /// It works on Unicode scalars, as browsers do: a single Swift character may consist of a letter and the "<" after
    /// it (U+0D4E joins them).
    static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }
}

extension RedirectPage.Mood {
    fileprivate var name: String {
        switch self {
        case .success: "success"
        case .notice: "notice"
        case .failure: "failure"
        }
    }

    /// A sign in the mood's colour. The title says the same in words.
    fileprivate var sign: String {
        let stroke =
            switch self {
            case .success: "M7.5 12.5l3 3 6-7"
            case .notice: "M12 11v5.5M12 7.5v.01"
            case .failure: "M12 7v6M12 16.5v.01"
            }
        return """
            <svg viewBox="0 0 24 24" width="56" height="56" aria-hidden="true"><circle cx="12" cy="12" r="11"/>\
            <path d="\(stroke)"/></svg>
            """
    }
}

extension RedirectPage {
    /// The headers of the page. Nothing is loaded, run, framed or stored, and no referrer is sent: the page's address
    /// contains the code. The code is spent by now, and of no use without the verifier (RFC 9700 §2.1.1, §4.2.4).
    ///
    /// `sandbox` prevents the page from sending the browser elsewhere with `<meta http-equiv="refresh">`; no other
    /// directive does. It excludes `Cross-Origin-Opener-Policy`: browsers show an error for a page that has both (HTML,
    /// "navigation response").
    static func headers(for html: String, nonce: String) -> [(String, String)] {
        let policy = """
            default-src 'none'; style-src 'nonce-\(nonce)'; img-src data:; base-uri 'none'; form-action 'none'; \
            frame-ancestors 'none'; sandbox
            """
        return [
            ("Content-Type", "text/html; charset=utf-8"),
            ("Content-Length", String(html.utf8.count)),
            ("Cache-Control", "no-store"),
            ("Content-Security-Policy", policy),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Referrer-Policy", "no-referrer"),
            ("X-DNS-Prefetch-Control", "off"),
            ("X-Content-Type-Options", "nosniff"),
            ("X-Frame-Options", "DENY"),
            ("Connection", "close"),
        ]
    }

    /// The style of all pages: a card in the middle, light or dark like the desktop, for any width.
    private static let style = """

        :root { --paper: #f4f5f7; --card: #fff; --ink: #1c1f24; --soft: #5b6370; --line: #dfe2e7; --mood: #3867d6; }
        .success { --mood: #1a7f4b; } .failure { --mood: #b3372f; }
        @media (prefers-color-scheme: dark) {
          :root { --paper: #15171a; --card: #1f2226; --ink: #e9ebee; --soft: #a3abb6; --line: #34393f; --mood: #7ea2ff; }
          .success { --mood: #57c78d; } .failure { --mood: #f08a82; }
        }
        * { box-sizing: border-box; }
        body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; background: var(--paper);
          color: var(--ink); font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, Ubuntu, sans-serif; }
        main { width: 100%; max-width: 32rem; padding: 2.5rem clamp(1.25rem, 6vw, 2rem) 1.75rem; background: var(--card);
          border: 1px solid var(--line); border-radius: 1rem; overflow-wrap: anywhere; }
        svg { display: block; fill: none; stroke: var(--mood); stroke-width: 1.6; stroke-linecap: round;
          stroke-linejoin: round; }
        h1 { margin: 1rem 0 .5rem; font-size: 1.5rem; line-height: 1.25; }
        p { margin: .5rem 0; }
        pre { margin: 1rem 0 0; padding: .75rem 1rem; background: var(--paper); border-radius: .5rem; white-space: pre-wrap; }
        code { font: .95rem/1.4 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
        footer { margin-top: 2rem; padding-top: 1rem; border-top: 1px solid var(--line); color: var(--soft);
          font-size: .875rem; }

        """
}
