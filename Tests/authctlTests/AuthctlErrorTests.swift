import Glibc
import Testing

@testable import authctl

@Suite struct AuthctlErrorTests {
    static let rows: [(AuthctlError, authctl.ExitStatus)] = [
        (.secretAsArgument(option: "--password"), .usage),
        (.unknownCommand(suggestion: nil, helpCommand: "authctl --help"), .usage),
        (.usage(message: "wrong", hint: nil), .usage),
        (.secretFile(.noSuchFile(purpose: .refreshToken)), .usage),
        (.secretFile(.unreadable(purpose: .refreshToken, errno: EACCES)), .notPermitted),
        (.secretFile(.unreadable(purpose: .refreshToken, errno: EIO)), .badData),
        (.secretFile(.isDirectory(purpose: .clientSecret)), .usage),
        (.secretFile(.empty(purpose: .clientSecret)), .badData),
        (.secretFile(.tooLong(purpose: .document)), .badData),
        (.secretFile(.notOneLine(purpose: .document)), .badData),
        (.secretFile(.noTerminal(purpose: .document)), .usage),
        (.unusableDocument(message: "broken", hint: nil), .badData),
        (.secretsToTerminal, .usage),
        (.cannotCreateFile(path: "f", errno: EACCES), .notPermitted),
        (.cannotCreateFile(path: "f", errno: ENOSPC), .tryAgainLater),
        (.cannotCreateFile(path: "f", errno: EEXIST), .usage),
        (.cannotWriteOutput(errno: ENOSPC), .tryAgainLater),
        (.cannotReadBackup(errno: EIO), .tryAgainLater),
        (.connection(.unreachable(socket: "s", errno: ECONNREFUSED)), .daemonUnreachable),
        (.connection(.notPermitted(socket: "s")), .notPermitted),
        (.connection(.pathTooLong(socket: "s")), .usage),
        (.connection(.ended), .daemonUnreachable),
        (.connection(.noAnswer(seconds: 30)), .tryAgainLater),
        (.connection(.unreadableReply), .badData),
        (.notRevoked(account: "a", summary: "s"), .tryAgainLater),
        (.cancelled, .cancelled),
    ]

    @Test(arguments: rows.indices)
    func `a failure has its exit status and one line in our form`(index: Int) {
        let (error, status) = Self.rows[index]
        let report = error.report
        #expect(report.status == status, "\(error)")
        #expect(report.message.first?.isUppercase == false, "\(error)")
        #expect(!report.message.hasSuffix("."), "\(error)")
        #expect(report.text.split(separator: "\n").dropFirst().allSatisfy { $0.hasPrefix("authctl: hint: ") })
    }

    @Test func `a change that was made is told together with what failed after it`() {
        let cause = Report(status: .interactionRequired, message: "the grant has ended", hints: ["do this"])
        let report = AuthctlError.keptButNotFresh(done: "'work' was added", cause: cause).report
        #expect(report.status == .interactionRequired)
        #expect(report.text == "authctl: error: 'work' was added, but the grant has ended\nauthctl: hint: do this\n")
    }

    @Test func `what has been told already is not told again`() {
        #expect(AuthctlError.reported(.signedOut).report.text == "")
    }
}
