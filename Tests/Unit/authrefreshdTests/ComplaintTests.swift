import AuthRefreshInterface
import Basics
import Foundation
import TestSupport
import Testing
import Varlink

@testable import authrefreshd

/// The daemon's refusals of calls. `Tests/Tools/texts` checks the form of their texts.
struct ComplaintTests {
    @Test func `a complaint becomes an error of the interface, with its text`() throws {
        let setting = Complaint(field: "redirectPort", "it is not a port", hint: "1 to 65535").error
        #expect(setting.name == InvalidSettingsError.name)
        let parameters = String(decoding: setting.parameters, as: UTF8.self)
        for part in [#""field":"redirectPort""#, #""reason":"it is not a port""#, #""hint":"1 to 65535""#] {
            #expect(parameters.contains(part), "\(parameters)")
        }
    }

    @Test func `every field of a complaint is a setting, a part of one, or a parameter of a call`() throws {
        let interface = try SourceTree.text("Sources/AuthRefreshInterface/io.authrefresh.varlink")
        var fields: Set<Substring> = []
        for (name, text) in try PageSources.daemonSources() {
            for field in text.matches(of: /\bfield: "(\w+)"/) {
                fields.insert(field.1)
                #expect(interface.contains("\(field.1):"), "\(name): \(field.1)")
            }
        }
        #expect(fields.count > 30)
    }

    @Test func `a command in a text of the daemon is one of authctl's`() throws {
        let commands = try PageSources.commands()
        var count = 0
        for (name, text) in try PageSources.daemonSources() {
            for command in text.matches(of: /\bCommand\((?:words: \[)?"([a-z]+)"(?:, "([a-z]+)")?/) {
                count += 1
                let first = String(command.1)
                let words = ["account", "store"].contains(first) ? [first, command.2.map(String.init) ?? ""] : [first]
                #expect(commands.contains(words.map(\.capitalized).joined()), "\(name): \(command.0)")
            }
        }
        #expect(count > 40)
    }
}
