import AuthRefreshInterface
import Foundation
import Testing

@testable import authctl

@Suite struct SettingsFileTests {
    private func read(_ account: String) throws -> DescribedAccount {
        try #require(SettingsFile(Array("{\"accounts\":[\(account)]}".utf8)).accounts.first)
    }

    private func message(_ account: String) -> String {
        do {
            _ = try read(account)
            return ""
        } catch {
            return (error as? Report)?.message ?? "\(error)"
        }
    }

    /// JSON of each kind that a setting may have.
    private static let values = [#""text""#, #"["one","two"]"#, #"{"a":"b"}"#, "true", "3600"]

    @Test(arguments: Setting.all.map(\.name))
    func `a setting is read back as it was written, and has one kind`(name: String) throws {
        let setting = try #require(Setting.named(name))
        let fitting = try Self.values.filter { value in
            let account = #"{"name":"work","\#(name)":\#(value)}"#
            guard message(account).isEmpty else {
                #expect(message(account) == "'work', \(name): this must be \(setting.expected)")
                return false
            }
            let settings = try read(account).settings
            #expect(settings[setting] != nil)
            let written = WireText.encodeIndented(["accounts": [settings]])
            var again = try #require(SettingsFile(Array(written.utf8)).accounts.first).settings
            if again.clientId == "" { again.clientId = nil }
            #expect(again == settings)
            return true
        }
        #expect(fitting.count == 1, "\(fitting)")
    }

    @Test func `an absent setting is not set, and null is the same`() throws {
        let settings = try read(#"{"name":"work","scopes":null,"leadTimeSec":null}"#).settings
        #expect(settings == AccountSettings(name: "work"))
    }

    @Test(arguments: ["9223372036854775808", "1.5", "-1e400", "\"3600\"", "[]", "{}"])
    func `a number that is none is refused`(value: String) {
        #expect(message(#"{"name":"work","leadTimeSec":\#(value)}"#).hasPrefix("'work', leadTimeSec: this must be"))
    }

    @Test(arguments: [
        #"{"accounts":1}"#, #"{"accounts":[1]}"#, #"{"accounts":{}}"#, "[]", "1", "{", #"{"accounts":[{"name":1}]}"#,
    ])
    func `a file of another form is refused`(file: String) {
        #expect(throws: Report.self) { try SettingsFile(Array(file.utf8)) }
    }
}
