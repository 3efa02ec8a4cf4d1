import Testing

@testable import authctl

struct TokenFileNameTests {
    @Test func `a token file without a name gets the account's`() {
        for (typed, meant) in [
            ("account edit work --token-file", "account edit work --token-file work"),
            ("account edit work --token-file --json", "account edit work --token-file work --json"),
            ("account add work --token-file --client-id c", "account add work --token-file work --client-id c"),
            ("account edit work --token-file w", "account edit work --token-file w"),
            ("account edit work --token-file=w", "account edit work --token-file=w"),
            ("account edit --token-file", "account edit --token-file"),
            ("account show work --token-file", "account show work --token-file"),
            ("token --token-file", "token --token-file"),
        ] {
            let words = typed.split(separator: " ").map(String.init)
            #expect(SettingsOptions.nameTokenFile(in: words).joined(separator: " ") == meant)
        }
    }
}
