import Foundation
import TestSupport
import Testing

/// A recorded run of `authctl`: what the daemon answers, the command, and the expected output.
///
/// The files in `Transcripts` have sections. Each begins with a line `-- name --`:
///
/// - `daemon`: `> METHOD [more] PARAMETERS` is an expected call, `< REPLY` its reply, `^ REPLY` a later reply to the
///   last call with `more`. `! close` ends the connection. `@now+60` becomes that time in µs, and `@folder` the
///   command's folder. Without this section nothing listens at the socket.
/// - `file NAME MODE`: a file in the command's folder.
/// - `command`: for `/bin/sh`. `stdin`, `stdout`, `stderr`: text; missing means empty. `status`: the exit status.
/// - `terminal COLUMNS`: the command runs on a terminal of that width, and `stdout` is everything shown there. Each
///   line of this section is `PROMPT => KEYS`: the keys to type after the prompt was shown. `^C` is Ctrl-C, `^D` is
///   Ctrl-D, `^M` is Enter.
///
/// In the output, `<time>` and `<stamp>` match any local time, `<socket>` the socket's path, and `<folder>` the
/// command's folder.
struct Transcript: CustomTestStringConvertible, Sendable {
    struct SectionError: Error {
        let transcript: String
        let problem: String
    }

    struct File: Sendable {
        let name: String
        let mode: Int
        let text: String
    }

    let name: String
    var exchanges: [StubDaemon.Exchange]?
    var files: [File] = []
    var command = ""
    var input = ""
    var output = ""
    var errors = ""
    var status: Int32 = 0
    /// The width of the terminal and the keys typed on it; nil for no terminal.
    var terminal: (columns: UInt16, steps: [TerminalRun.Step])?

    var testDescription: String { name }

    /// All transcripts, by name.
    static let all: [Result<Transcript, any Error>] = {
        let folder = SourceTree.root.appending(path: "Tests/Transcripts")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix(".txt") }.sorted().map { name in
            Result {
                try Transcript(
                    name: name,
                    text: String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
                )
            }
        }
    }()

    init(name: String, text: String) throws {
        self.name = name
        var title: [String] = []
        var body: [Substring] = []
        let lines: [Substring] = text.split(separator: "\n", omittingEmptySubsequences: false) + ["-- end --"]
        for line in lines {
            if line.hasPrefix("-- "), line.hasSuffix(" --") {
                try take(title, body)
                title = line.dropFirst(3).dropLast(3).split(separator: " ").map(String.init)
                body = []
            } else {
                body.append(line)
            }
        }
    }

    /// The calls and replies, for a command that runs in `folder`; nil if nothing listens.
    func calls(in folder: URL) -> [StubDaemon.Exchange]? {
        exchanges?.map { exchange in
            var exchange = exchange
            exchange.replies = exchange.replies.map { $0.replacing("@folder", with: folder.path) }
            return exchange
        }
    }

    private static func step(_ line: Substring) -> TerminalRun.Step? {
        let parts = line.split(separator: " => ", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        return .typing(
            parts[1].replacing("^C", with: "\u{3}").replacing("^M", with: "\r").replacing("^D", with: "\u{4}")
                .description,
            at: String(parts[0])
        )
    }

    private mutating func take(_ title: [String], _ lines: [Substring]) throws {
        // The empty line before the next title is not part of the section; it makes the files easier to read.
        let text = lines.joined(separator: "\n") + (lines.last?.isEmpty ?? true ? "" : "\n")
        switch title.first {
        case nil: break
        case "daemon": exchanges = try StubDaemon.Exchange.parse(lines)
        case "file" where title.count == 3:
            files.append(File(name: title[1], mode: Int(title[2], radix: 8) ?? 0o600, text: text))
        case "command": command = text
        case "terminal" where title.count == 2:
            terminal = (UInt16(title[1]) ?? 80, lines.compactMap(Self.step))
        case "stdin": input = text
        case "stdout": output = text
        case "stderr": errors = text
        case "status": status = Int32(text.filter(\.isNumber)) ?? -1
        case let other?: throw SectionError(transcript: name, problem: "no section is called '\(other)'")
        }
    }
}
