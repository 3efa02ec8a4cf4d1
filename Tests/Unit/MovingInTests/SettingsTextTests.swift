@testable import authimport
import TestSupport
import Testing

/// The file of `authctl apply` as JSON.
struct SettingsTextTests {
    @Test(arguments: [
        // JSON stays as it is.
        (#"{"name": "a\u00e4"}"#, #"{"name": "a\u00e4"}"#),
        // YAML in flow style looks like JSON, and has other escapes.
        (#"{"name": "id\x2dof\_me"}"#, #"{"name":"id-of\#u{A0}me"}"#),
        ("name: id-of-me", #"{"name":"id-of-me"}"#),
    ]) func `a text is JSON only with JSON's escapes, and YAML otherwise`(text: String, json: String) throws {
        let folder = try TemporaryFolder()
        #expect(try SettingsText(folder.write(text, to: "accounts")).json == json)
    }
}
