internal import AuthRefreshInterface

/// Input that a helper may get instead of its tool's question.
enum HostileInput: String, CaseIterable, Sendable {
    case noLineBreak = "no line break at the end"
    case nothing = "nothing"
    case closed = "closed"
    case nul = "a NUL byte"
    case binary = "binary data"
    case longLine = "a line of 10 MB"
    case controls = "control characters in the address"
    case carriageReturns = "CR LF"
    case word = "a word"

    /// The bytes on standard input; nil if it is closed.
    ///
    /// - Parameters:
    ///   - question: what a tool would send, with the host in it.
    func bytes(insteadOf question: String, host: String) -> [UInt8]? {
        switch self {
        case .noLineBreak: Array(question.utf8.reversed().drop { $0 == UInt8(ascii: "\n") }.reversed())
        case .nothing: []
        case .closed: nil
        case .nul: Array(question.replacing(host, with: "\0\(host)").utf8)
        case .binary: Array(question.utf8) + (UInt8(1)...UInt8.max)
        case .longLine: Array(question.utf8) + [UInt8](repeating: UInt8(ascii: "a"), count: 10_000_000)
        case .controls: Array(question.replacing(host, with: "\u{1b}]0;x\u{7}\(host)").utf8)
        case .carriageReturns: Array(question.replacing("\n", with: "\r\n").utf8)
        case .word: Array("hello\n".utf8)
        }
    }
}

extension HostileInput {
    /// The same for a socket with calls in JSON, each followed by a NUL; nil if this input is harmless there.
    var onForwardedSocket: String? {
        switch self {
        case .noLineBreak, .closed, .binary, .carriageReturns: nil
        case .nothing: ""
        case .nul: String(repeating: "\0", count: 1000)
        case .longLine: String(repeating: "a", count: 10_000_000)
        case .controls: #"{"method":"\#u{1b}]0;x\#u{7}"}"# + "\0"
        case .word: "hello\0"
        }
    }
}

/// A program that reads standard input, and what it must do with input that no tool sends.
struct HostileRow: Sendable {
    let integration: Integration
    let words: @Sendable (IntegrationUse) -> [String]
    let question: @Sendable (IntegrationUse) -> String
    let verdicts: [HostileInput: Integration.Verdict]
}

extension HostileRow {
    static let all = [gitGet, gitStore, gitErase, dockerGet, dockerStore, dockerErase, exec]

    private static let notText = "standard input is not text"
    private static let tooLong = "standard input is longer than 65536 bytes"
    private static let unreadable = "standard input cannot be read"
    private static let noServer = "no credentials server URL"

    private static func row(
        _ integration: Integration,
        _ words: [String],
        question: @escaping @Sendable (IntegrationUse) -> String,
        _ verdicts: [HostileInput: Integration.Verdict]
    ) -> HostileRow {
        HostileRow(integration: integration, words: { _ in words }, question: question, verdicts: verdicts)
    }

    /// If git could not have sent the input, the helper reports that and answers nothing. git then asks its next
    /// helper.
    private static let gitVerdicts: [HostileInput: Integration.Verdict] = [
        .noLineBreak: .answer, .nothing: .silence, .controls: .silence, .carriageReturns: .answer,
        .closed: .refusal(65, unreadable, isFound: false), .nul: .refusal(65, notText, isFound: false),
        .binary: .refusal(65, notText, isFound: false), .longLine: .refusal(65, tooLong, isFound: false),
        .word: .refusal(65, "no 'key=value' in line 1", isFound: false),
    ]

    private static let gitGet = row(
        .gitGet,
        ["git-credential", "get"],
        question: { Integration.gitQuestion($0) },
        gitVerdicts
    )

    private static let gitStore = row(
        .gitStore,
        ["git-credential", "store"],
        question: { Integration.gitQuestion($0, password: $0.tokens.access.accessToken) },
        Dictionary(uniqueKeysWithValues: HostileInput.allCases.map { ($0, .silence) })
    )

    private static let gitErase = row(
        .gitErase,
        ["git-credential", "erase"],
        question: { Integration.gitQuestion($0, password: $0.tokens.access.accessToken) },
        gitVerdicts
    )

    private static let dockerVerdicts: [HostileInput: Integration.Verdict] = [
        .noLineBreak: .answer, .carriageReturns: .answer,
        .nothing: .refusal(1, noServer), .closed: .refusal(1, unreadable), .nul: .refusal(1, notText),
        .binary: .refusal(1, notText), .longLine: .refusal(1, tooLong),
        .controls: .refusal(1, "credentials not found in native keychain"),
        .word: .refusal(1, "credentials not found in native keychain"),
    ]

    private static let dockerGet = row(
        .dockerGet,
        ["docker-credential", "get"],
        question: { "\($0.host)\n" },
        dockerVerdicts
    )

    private static let dockerStore = row(
        .dockerStore,
        ["docker-credential", "store"],
        question: { Integration.dockerAnswer($0) + "\n" },
        dockerVerdicts.merging([
            .nothing: .refusal(1, "no ServerURL and Secret"), .word: .refusal(1, "no ServerURL and Secret"),
            .controls: .refusal(1, "no ServerURL and Secret"),
        ]) { $1 }
    )

    private static let dockerErase = row(
        .dockerErase,
        ["docker-credential", "erase"],
        question: { "\($0.host)\n" },
        dockerVerdicts.merging([.controls: .silence, .word: .silence]) { $1 }
    )

    /// Its standard input is the command's.
    private static let exec = HostileRow(
        integration: .execCommand,
        words: { ["exec", $0.target, "--env", "T", "--", "/usr/bin/cksum"] },
        question: { "\($0.host)\n" },
        verdicts: Dictionary(uniqueKeysWithValues: HostileInput.allCases.map { ($0, .answer) })
            .merging([.closed: .leftOut("the command finds it closed, as without authctl")]) { $1 }
    )
}
