import ArgumentParser
import Basics
import Foundation
import Testing

@testable import authctl

@Suite struct TranscriptTests {
    @Test(arguments: Transcript.all.indices)
    func `authctl behaves as recorded`(index: Int) throws {
        let transcript = try Transcript.all[index].get()
        let run = try CommandRun()
        defer { run.remove() }
        for file in transcript.files {
            let url = run.folder.appendingPathComponent(file.name)
            try Data(file.text.utf8).write(to: url)
            try FileManager.default.setAttributes([.posixPermissions: file.mode], ofItemAtPath: url.path)
        }
        let daemon = try transcript.calls(in: run.folder).map { try StubDaemon(path: run.socket, exchanges: $0) }
        let outcome = try run.run(transcript)
        let problems = daemon?.finish() ?? []

        let name = Comment(rawValue: transcript.name)
        #expect(problems == [], name)
        #expect(normalised(outcome.errors, run) == transcript.errors, name)
        #expect(normalised(outcome.output, run) == transcript.output, name)
        #expect(outcome.status == transcript.status, name)
    }

    @Test func `every exit status of authctl is shown by a transcript`() throws {
        let shown = Set(try Transcript.all.map { try $0.get().status })
        let statuses = Set(Basics.ExitStatus.allCases.map(\.rawValue))
        #expect(statuses.subtracting(shown) == [Basics.ExitStatus.systemFailed.rawValue])
    }

    @Test func `every command is shown by a transcript`() throws {
        let commands = try Transcript.all.map { try $0.get().command }.joined()
        let groups = AuthctlCommand.configuration.subcommands
        for group in groups {
            let name = try #require(group.configuration.commandName)
            let below = group.configuration.subcommands.compactMap { $0.configuration.commandName }
            for command in below.isEmpty ? [name] : below.map({ "\(name) \($0)" }) {
                #expect(commands.contains("authctl \(command)"), "no transcript of '\(command)'")
            }
        }
    }

    /// The text without what differs between runs. The transcript of a terminal shows what a person sees there,
    /// including the echo of typed keys.
    private func normalised(_ text: String, _ run: CommandRun) -> String {
        text.replacing(run.socket, with: "<socket>").replacing(run.folder.path, with: "<folder>")
            .replacing(/http:\/\/127\.0\.0\.1:[0-9]+\/[0-9a-f]+-[0-9a-f]+/, with: "<detour>")
            .replacing(/[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}/, with: "<stamp>")
            .replacing(/\b([0-9]{4}-[0-9]{2}-[0-9]{2} )?[0-9]{2}:[0-9]{2}\b/, with: "<time>")
    }
}
