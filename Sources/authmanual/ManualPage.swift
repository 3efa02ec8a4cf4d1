/// A manual page in mdoc(7).
struct ManualPage {
    /// What the footers of all pages show.
    struct Edition {
        /// `0.1.0`.
        let version: String
        /// `November 21, 2026`.
        let date: String
    }

    /// `authctl-account-add.1`.
    let fileName: String
    private(set) var source: String

    /// - Parameter section: of the manual: 1 for programs, 5 for file formats.
    init(name: String, section: Int, summary: String, edition: Edition) {
        fileName = "\(name).\(section)"
        source = ""
        line(".Dd \(edition.date)")
        line(".Dt \(name.uppercased()) \(section)")
        line(".Os authrefreshd \(edition.version)")
        title("NAME")
        line(".Nm \(name)")
        // Summaries are sentences; here they are the part after a dash.
        let words = summary.hasSuffix(".") ? String(summary.dropLast()) : summary
        line(".Nd \(Mdoc.text(words.prefix(1).lowercased() + words.dropFirst()))")
    }

    mutating func line(_ text: String) {
        source += text + "\n"
    }

    mutating func title(_ text: String) {
        line(".Sh \(text)")
    }

    mutating func add(_ blocks: [HelpText.Block]) {
        for (index, block) in blocks.enumerated() {
            switch block {
            case .paragraph(let text):
                if index > 0 { line(".Pp") }
                for text in Mdoc.paragraph(text) { line(text) }
            case .literal(let lines): literal(lines)
            }
        }
    }

    /// Lines that stay as they are.
    mutating func literal(_ lines: [String]) {
        line(".Bd -literal -offset indent")
        for text in lines { line(text.isEmpty ? "" : Mdoc.text(text)) }
        line(".Ed")
    }

    /// A list of things and what they are.
    mutating func list(_ items: [(head: String, text: String)]) {
        line(".Bl -tag -width Ds")
        for item in items {
            line(".It \(item.head)")
            for text in Mdoc.paragraph(item.text) { line(text) }
        }
        line(".El")
    }

    /// - Parameter pages: each a name and a section.
    mutating func seeAlso(_ pages: [(name: String, section: Int)]) {
        guard !pages.isEmpty else { return }
        title("SEE ALSO")
        let sorted = pages.sorted { ($0.section, $0.name) < ($1.section, $1.name) }
        for (index, page) in sorted.enumerated() {
            line(".Xr \(page.name) \(page.section)" + (index < sorted.count - 1 ? " ," : ""))
        }
    }
}
