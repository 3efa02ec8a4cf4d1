import AuthRefreshInterface
import CommandLineProgram
import Foundation
import Glibc
import Terminal
import Testing

@testable import authctl

@Suite struct AuthctlErrorTests {
    static let rows: [(AuthctlError, CommandLineProgram.ExitStatus)] = [
        (.secretAsArgument(option: "--password"), .usage),
        (.unknownCommand(suggestion: nil, helpCommand: "authctl --help"), .usage),
        (.usage(.noFileToImport), .usage),
        (.secretFile(.noSuchFile(purpose: .refreshToken)), .usage),
        (.secretFile(.unreadable(purpose: .refreshToken, errno: EACCES)), .notPermitted),
        (.secretFile(.unreadable(purpose: .refreshToken, errno: EIO)), .badData),
        (.secretFile(.isDirectory(purpose: .clientSecret)), .usage),
        (.secretFile(.empty(purpose: .clientSecret)), .badData),
        (.secretFile(.tooLong(purpose: .document)), .badData),
        (.secretFile(.notOneLine(purpose: .document)), .badData),
        (.secretFile(.notForTerminal(purpose: .document)), .usage),
        (.secretFile(.noTerminal(purpose: .document)), .usage),
        (.unusableDocument(.brokenJSON), .badData),
        (.wrongIssuer(message: "another", hints: []), .badData),
        (.noJournal(reason: "none"), .daemonUnreachable),
        (.secretsToTerminal, .usage),
        (.cannotCreateFile(path: "f", errno: EACCES), .notPermitted),
        (.cannotCreateFile(path: "f", errno: ENOSPC), .tryAgainLater),
        (.cannotCreateFile(path: "f", errno: EFBIG), .tryAgainLater),
        (.cannotCreateFile(path: "f", errno: EEXIST), .usage),
        (.cannotWriteOutput(errno: ENOSPC), .tryAgainLater),
        (.cannotReadBackup(reason: "input/output error"), .tryAgainLater),
        (.cannotReadBackup(reason: "none", .badData), .badData),
        (.connection(.unreachable(socket: "s", errno: ECONNREFUSED)), .daemonUnreachable),
        (.connection(.notPermitted(socket: "s")), .notPermitted),
        (.connection(.otherUser(socket: "s", uid: 1)), .notPermitted),
        (.connection(.pathTooLong(socket: "s")), .usage),
        (.connection(.unusablePath(socket: "")), .usage),
        (.connection(.ended), .daemonUnreachable),
        (.connection(.noAnswer(seconds: 30)), .tryAgainLater),
        (.connection(.endedAndThen(.noAnswer(seconds: 30))), .tryAgainLater),
        (.connection(.endedAndThen(.unreachable(socket: "s", errno: ENOENT))), .daemonUnreachable),
        (.connection(.unreadableReply), .badData),
        (.signOutFailed(account: "a", step: "revoke", reason: "s"), .tryAgainLater),
        (.cannotStart(.agent, path: "/p", errno: ENOENT), .misconfigured),
        (.cannotRunCommand(name: "c", errno: ENOENT), .commandNotFound),
        (.cannotRunCommand(name: "c", errno: EACCES), .cannotRunCommand),
        (.boundToken(account: "a"), .misconfigured),
        (.cannotStartSSH(errno: ENOENT), .misconfigured),
        (.noPortal, .misconfigured), (.portalFailed, .misconfigured),
        (.noSuchBrowser(message: "the browser is missing", hints: ["h"]), .misconfigured),
        (.noPrivateWindow(.noDisplay), .usage),
        (.noContext(cause: .noPrivateWindow(.noDisplay)), .misconfigured),
        (.callbackIsError(code: "access_denied"), .notPermitted),
        (.noPrivateWindow(.unknownDefault(name: "surf")), .usage),
        (.noPrivateWindow(.noneInstalled(names: ["Firefox"])), .usage),
        (.noPrivateWindow(.noPlaceForProfile), .usage),
        (.refused(Refusal(name: SignedOutError.name, parameters: #"{"account":"a","hint":"h"}"#)), .signedOut),
        (.nameTaken(Refusal(name: AccountExistsError.name, parameters: #"{"account":"a"}"#)), .usage),
        (
            .notFresh(AccountStatus(account: "a", state: "signed-out", issuer: "i", generation: 1, failures: 0)),
            .signedOut
        ),
        (.keptButNotFresh(done: "'a' was added", cause: .connection(.noAnswer(seconds: 30))), .tryAgainLater),
        (.cancelled, .cancelled),
    ]

    /// Does not compile if an error has been added; add a row above, then the case here.
    private static func kind(_ error: AuthctlError) -> String {
        switch error {
        case .secretAsArgument: "secretAsArgument"
        case .unknownCommand: "unknownCommand"
        case .usage: "usage"
        case .secretFile: "secretFile"
        case .unusableDocument: "unusableDocument"
        case .wrongIssuer: "wrongIssuer"
        case .secretsToTerminal: "secretsToTerminal"
        case .cannotCreateFile: "cannotCreateFile"
        case .cannotWriteOutput: "cannotWriteOutput"
        case .cannotReadBackup: "cannotReadBackup"
        case .noJournal: "noJournal"
        case .connection: "connection"
        case .refused: "refused"
        case .nameTaken: "nameTaken"
        case .notFresh: "notFresh"
        case .keptButNotFresh: "keptButNotFresh"
        case .signOutFailed: "signOutFailed"
        case .reported: "reported"
        case .cannotStart: "cannotStart"
        case .cannotRunCommand: "cannotRunCommand"
        case .boundToken: "boundToken"
        case .cannotStartSSH: "cannotStartSSH"
        case .noPrivateWindow: "noPrivateWindow"
        case .noPortal: "noPortal"
        case .portalFailed: "portalFailed"
        case .noSuchBrowser: "noSuchBrowser"
        case .noContext: "noContext"
        case .callbackIsError: "callbackIsError"
        case .cancelled: "cancelled"
        }
    }

    @Test func `every error but the one that says nothing has a row`() {
        #expect(Set(Self.rows.map { Self.kind($0.0) }).count == 28)
        #expect(!Self.rows.contains { Self.kind($0.0) == "reported" })
    }

    @Test(arguments: rows.indices)
    func `a failure has its exit status and one line in our format`(index: Int) {
        let (error, status) = Self.rows[index]
        let report = error.report
        #expect(report.status == status, "\(error)")
        #expect(report.message.first?.isUppercase == false, "\(error)")
        #expect(!report.message.hasSuffix("."), "\(error)")
        let hints = report.text(TerminalStyle()).split(separator: "\n").dropFirst()
        #expect(hints.allSatisfy { $0.hasPrefix("authctl: hint: ") })
    }

    @Test(arguments: [EEXIST, EACCES, EPERM, EROFS, ENOSPC, EDQUOT, EFBIG, ENOENT, ENOTDIR])
    func `a file that cannot be written comes with what helps`(number: Int32) {
        let report = AuthctlError.cannotCreateFile(path: "f", errno: number).report
        #expect(report.hints.count == 1)
    }

    @Test func `a full disk and a limit on files each have a hint of their own, also for standard output`() {
        for number in [ENOSPC, EFBIG] {
            let hints = AuthctlError.cannotWriteOutput(errno: number).report.hints
            #expect(hints == AuthctlError.cannotCreateFile(path: "f", errno: number).report.hints)
            #expect(hints.first?.contains("ulimit -f") == (number == EFBIG))
        }
    }

    @Test func `a change is reported together with a later failure`() {
        let refusal = Refusal(name: SignedOutError.name, parameters: #"{"account":"work","hint":"do this"}"#)
        let error = AuthctlError.keptButNotFresh(done: "'work' was added", cause: .refused(refusal))
        #expect(error.report.status == .signedOut)
        let told = "authctl: error: 'work' was added, but 'work' is signed out\nauthctl: hint: do this\n"
        #expect(error.report.text(TerminalStyle()) == told)
        #expect(
            error.json() == #"""
                {"error":"io.authrefresh.SignedOut","exitStatus":5,"hints":["do this"],\#
                "message":"'work' was added, but 'work' is signed out",\#
                "parameters":{"account":"work","hint":"do this"}}

                """#
        )
    }

    @Test(arguments: rows.indices)
    func `a failure as JSON has the same content as its lines`(index: Int) throws {
        struct Told: Decodable {
            let error: String
            let exitStatus: Int32
            let hints: [String]
            let message: String
        }
        let error = Self.rows[index].0
        #expect(error.json().split(separator: "\n").count == 1)
        let told = try JSONDecoder().decode(Told.self, from: Data(error.json().utf8))
        let report = error.report
        #expect(told.error.contains("."))
        #expect(told.exitStatus == report.status.rawValue)
        let read = Report(status: report.status, message: told.message, hints: told.hints)
        #expect(read.text(TerminalStyle()) == report.text(TerminalStyle()))
    }

    @Test(
        arguments: [
            (["authctl", "status", "--json"], true), (["authctl", "token", "w", "--format=json"], true),
            (["authctl", "token", "--format", "json", "w"], true), (["authctl", "status"], false),
            (["authctl", "status", "--", "--json"], false), (["authctl", "token", "json"], false),
            (["authctl", "status", "--bogus", "--json"], true),
        ] as [([String], Bool)]
    )
    func `errors are JSON whenever --json was given`(arguments: [String], isJSON: Bool) {
        #expect(StandardError.asksForJSON(arguments) == isJSON)
    }

    @Test func `a reported failure is not reported again`() {
        #expect(AuthctlError.reported(.signedOut).report.text(TerminalStyle()) == "")
    }
}
