import ArgumentParser
import AuthRefreshInterface
import Basics
import Foundation
import TestSupport
import Testing

@testable import authctl

/// Compares the page "JSON of authctl" with the output of authctl in the transcripts.
@Suite struct JSONDocumentTests {
    /// Read once, and not for each of some 250 cases.
    private static let document = Result { try JSONDocument() }

    private let page: JSONDocument

    init() throws {
        page = try Self.document.get()
    }

    private static var commands: [String] {
        func leaves(_ command: any ParsableCommand.Type, _ path: [String]) -> [String] {
            let below = command.configuration.subcommands
            guard !below.isEmpty else { return [path.joined(separator: " ")] }
            return below.flatMap { leaves($0, path + [$0.configuration.commandName ?? ""]) }
        }
        // The agent prints nothing. A restore, and the program started by `exec`, are other programs, which may print
        // anything. git reads lines. Output that comes through ssh is another machine's.
        let others = [
            "authctl agent", "authctl exec", "authctl git-credential", "authctl store restore", "authctl forward",
        ]
        return leaves(AuthctlCommand.self, ["authctl"]).filter { !others.contains($0) }
    }

    @Test(arguments: commands)
    func `a command takes --json, has a section, and a transcript that shows it`(command: String) throws {
        #expect(page.objects[command] != nil)
        let shown = try Transcript.all.map { try $0.get() }.filter { $0.jsonCommand == command && !$0.output.isEmpty }
        #expect(!shown.isEmpty)
    }

    @Test(arguments: Transcript.all.indices)
    func `JSON in a transcript follows the page`(index: Int) throws {
        let transcript = try Transcript.all[index].get()
        for line in transcript.errors.split(separator: "\n") where line.hasPrefix("{\"error\"") {
            try page.check(JSONSerialization.jsonObject(with: Data(line.utf8)), "error", transcript.name)
        }
        guard let command = transcript.jsonCommand else { return }
        let isLines = transcript.output.hasPrefix("{\"")
        let texts = isLines ? transcript.output.split(separator: "\n").map(String.init) : [transcript.output]
        for text in texts where text.hasPrefix("{") {
            try page.check(JSONSerialization.jsonObject(with: Data(text.utf8)), command, transcript.name)
        }
    }

    @Test func `every error of authctl's own is listed`() throws {
        let sources = SourceTree.root.appending(path: "Sources/authctl")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var names: Set<String> = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            names.formUnion(text.matches(of: /"(authctl\.[A-Z][A-Za-z]+)"/).map { String($0.1) })
        }
        #expect(names.count > 20)
        for name in names { #expect(page.text.contains("`\(name)`"), "\(name)") }
    }
}

extension Transcript {
    /// The one command with a JSON answer in `output`; nil if there is none, or also other output.
    fileprivate var jsonCommand: String? {
        guard command.contains("--json") || command.contains("--format json"),
            command.matches(of: /authctl\ /).count == 1,
            let words = command.split(separator: "authctl ").last?.split(separator: " ")
        else { return nil }
        let path = CommandPath(in: words.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) })
        return (["authctl"] + path.words).joined(separator: " ")
    }
}
