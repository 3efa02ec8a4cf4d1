import AuthRefreshInterface
import Basics
import Foundation
import Glibc
import Testing

@testable import authctl

@Suite struct ReportTests {
    /// A report of each kind that a command branches on, and of each that stands at more than one place.
    static let rows: [(Report, Basics.ExitStatus)] = [
        (.usage("no file to import is named", hint: "see '\(Command("account", "import", "--help"))'"), .usage),
        (.secretAsArgument("--password"), .usage), (.unreadable(.refreshToken, errno: EACCES), .notPermitted),
        (.unreadable(.refreshToken, errno: EIO), .badData), (.empty(.clientSecret), .badData),
        (.tooLong(.document), .badData), (.notOneLine(.document), .badData), (.notOneLine(.clientKey), .badData),
        (.noTerminal(.document), .usage), (.brokenJSON, .badData),
        (.cannotCreateFile(path: "f", errno: EACCES), .notPermitted),
        (.cannotCreateFile(path: "f", errno: ENOSPC), .tryAgainLater),
        (.cannotCreateFile(path: "f", errno: EFBIG), .tryAgainLater),
        (.cannotCreateFile(path: "f", errno: EEXIST), .usage),
        (.cannotReadBackup("input/output error"), .tryAgainLater),
        (Report(.notRunning(path: "s", errno: ECONNREFUSED), patience: 1), .unavailable),
        (Report(.permissionDenied(path: "s"), patience: 1), .notPermitted),
        (Report(.otherUser(path: "s", uid: 1), patience: 1), .notPermitted),
        (Report(.unusablePath(path: ""), patience: 1), .usage), (.ended, .unavailable),
        (.noAnswer(seconds: 30), .tryAgainLater), (.unreadableReply, .badData),
        (.noPortal, .misconfigured), (.portalFailed, .misconfigured),
        (.noSuchBrowser("the browser is missing", hints: ["h"]), .misconfigured),
        (.noPrivateWindow("there is no display here", hints: []), .misconfigured),
        (ErrorReply(name: SignedOutError.name, parameters: #"{"account":"a","hint":"h"}"#).report, .signedOut),
        (
            .notFresh(AccountStatus(account: "a", state: "signed-out", issuer: "i", generation: 1, failures: 0)),
            .signedOut
        ),
        (Report.noAnswer(seconds: 30).following("'a' was added"), .tryAgainLater), (.cancelled, .cancelled),
    ]

    @Test(arguments: rows.indices)
    func `a failure has its exit status and one line in our format`(index: Int) {
        let (report, status) = Self.rows[index]
        #expect(report.status == status, "\(report)")
        #expect(report.message.first?.isUppercase == false, "\(report)")
        #expect(!report.message.hasSuffix("."), "\(report)")
        let hints = report.text(TerminalStyle()).split(separator: "\n").dropFirst()
        #expect(hints.allSatisfy { $0.hasPrefix("authctl: hint: ") })
    }

    @Test(arguments: [EEXIST, EACCES, EPERM, EROFS, ENOSPC, EDQUOT, EFBIG, ENOENT, ENOTDIR])
    func `a file that cannot be written comes with what helps`(number: Int32) {
        let report = Report.cannotCreateFile(path: "f", errno: number)
        #expect(report.hints.count == 1)
    }

    @Test func `a full disk and a limit on files each have a hint of their own, also for standard output`() {
        for number in [ENOSPC, EFBIG] {
            let hints = StandardOutput.cannotWrite(number).hints
            #expect(hints == Report.cannotCreateFile(path: "f", errno: number).hints)
            #expect(hints.first?.text.contains("ulimit -f") == (number == EFBIG))
        }
    }

    @Test func `a change is reported together with a later failure`() {
        let refusal = ErrorReply(name: SignedOutError.name, parameters: #"{"account":"work","hint":"do this"}"#)
        let error = refusal.report.following("'work' was added")
        #expect(error.status == .signedOut)
        let told = "authctl: error: 'work' was added, but 'work' is signed out\nauthctl: hint: do this\n"
        #expect(error.text(TerminalStyle()) == told)
        #expect(
            error.json == #"""
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
        #expect(error.json.split(separator: "\n").count == 1)
        let told = try JSONDecoder().decode(Told.self, from: Data(error.json.utf8))
        #expect(told.error.contains("."))
        #expect(told.exitStatus == error.status.rawValue)
        let hints = told.hints.map { Hint($0) }
        let read = Report(status: error.status, name: told.error, message: told.message, hints: hints)
        #expect(read.text(TerminalStyle()) == error.text(TerminalStyle()))
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
        #expect(Report.reported(.signedOut).text(TerminalStyle()) == "")
    }
}
