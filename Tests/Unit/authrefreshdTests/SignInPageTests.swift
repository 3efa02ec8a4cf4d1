import Basics
import Foundation
@testable import authrefreshd
import RefreshCore
import TestSupport
import Testing

/// Holds every page that a browser shows for a sign-in or a web session to the form, with commands that there are.
@Suite struct SignInPageTests {
    private static func account(_ name: String) -> AccountName {
        guard let name = AccountName(name) else { preconditionFailure("'work' and 'shared' are names") }
        return name
    }

    private static let work = account("work")
    private static let targets = [
        SignInTarget(account: work), SignInTarget(account: account("shared"), source: work),
    ]

    private static let ends: [SignInEnd] =
        [
            .completed, .policyCompleted, .timedOut,
            .passwordForgotten(isResettable: true), .passwordForgotten(isResettable: false),
            .denied(ErrorResponse(error: "access_denied", description: "The user declined")),
            .otherSubject(signedIn: "jane@example.org", owner: "joe@example.org"),
        ] + SignInCanceller.allCases.map { SignInEnd.cancelled(by: $0) }
        + SignInFailure.Kind.allCases.map { SignInEnd.failed(SignInFailure($0, "the daemon is stopping")) }

    private static let endPages = ends.flatMap { end in targets.map { RedirectPage(end, $0) } }
    private static let refusalPages = ResponseFinding.allCases.map { RedirectPage($0, work) }
    private static let otherPages: [RedirectPage] = [
        .goingOn(to: "https://as.example/authorize", work), .awaited(work, mayBeBehindHash: false),
        .awaited(work, mayBeBehindHash: true), .nothingUnderWay, .unreadable, .webSessionDone, .webSessionOver,
    ]

    @Test(arguments: endPages + refusalPages + otherPages)
    func `a page has whole sentences, and says what to do, with a command that there is`(_ page: RedirectPage) throws {
        let shown = page.command?.text(by: .usual)
        #expect(MessageForm.flaws(ofPage: page.title, page.text, advice: page.advice, command: shown) == [])
        #expect(page.advice != nil)
        guard let words = shown?.split(separator: " ") else { return }
        let command = words.dropFirst().prefix { $0.allSatisfy(\.isLowercase) && $0 != "work" && $0 != "shared" }
        #expect(try PageSources.commands().contains(command.map(\.capitalized).joined()), "\(shown ?? "")")
    }

    @Test func `the journal has a plain reason for every end of a sign-in`() {
        for end in Self.ends { #expect(MessageForm.flaws(ofMessage: end.reason) == []) }
    }
}
