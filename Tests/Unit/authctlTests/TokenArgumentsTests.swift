import ArgumentParser
import Testing

@testable import authctl

/// The arguments of `authctl token` are read in two ways. Both must agree.
@Suite struct TokenArgumentsTests {
    /// The arguments of mail clients and scripts. All of them must be accepted by the short way.
    static let usual: [[String]] = [
        ["token", "work"],
        ["token", "work", "--force"],
        ["token", "--force", "work"],
        ["token", "work", "--min-validity", "60s"],
        ["token", "work", "--min-validity=90d"],
        ["token", "--min-validity", "300", "work"],
        ["token", "work", "--format", "header"],
        ["token", "work", "--format=json", "--force"],
        ["token", "work", "--socket", "/run/s", "--format", "raw"],
        [
            "token", "work", "--scope", "mail.read mail.send", "--scope=offline_access", "--resource",
            "https://api.example/",
        ],
        ["token", "--audience=https://api.example/?a=b", "--resource=urn:a", "--resource=urn:b", "work", "--force"],
        ["token", "work", "--json"], ["token", "--json", "work", "--force"], ["token", "work", "--format", "env"],
        ["token", "work", "--format", "xoauth2", "--user", "you@example.org"],
        ["token", "you@example.org", "--format=oauthbearer", "--user=a,b"],
        ["token", "--socket=/run/s=x", "a.b@c+d-e_f", "--min-validity", "1h", "--force", "--format=header"],
    ]

    static let unusual: [[String]] = [
        [], ["token"], ["status"], ["token", "--help"], ["token", "-h", "work"], ["token", "a", "b"], ["token", ""],
        ["token", "work", "--force=yes"], ["token", "work", "--min-validity"],
        ["token", "work", "--min-validity", "-5"],
        ["token", "work", "--min-validity", "soon"], ["token", "work", "--min-validity="], ["token", "--", "work"],
        ["token", "work", "--format", "xml"], ["token", "work", "--format", "raw", "--format", "json"],
        ["token", "work", "--force", "--force"], ["token", "work", "--socket"],
        ["token", "work", "--socket", "--force"],
        ["token", "work", "--scope", " "], ["token", "work", "--audience", "a", "--audience", "b"],
        ["token", "work", "--resource="], ["token", "work", "--scope"],
        ["token", "work", "--secret", "x"], ["token", "-x", "work"],
        ["token", "work", "--min-validity", "5m", "extra"],
        ["token", "work", "--json", "--format", "json"], ["token", "work", "--format", "raw", "--json"],
        ["token", "work", "--user", "a", "--user", "b"], ["token", "work", "--user="],
        ["--version"], ["help", "token"], ["token", "work", "--min-validity", "9223372036854775807d"],
    ]

    @Test(arguments: usual)
    func `usual arguments are read by hand with the parser's meaning`(arguments: [String]) throws {
        let short = try #require(TokenRequest(arguments: arguments))
        let parsed = try #require(try AuthctlCommand.parseAsRoot(arguments) as? TokenCommand)
        #expect(short == parsed.request(for: parsed.account ?? ""))
    }

    @Test(arguments: unusual)
    func `unusual arguments are left to the parser`(arguments: [String]) {
        #expect(TokenRequest(arguments: arguments) == nil)
    }

    /// All sequences of up to four of these words after "token": 11 + 11² + 11³ + 11⁴.
    @Test func `whatever is read by hand, the parser reads with the same meaning`() throws {
        let words = [
            "work", "b", "--force", "--min-validity", "--min-validity=5m", "60s", "--format", "header", "--socket=/s",
            "--json", "--",
        ]
        var accepted = 0
        var sequences: [[String]] = [["token"]]
        for _ in 0..<4 {
            sequences = sequences.flatMap { sequence in words.map { sequence + [$0] } }
            for arguments in sequences {
                guard let short = TokenRequest(arguments: arguments) else { continue }
                accepted += 1
                let parsed = try AuthctlCommand.parseAsRoot(arguments) as? TokenCommand
                #expect(parsed?.request(for: parsed?.account ?? "") == short, "\(arguments)")
            }
        }
        #expect(accepted > 100)
    }
}
