import ArgumentParser
import Basics
import Foundation
import TestSupport
import Testing

@testable import authctl

/// Texts with commands in them as values.
@Suite struct HintTests {
    @Test func `a command has the name by which the program is called`() {
        let hint: Hint = "run '\(Command("login", "work"))', or \(Command("--help")); authctl keeps the rest"
        #expect(hint.text == "run 'authctl login work', or authctl --help; authctl keeps the rest")
        #expect(
            hint.text(by: .unmistakable)
                == "run 'authrefreshctl login work', or authrefreshctl --help; authctl keeps the rest"
        )
    }

    @Test func `a command of another program keeps its name`() {
        let hint: Hint = "then: \(Command(program: "systemctl", "--user", "restart", "authrefreshd"))"
        #expect(hint.text(by: .unmistakable) == "then: systemctl --user restart authrefreshd")
    }

    @Test(arguments: [
        ("work", "work"), ("you@example.org", "you@example.org"), ("https://HOST/", "https://HOST/"), ("-", "-"),
        ("ACCOUNT…", "ACCOUNT…"), ("a b", "'a b'"), ("it's", #"'it'\''s'"#), ("a;b", "'a;b'"), ("$HOME", "'$HOME'"),
        ("", "''"), ("a?b=c&d", "'a?b=c&d'"),
    ])
    func `a word of a command is quoted if a shell would change it`(word: String, shown: String) {
        #expect(Command("login", word).text(by: .usual) == "authctl login \(shown)")
    }

    @Test func `a path in a command is always quoted`() {
        #expect(Command(program: "chmod", "600", path: "/a/b").text(by: .usual) == "chmod 600 '/a/b'")
    }

    @Test func `a hint and its commands come back from the wire as they were`() {
        let sent: Hint =
            "\(Command("store", "backup", "FILE")), then \(Command("account", "remove", "work")), and add it again"
        #expect(sent.command == "authctl store backup FILE\nauthctl account remove work")
        let received = Hint(sent.text, command: sent.command)
        #expect(received.text == sent.text)
        #expect(
            received.text(by: .unmistakable)
                == "authrefreshctl store backup FILE, then authrefreshctl account remove work, and add it again"
        )
        let other: Hint = "\(Command(program: "systemctl", "--user", "start", "a"))"
        #expect(Hint(other.text, command: other.command).text(by: .unmistakable) == "systemctl --user start a")
    }

    @Test func `a hint without its command keeps every byte, as from an older daemon`() {
        #expect(Hint("authctl login work", command: nil).text(by: .unmistakable) == "authctl login work")
        #expect(Hint("authctl login work", command: "authctl status").text(by: .unmistakable) == "authctl login work")
        #expect(Hint("", command: nil).isEmpty)
    }

    /// A name, but for the program that an account is imported from.
    private static func placeholder(_ expression: String) -> String {
        expression.hasSuffix("source.rawValue") ? "oidc-agent" : "work"
    }

    /// The commands of ours in the sources, as words, with placeholders for what is computed.
    private static func commands() throws -> [(place: String, words: [String])] {
        let files = FileManager.default.enumerator(
            at: SourceTree.root.appending(path: "Sources"),
            includingPropertiesForKeys: nil
        )
        let sources = (files?.allObjects ?? []).compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
        return try sources.flatMap { file in
            try String(contentsOf: file, encoding: .utf8)
                .matches(of: /\b(Command\(|edit\((?="--))("(?:[^()]|\([^()]*\))*)\)/)
                .map { found in
                    let words = found.2.split(separator: ",").map { argument in
                        let argument = argument.trimmingCharacters(in: .whitespacesAndNewlines)
                        return argument.hasPrefix("\"")
                            ? argument.trimmingCharacters(in: ["\""]) : placeholder(argument)
                    }
                    // The daemon's way to name the command that changes an account.
                    let isEdit = found.1.hasPrefix("edit")
                    return (file.lastPathComponent, isEdit ? ["account", "edit", "work"] + words : words)
                }
        }
    }

    @Test func `every command of ours that a text tells people to type is one that the parser takes`() throws {
        let commands = try Self.commands()
        #expect(commands.count > 30)
        // These name only the command; the text around them names the account or the host.
        let names = [["account", "show"], ["account", "edit"], ["forward"]]
        let values = ["PORT": "1", "METHOD": "none"]
        for (place, words) in commands where !names.contains(words) {
            do {
                _ = try AuthctlCommand.parseAsRoot(SettingsOptions.nameTokenFile(in: words.map { values[$0] ?? $0 }))
            } catch {
                // Help that was asked for is thrown, too.
                #expect(AuthctlCommand.exitCode(for: error) == .success, "\(place): \(words.joined(separator: " "))")
            }
        }
    }

    /// The texts that people read beside the sources: the journal catalog, the pages, the README, profiles, samples.
    private static func texts() throws -> [(place: String, text: String)] {
        let folders = ["README.md", "systemd", "etc", "Sources/authrefreshd/Documentation.docc"]
        let kinds: Set = ["md", "yaml", "catalog"]
        return try folders.flatMap { name -> [URL] in
            let url = SourceTree.root.appending(path: name)
            guard url.pathExtension.isEmpty || url.pathExtension == "docc" else { return [url] }
            let files = FileManager.default.enumerator(at: url, includingPropertiesForKeys: nil)
            return (files?.allObjects ?? []).compactMap { $0 as? URL }
        }
        .filter { kinds.contains($0.pathExtension) }
        .map { ($0.lastPathComponent, try String(contentsOf: $0, encoding: .utf8)) }
    }

    /// The words after `authctl` in `text`, as far as they belong to one command.
    ///
    /// A command in quotes or backticks may go on in the next line. Any other ends with its line, or with two blanks,
    /// after which a table explains it.
    private static func commands(in text: String) -> [[String]] {
        text.matches(of: /([`"(]?)\bauthctl ([^`"]*)/).map { found in
            let isQuoted = !found.1.isEmpty && found.1 != "("
            var command = isQuoted ? String(found.2) : String(found.2.prefix { $0 != "\n" })
            for end in ["  ", " -- ", "#", "|", ";", "&&", ")", " > "] {
                guard !isQuoted || end != "  ", let range = command.range(of: end) else { continue }
                command = String(command[..<range.lowerBound])
            }
            return command.split(whereSeparator: \.isWhitespace).map(String.init)
        }
    }

    @Test func `every option of authctl that a text names exists`() throws {
        var found = 0
        for (place, text) in try Self.texts() {
            for words in Self.commands(in: text) {
                var (command, names) = (AuthctlCommand.self as any ParsableCommand.Type, words[...])
                while let name = names.first,
                    let next = command.configuration.subcommands.first(where: { $0._commandName == name })
                {
                    (command, names) = (next, names.dropFirst())
                }
                // Prose, such as "authctl tells", and options of the program itself.
                guard ObjectIdentifier(command) != ObjectIdentifier(AuthctlCommand.self) else { continue }
                let help = AuthctlCommand.helpMessage(for: command, includeHidden: true)
                let options = names.compactMap { $0.firstMatch(of: /^\[?(--[a-z][a-z0-9-]*)/)?.1 }
                for option in options where option != "--help" {
                    found += 1
                    let isKnown = help.contains(try Regex(String(option) + #"(?![a-z0-9-])"#))
                    #expect(isKnown, "\(place): authctl \(words.joined(separator: " "))")
                }
            }
        }
        #expect(found > 50)
    }
}
