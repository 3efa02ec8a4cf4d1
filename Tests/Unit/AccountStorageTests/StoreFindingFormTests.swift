import AccountStorage
import Basics
import RefreshCore
import TestSupport
import Testing

/// Holds every finding of `authctl store check` to the form: what is wrong, on what; then what to do.
@Suite struct StoreFindingFormTests {
    private static let findings: [StoreFinding] = [
        .file(path: "/s/a", verdict: "row 3 missing from index"), .unreadable(path: "/s/a", .corrupt(path: "/s/a")),
        .schema(path: "/s/a", name: "accounts", .missing), .schema(path: "/s/a", name: "accounts", .altered),
        .schema(path: "/s/a", name: "accounts", .unknown), .orphans(path: "/s/a", table: "tokens", count: 2),
        .counts(path: "/s/a"), .tooOpen(path: "/s/a", mode: 0o644), .key(.keyMissing(path: "/s/store-key")),
        .damaged(name: "work", .damagedRow(AccountID(1), column: "phase", .unknownWord)),
        .sealBroken(name: "work", .sealBroken(AccountID(1), column: .refreshToken)),
        .sealBroken(name: "work", .sealBroken(AccountID(1), column: .accessToken)), .targetDamaged(name: "work"),
        .unknownToken(name: "work"), .refreshTokenMissing(name: "work", Generation(2)),
        .deadlineMissing(name: "a b"), .deadlineTooFar(name: "work"), .stillAside(name: "work"),
    ]

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    private static func name(_ finding: StoreFinding) -> String {
        switch finding {
        case .file: "file"
        case .unreadable: "unreadable"
        case .schema: "schema"
        case .orphans: "orphans"
        case .counts: "counts"
        case .tooOpen: "tooOpen"
        case .key: "key"
        case .damaged: "damaged"
        case .sealBroken: "sealBroken"
        case .targetDamaged: "targetDamaged"
        case .unknownToken: "unknownToken"
        case .refreshTokenMissing: "refreshTokenMissing"
        case .deadlineMissing: "deadlineMissing"
        case .deadlineTooFar: "deadlineTooFar"
        case .stillAside: "stillAside"
        }
    }

    @Test func `every finding is one plain line, and says what to do`() {
        for finding in Self.findings {
            #expect(MessageForm.flaws(ofMessage: finding.summary, names: ["SQLite", "2 rows"]) == [])
            #expect(MessageForm.flaws(of: finding.hint.text) == [])
        }
        #expect(Set(Self.findings.map(Self.name)).count == 15)
    }
}
