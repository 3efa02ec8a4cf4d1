import ArgumentParser
import AuthRefreshInterface
import Testing

@testable import authctl

/// The help texts of all commands.
@Suite struct HelpTests {
    static let commands = below(AuthctlCommand.self)

    private static func below(_ command: any ParsableCommand.Type) -> [any ParsableCommand.Type] {
        [command] + command.configuration.subcommands.flatMap(below)
    }

    @Test(arguments: commands.indices)
    func `an example can be copied from a terminal of 80 columns`(index: Int) {
        let command = Self.commands[index]
        let help = command.helpMessage(columns: 80).split(separator: "\n")
        let examples = command.configuration.discussion.split(separator: "\n").filter { $0.hasPrefix("  ") }
        for line in examples {
            #expect(line.count <= 79)
            #expect(help.contains(line))
        }
    }

    @Test(arguments: commands.indices)
    func `a command's help begins with examples, and those are commands as typed`(index: Int) throws {
        let command = Self.commands[index]
        let parts = command.configuration.discussion.split(separator: "\n\n")
        #expect(parts.first == "Examples:")
        let examples = parts.dropFirst().prefix { $0.hasPrefix("  ") }.joined(separator: "\n")
            .replacing("\\\n", with: "").split(separator: "\n").map { $0.drop { $0 == " " } }
        #expect(!examples.isEmpty)
        for example in examples where example.hasPrefix("authctl ") {
            let words = SettingsOptions.nameTokenFile(in: Array(Self.words(of: String(example)).dropFirst()))
            #expect(throws: Never.self, "\(example)") { try AuthctlCommand.parseAsRoot(words) }
        }
    }

    /// The words of the first command of a line, as a shell would split it.
    private static func words(of line: String) -> [String] {
        // A shell would put one word in the place of `$(…)`.
        let command = line.replacing(/\$\([^)]*\)/, with: "1").prefix { !"|<>&".contains($0) }
        return command.matches(of: /(?:'[^']*'|"[^"]*"|[^ '"])+/).map { $0.0.filter { !"'\"".contains($0) } }
    }

    @Test(arguments: commands.indices)
    func `help uses only characters that every locale has`(index: Int) {
        #expect(Self.commands[index].helpMessage(columns: 80).utf8.allSatisfy { $0 < 0x80 })
    }

    @Test(arguments: Setting.all.map(\.name)) func `every setting has an option`(name: String) throws {
        let setting = try #require(Setting.named(name))
        let adding = AccountAddCommand.helpMessage(columns: 80)
        let editing = AccountEditCommand.helpMessage(columns: 80)
        #expect(adding.contains("--\(setting.option)"))
        // 'account edit --register' registers another client, and so changes more than this setting.
        let isEditable = setting.change != .none || setting.name == "selfRegistered"
        #expect(editing.contains("  --\(setting.option) ") == isEditable)
        #expect(AccountEditCommand.clearable.contains(setting.option) == (setting.change == .any))
    }

    @Test func `the help of account edit lists everything that can be cleared`() throws {
        let discussion = AccountEditCommand.configuration.discussion.replacing("\n", with: " ")
        let list = try #require(discussion.firstMatch(of: /--clear empties a setting: ([^.]+)\./)).1
        let listed = list.split(separator: ",").map { $0.trimmingPrefix(" ") }.map(String.init)
        #expect(listed.sorted() == AccountEditCommand.clearable.sorted())
    }

    @Test func `every command takes --socket`() {
        for command in Self.commands where command.configuration.subcommands.isEmpty {
            #expect(command.helpMessage(columns: 80).contains("--socket"), "\(command)")
        }
    }

    @Test func `all commands are checked`() {
        #expect(Self.commands.count >= 20)
    }
}
