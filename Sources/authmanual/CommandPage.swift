/// The manual page of a command.
struct CommandPage {
    let command: HelpDump.Command
    let edition: ManualPage.Edition

    /// Related pages of the program: configuration files and companions.
    let related: [(name: String, section: Int)]

    private var name: String { command.words.joined(separator: "-") }

    var page: ManualPage {
        var page = ManualPage(name: name, section: 1, summary: command.abstract, edition: edition)
        page.title("SYNOPSIS")
        synopsis(&page)
        let text = HelpText(command.discussion ?? "")
        page.title("DESCRIPTION")
        page.add(text.description.isEmpty ? [.paragraph(command.abstract)] : text.description)
        commands(&page)
        arguments(&page)
        for section in text.sections {
            page.title(section.title)
            page.add(section.blocks)
        }
        page.seeAlso(seeAlso)
        return page
    }

    private func synopsis(_ page: inout ManualPage) {
        page.line(".Nm \(command.words.joined(separator: " "))")
        guard command.pages.isEmpty else {
            page.line(".Ar command")
            return page.line(".Op Ar argument ...")
        }
        for argument in command.shown where argument.synopsis != nil {
            let dots = argument.isRepeating && !argument.takesSeveral ? " ..." : ""
            let words = (argument.synopsis ?? "") + dots
            page.line(argument.isOptional ? ".Op \(words)" : ".\(words)")
        }
    }

    private func commands(_ page: inout ManualPage) {
        guard !command.pages.isEmpty else { return }
        page.title("COMMANDS")
        page.list(
            command.pages.map { below in
                ("Xr \(below.words.joined(separator: "-")) 1", below.abstract)
            }
        )
    }

    private func arguments(_ page: inout ManualPage) {
        guard !command.shown.isEmpty else { return }
        page.title("OPTIONS")
        page.list(command.shown.map { ($0.head, $0.explanation) })
    }

    private var seeAlso: [(name: String, section: Int)] {
        let above = command.words.indices.dropFirst().map { (command.words[..<$0].joined(separator: "-"), 1) }
        return above + related.filter { page in page.name != name && !above.contains { $0 == page } }
    }
}

extension HelpDump.Argument {
    /// `Fl -format Ar format`, or an operand; nil for options of every command.
    fileprivate var synopsis: String? {
        switch kind {
        case .positional: return values
        case .flag, .option:
            guard let name = names?.first(where: { $0.kind == .long }), !["help", "version"].contains(name.name) else {
                return nil
            }
            return flag(name) + (kind == .option ? " \(values)" : "")
        }
    }

    /// The head of its explanation.
    fileprivate var head: String {
        switch kind {
        case .positional: values
        case .flag, .option:
            (names ?? []).map(flag).joined(separator: " , ") + (kind == .option ? " \(values)" : "")
        }
    }

    fileprivate var explanation: String {
        var text = abstract ?? ""
        if let allValues { text += " One of: \(allValues.joined(separator: ", "))." }
        if let defaultValue { text += " Default: \(defaultValue)." }
        return text
    }

    /// `Ar format`. For an option with two values, the parser's help shows `<method> <url>`, because its value name
    /// contains the inner brackets.
    private var values: String {
        names(ofValues: valueName ?? "value").map { "Ar \(Mdoc.text($0))" }.joined(separator: " ")
    }

    private func names(ofValues text: String) -> [String] {
        text.replacing("> <", with: "\n").split(separator: "\n").map(String.init)
    }

    /// Whether one option takes several values.
    fileprivate var takesSeveral: Bool { names(ofValues: valueName ?? "").count > 1 }

    private func flag(_ name: Name) -> String {
        switch name.kind {
        case .long: "Fl \\-\(Mdoc.text(name.name))"
        case .short, .longWithSingleDash: "Fl \(Mdoc.text(name.name))"
        }
    }
}
