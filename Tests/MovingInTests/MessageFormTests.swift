import MovingIn
import TestSupport
import Testing

/// Holds every text of `Messages.swift` to the form.
@Suite struct MessageFormTests {
    private static let formats: [ExpectedFormat] = [
        .oidcAgentAccount, .muttToken, .muttScript, .pizauthConfiguration, .gcloudCredentials, .azureTokenCache,
        .rcloneConfiguration, .rcloneToken(remote: "drive"), .kubeloginCache, .kubeconfig, .accountAsBefore("work"),
        .tokensAsBefore,
    ]

    private static let notes: [MovingNote] =
        SourceProgram.allCases.map(MovingNote.noRefreshToken) + [
            .settingsOnly(account: "work"), .serverUnreadable,
            .issuerGuessed("https://as.example", endpoint: "https://as.example/token"),
            .issuerGuessedFromHost("as.example"), .noProfile(kind: "pcloud"), .clientUnknown, .builtInClient,
            .scopesUnknown, .certificateAuthority, .audience("grid", account: "work"), .quotaProject("lab"),
        ]

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    private static func name(_ format: ExpectedFormat) -> String {
        switch format {
        case .oidcAgentAccount: "oidcAgentAccount"
        case .muttToken: "muttToken"
        case .muttScript: "muttScript"
        case .pizauthConfiguration: "pizauthConfiguration"
        case .gcloudCredentials: "gcloudCredentials"
        case .azureTokenCache: "azureTokenCache"
        case .rcloneConfiguration: "rcloneConfiguration"
        case .rcloneToken: "rcloneToken"
        case .kubeloginCache: "kubeloginCache"
        case .kubeconfig: "kubeconfig"
        case .accountAsBefore: "accountAsBefore"
        case .tokensAsBefore: "tokensAsBefore"
        }
    }

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    private static func name(_ note: MovingNote) -> String {
        switch note {
        case .noRefreshToken: "noRefreshToken"
        case .settingsOnly: "settingsOnly"
        case .serverUnreadable: "serverUnreadable"
        case .issuerGuessed: "issuerGuessed"
        case .issuerGuessedFromHost: "issuerGuessedFromHost"
        case .noProfile: "noProfile"
        case .clientUnknown: "clientUnknown"
        case .builtInClient: "builtInClient"
        case .scopesUnknown: "scopesUnknown"
        case .certificateAuthority: "certificateAuthority"
        case .audience: "audience"
        case .quotaProject: "quotaProject"
        }
    }

    @Test func `what was expected, and how a file is decrypted, is one plain line`() {
        for text in Self.formats.map(\.text) + DecryptionHint.allCases.map(\.text) {
            #expect(MessageForm.flaws(ofMessage: text) == [])
        }
    }

    @Test func `a note has whole sentences, or ends with a command`() {
        for text in Self.notes.map(\.text) {
            let body = text.hasSuffix(".") ? String(text.dropLast()) : text
            #expect(MessageForm.flaws(of: body) == [])
            #expect(text.hasSuffix(".") || text.contains(": authctl "), "\(text)")
        }
    }

    @Test func `no text is without a sample`() {
        #expect(Set(Self.formats.map(Self.name)).count == 12)
        #expect(Set(Self.notes.map(Self.name)).count == 12)
    }
}
