/// A manual page in mdoc(7).
struct ManualPage {
    /// The footer of all pages.
    struct Edition {
        /// The version: `0.1.0`.
        let version: String
        /// The date: `November 21, 2026`.
        let date: String
    }

    /// The file name: `authctl-account-add.1`.
    let fileName: String
    private(set) var source: String

    /// Begins a page.
    ///
    /// - Parameter section: the manual's section: 1 for programs, 5 for file formats.
    init(name: String, section: Int, summary: String, edition: Edition) {
        fileName = "\(name).\(section)"
        source = ""
        line(".Dd \(edition.date)")
        line(".Dt \(name.uppercased()) \(section)")
        line(".Os authrefreshd \(edition.version)")
        title("NAME")
        line(".Nm \(name)")
        // Summaries are sentences. Here they follow a dash, without a full stop.
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

    /// Adds lines that are not reformatted.
    mutating func literal(_ lines: [String]) {
        line(".Bd -literal -offset indent")
        for text in lines { line(text.isEmpty ? "" : Mdoc.text(text)) }
        line(".Ed")
    }

    /// Adds a list of terms and their explanations.
    mutating func list(_ items: [(head: String, text: String)]) {
        line(".Bl -tag -width Ds")
        for item in items {
            line(".It \(item.head)")
            for text in Mdoc.paragraph(item.text) { line(text) }
        }
        line(".El")
    }

    /// Adds references.
    ///
    /// - Parameter pages: each with a name and a section.
    mutating func seeAlso(_ pages: [(name: String, section: Int)]) {
        guard !pages.isEmpty else { return }
        title("SEE ALSO")
        let sorted = pages.sorted { ($0.section, $0.name) < ($1.section, $1.name) }
        for (index, page) in sorted.enumerated() {
            line(".Xr \(page.name) \(page.section)" + (index < sorted.count - 1 ? " ," : ""))
        }
    }
}
