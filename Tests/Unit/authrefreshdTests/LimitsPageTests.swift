import AuthRefreshInterface
import Foundation
@testable import authimport
import OAuthClient
import OAuthMessages
@testable import authrefreshd
import RefreshCore
import TestSupport
import Testing
import Varlink

@testable import authctl

/// The page of limits agrees with the code, and names tests that exist.
struct LimitsPageTests {
    private struct Row {
        var limit: String
        var value: String
        /// How callers are told about the limit; nil if they are not.
        var told: String?
        var test: String
    }

    private func rows() throws -> [Row] {
        try PageSources.page("Limits").split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard line.hasPrefix("| `"), cells.count == 4 else { return nil }
            let told = cells[2].firstMatch(of: /told: `([A-Za-z]+)`/).map { String($0.1) }
            return Row(limit: cells[0].trimmingCharacters(in: ["`"]), value: cells[1], told: told, test: cells[3])
        }
    }

    private func text(_ value: Any) -> String {
        if let duration = value as? Duration { return "\(duration.components.seconds) s" }
        return "\(value)"
    }

    @Test func `systemd's socket has the same backlog as ours`() throws {
        let unit = try SourceTree.text("systemd/authrefreshd.socket")
        #expect(unit.split(separator: "\n").contains("Backlog=\(CallerLimits.server.backlog)"))
    }

    @Test func `every limit is on the page with its value, and no other`() throws {
        var expected = [
            "accountsMax": text(RefreshConfiguration().maxAccounts),
            "allowedCallersMax": text(CallerLimits.allowedCallersMax),
            "appliedAccountsMax": text(CallerLimits.appliedAccountsMax),
            "settingsBytesMax": text(CallerLimits.settingsBytesMax),
            "secretBytesMax": text(CallerLimits.secretBytesMax),
            "tokenMapBytesMax": text(TokenMap.bytesMax),
            "largestPage": text(Interface.largestPage),
            "subscribedAccountsMax": text(CallerLimits.subscribedAccountsMax),
            "pageBytesMax": text(CallerLimits.pageBytesMax),
            "presentPage": text(CallerLimits.presentPage),
            "fileBytesMax": text(CertificateAuthorities.fileBytesMax),
            "fileTimeLimit": text(CertificateAuthorities.fileTimeLimit),
            "fileReadsMax": text(CertificateAuthorities.fileReadsMax),
            "confirmationsMax": text(CallerLimits.confirmationsMax),
            "confirmationTime": text(CallerLimits.confirmationTime),
            "standingAnswersMax": text(CallerLimits.standingAnswersMax),
            "lookUpTime": text(CallerLimits.lookUpTime),
            "lookUpsMax": text(CallerLimits.lookUpsMax),
            "waitingBytesMax": text(JournalLogHandler.waitingBytesMax),
            "drainLimit": text(JournalLogHandler.drainLimit),
            "inputBytesMax": text(StandardInput.inputBytesMax),
            "sourceBytesMax": text(ImportLimit.sourceBytesMax),
            "movedAccountsMax": text(ImportLimit.movedAccountsMax),
            "jsonNestingMax": text(ImportLimit.jsonNestingMax),
            "jsonValuesMax": text(ImportLimit.jsonValuesMax),
            "depthMax": text(ServiceAddress.depthMax),
            "urlsMax": text(CallerLimits.urlsMax),
            "derivedAccountsMax": text(CallerLimits.derivedAccountsMax),
            "derivationsMax": text(CallerLimits.derivationsMax),
            "serverCallsMax": text(CallerLimits.serverCallsMax),
            "heldCallsMax": text(CallerLimits.server.heldCallsMax),
            "tokenSetsMax": text(TokenTarget.maximum),
            "tokenHoldsMax": text(TokenHolds.tokenHoldsMax),
            "tokenSetBytesMax": text(TokenTarget.longestText),
            "refusalLinesMax": text(CallerLimits.refusalLinesMax),
            "refusalSubjectsMax": text(CallerLimits.refusalSubjectsMax),
            "refusalStretch": text(CallerLimits.refusalStretch),
            "backupsMax": text(CallerLimits.backupsMax),
            "backupKept": text(CallerLimits.backupKept),
            "tokenFilesMax": text(CallerLimits.tokenFilesMax),
            "tokenFileTime": text(CallerLimits.tokenFileTime),
            "tokenFileRetry": text(CallerLimits.tokenFileRetry),
            "changeCommandsMax": text(CallerLimits.changeCommandsMax),
            "changesWaitingMax": text(CallerLimits.changesWaitingMax),
            "commandBytesMax": text(ChangeCommand.commandBytesMax),
            "commandTimeMax": text(ChangeCommand.commandTimeMax),
            "measuredAccountsMax": text(CallerLimits.measuredAccountsMax),
            "findingsMax": text(CallerLimits.findingsMax),
            "diagnosesMax": text(CallerLimits.diagnosesMax),
            "timeLimit": text(Waiter.timeLimit),
            "resourceBytesMax": text(ProtectedResource.resourceBytesMax),
            "resourceServersMax": text(ProtectedResource.resourceServersMax),
            "requestsMax": text(IssuerGates.requestsMax),
            "signInsMax": text(CallerLimits.signInsMax),
            "webSessionsMax": text(CallerLimits.webSessionsMax),
            "burst": text(CallPace.burst),
            "perSecond": text(CallPace.perSecond),
            "costOfQuestion": text(CallPace.costOfQuestion),
            "waitingMax": text(CallPace.waitingMax),
            "forwardedCallBytesMax": text(TokenRelay.forwardedCallBytesMax),
            "forwardedReplyBytesMax": text(TokenRelay.forwardedReplyBytesMax),
            "forwardedClientsMax": text(TokenRelay.forwardedClientsMax),
        ]
        for child in Mirror(reflecting: RedirectLimits()).children {
            expected[try #require(child.label)] = text(child.value)
        }
        for child in Mirror(reflecting: CallerLimits.server).children {
            expected[try #require(child.label)] = text(child.value)
        }
        let shown = try rows()
        #expect(Set(shown.map(\.limit)).count == shown.count)
        #expect(Dictionary(shown.map { ($0.limit, $0.value) }) { $1 } == expected)
    }

    @Test func `every reported limit is on the page under its reported name`() throws {
        let told = try PageSources.page("Limits").matches(of: /told: `([A-Za-z]+)`/).map { String($0.1) }
        #expect(Set(told) == Set(Limit.allCases.map(\.rawValue)))
    }

    @Test func `the test that reaches a limit exists and names it`() throws {
        let tests = try PageSources.testTexts()
        for row in try rows() {
            let text = try #require(tests[row.test], "\(row.limit): \(row.test)")
            let isNamed = text.contains(row.limit) || row.told.map { text.contains($0) } ?? false
            #expect(isNamed, "\(row.limit): \(row.test)")
        }
    }
}
