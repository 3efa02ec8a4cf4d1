import AuthRefreshInterface
import Foundation
import TestSupport
import Testing

@testable import authctl

/// Compares with their form the texts of `Messages` that are neither errors, notes nor warnings: questions, what is told
/// while a person waits, and the words of the history.
@Suite struct DialogueFormTests {
    /// A terminal's usual width.
    private static let columns = 80

    /// One value of each question, by its name in `Prompt`.
    private static let questions = [
        "accountName": Prompt.accountName, "provider": Prompt.provider, "clientID": Prompt.clientID,
        "googleClient": Prompt.googleClient, "clientHasSecret": Prompt.clientHasSecret,
        "newClientSecret": Prompt.newClientSecret, "usualScopes": Prompt.usualScopes, "scopes": Prompt.scopes,
        "redirectPort": Prompt.redirectPort, "addThis": Prompt.addThis, "signInNow": Prompt.signInNow,
        "purpose": Prompt.purpose(known: "calendar, files, mail", usual: "mail"),
        "useInstead": Prompt.useInstead("https://login.example.com"),
        "variable": Prompt.variable("tenant", help: "the tenant's domain or ID", standard: "organizations"),
        "page": Prompt.page, "clientSecret": Prompt.clientSecret(of: "work"),
        "refreshToken": Prompt.refreshToken(of: "work"), "initialAccessToken": Prompt.initialAccessToken(of: "work"),
        "askConsent": Prompt.askConsent, "pasteEnd": Prompt.pasteEnd, "pasteFailedPage": Prompt.pasteFailedPage,
        "listWithoutCaller": Prompt.listWithoutCaller,
        "signOut": Prompt.signOut(count: 3, names: "home, mail, work"), "remove": Prompt.remove("work"),
    ]

    /// One value of each text that is told during a sign-in, by its name in `SignInProgress`.
    private static let progress: [String: String] = {
        guard let link = WebLink("https://login.example.com/a") else { return [:] }
        let browser = Browser(name: "Firefox", words: ["firefox"])
        return [
            "waitingForPerson": SignInProgress.waitingForPerson,
            "waitingForBrowser": SignInProgress.waitingForBrowser,
            "waitingForServer": SignInProgress.waitingForServer("work"), "emptyInput": SignInProgress.emptyInput,
            "nothingYet": SignInProgress.nothingYet(redirectURI: "http://127.0.0.1:41525/"),
            "answered": SignInProgress.answered("work"),
            "demandedScopes": SignInProgress.demandedScopes(["mail.send", "files"], of: "work"),
            "goesOn": SignInProgress.goesOn("work", SignInProgress.resetPlace(policy: "B2C_1_reset")),
            "goOn": SignInProgress.goOn("work", SignInProgress.signInAgainPlace, link, in: browser),
            "policyCompleted": SignInProgress.policyCompleted("B2C_1_edit", "work"),
            "openingSessionEnd": SignInProgress.openingSessionEnd("work", link, browser),
            "endSession": SignInProgress.endSession("work", link, .desktop),
            "programs": SignInProgress.programs(for: "work", mailbox: "jane@example.org"),
        ]
    }()

    /// One value of each reason why a page was not opened, by its name in `PageTrouble`.
    private static let troubles = [
        "noPort": PageTrouble.noPort, "browserNotOpened": PageTrouble.browserNotOpened,
        "dialogClosed": PageTrouble.dialogClosed, "cannotStart": PageTrouble.cannotStart("Firefox"),
        "notOpened": PageTrouble.notOpened("Firefox"), "notAskedFor": PageTrouble.notAskedFor("Firefox"),
    ]

    @Test func `why a page was not opened is one plain line`() {
        for (name, text) in Self.troubles {
            #expect(MessageForm.flaws(ofMessage: text, names: ["Firefox"]) == [], "\(name)")
        }
    }

    @Test func `every question asks, and leaves room for the answer`() {
        for (name, text) in Self.questions {
            let isChoice = text.hasSuffix("?")
            #expect(isChoice != text.hasSuffix(": "), "\(name): \(text)")
            #expect(text.first?.isUppercase == true || text.first == "'" || name == "variable", "\(name): \(text)")
            // `Question.confirm` adds the choice.
            #expect((isChoice ? "\(text) [y/N] " : text).count <= Self.columns, "\(name): \(text)")
            #expect(!text.contains("\n"), "\(name)")
            #expect(MessageForm.flaws(of: text) == [], "\(name)")
        }
    }

    @Test func `what is told while a person waits says what is waited for, and fits on a terminal`() {
        for (name, text) in Self.progress {
            #expect(text.hasSuffix("\n"), "\(name)")
            for line in text.split(separator: "\n").map(String.init) {
                // The lines that name a server or a browser are wrapped.
                if !line.hasPrefix("work: ") { #expect(line.count <= Self.columns, "\(name): \(line)") }
                #expect(!line.hasSuffix(" "), "\(name): \(line)")
            }
            if name.hasPrefix("waiting") {
                #expect(text.lowercased().contains("waiting for "), "\(name)")
                #expect(text.contains("Ctrl-C cancels"), "\(name)")
            }
        }
    }

    @Test(arguments: [
        "me`id`@x.example", "a@x.example\"; set sendmail=id", "a b@x.example", "$HOME@x.example", "a\n@x.example",
        "jane",
        "",
    ])
    func `an address that is more than plain is not in the lines for mail programs`(address: String) {
        let without = SignInProgress.programs(for: "work", mailbox: nil)
        #expect(SignInProgress.programs(for: "work", mailbox: address) == without)
        #expect(SignInProgress.programs(for: "work", mailbox: "jane.doe+mail@x.example") != without)
    }

    /// `work: the answer has arrived`, like the other lines about an account, or a sentence of its own.
    @Test func `every line of progress is about its account, or a whole sentence`() throws {
        for (name, text) in Self.progress where name != "programs" {
            let first = try #require(text.split(separator: "\n").first, "\(name)")
            let isSentence = first.first?.isUppercase == true
            #expect(isSentence != first.hasPrefix("work: "), "\(name): \(first)")
            let isEnded = [".", ":"].contains(first.last) || first.contains(": authctl ")
            #expect(isEnded == isSentence, "\(name): \(first)")
            #expect(MessageForm.flaws(of: String(isEnded ? first.dropLast() : first)) == [], "\(name)")
        }
    }

    @Test func `every wait in a note or in the footer says on what, and for how long or how to end it`() {
        for note in [
            Note.waiting(subject: "the daemon", seconds: 30), .waitingForServer(account: "work"), .waitingForDaemon,
            .daemonEnded(seconds: 10),
        ] {
            #expect(note.text.contains("waiting for the ") || note.text.contains("for the next one"), "\(note.text)")
            #expect(note.text.contains(/at most [0-9]+ s|Ctrl-C ends/), "\(note.text)")
        }
        for trouble in [StatusWords.notAnswering, StatusWords.daemonMissed(seconds: 10)] {
            #expect("\(StatusWords.quits); \(trouble)".count <= Self.columns, "\(trouble)")
            #expect(trouble.contains("the daemon"), "\(trouble)")
        }
    }

    @Test(arguments: [
        ("Prompt", "enum Prompt", Set(questions.keys).union(["clientIDPlace"])),
        ("SignInText", "enum PageTrouble", Set(troubles.keys)),
        ("SignInText", "enum SignInProgress", Set(progress.keys).union(["resetPlace", "signInAgainPlace"])),
    ])
    func `every text has a sample`(file: String, type: String, sampled: Set<String>) throws {
        let source = try Self.source("Sources/authctl/Messages/\(file).swift")
        let body = try #require(source.firstRange(of: "\(type) {").map { source[$0.upperBound...] })
        let end = body.firstRange(of: "\n}\n")?.lowerBound ?? body.endIndex
        let declared = body[..<end].matches(of: /\n    static (?:let|func) ([A-Za-z]+)/).map { String($0.1) }
        #expect(Set(declared) == sampled)
    }

    // MARK: History

    /// The events of `Subscribe`, as the interface lists them, but for those that only delimit the present state.
    private static func events() throws -> Set<String> {
        let interface = try source("Sources/AuthRefreshInterface/io.authrefresh.varlink")
        let list = try #require(interface.firstMatch(of: /\n  # (present, ready, [a-z,#\n -]+)\.\n  event: string/))
        let names = list.1.split { ", #\n".contains($0) }.map(String.init)
        return Set(names).subtracting(["present", "ready"])
    }

    @Test func `the history has words for events that exist, and names those of which it has none`() throws {
        let events = try Self.events()
        #expect(events.count > 15)
        #expect(Set(HistoryText.eventWords.keys).subtracting(events) == [])
        for event in events {
            let words = HistoryText.words(for: event)
            #expect(words.first?.isLowercase == true, "\(event)")
            #expect(!words.replacing("sign-in", with: "").contains("-"), "\(event)")
            // With its time, a count and the time of the first one, it fits into a line.
            #expect(words.count <= 32, "\(event)")
            #expect(MessageForm.flaws(of: words) == [], "\(event)")
        }
        #expect(Set(events.map(HistoryText.words)).count == events.count)
    }

    @Test func `the history calls the hours as its JSON and the page about it do`() throws {
        let legend = HistoryText.legend(account: "work", hours: 48) { $0 == .needsYou ? "x" : "." }
        let page = try Self.source("Sources/authrefreshd/Documentation.docc/JSON-of-authctl.md")
        let row = try #require(page.split(separator: "\n").first { $0.contains("The worst state in this hour") })
        let named = row.matches(of: /`([a-z-]+)`/).map { String($0.1) }.filter { $0 != "state" }
        #expect(Set(named) == Set(HourState.allCases.map(\.rawValue)))
        for state in HourState.allCases where state != .unknown {
            #expect(legend.contains(" \(state.rawValue.replacing("-", with: " "))"), "\(state)")
        }
        // What the status calls an account that needs somebody.
        #expect(HistoryText.words(for: "interaction-required") == "needs you")
        #expect(MessageForm.flaws(of: legend) == [], "legend")
        #expect(MessageForm.flaws(of: HistoryText.hidden(3)) == [], "hidden")
        #expect(MessageForm.flaws(of: HistoryText.times(3, since: "2026-11-25 12:00:00")) == [], "times")
        #expect(HistoryText.legend(account: "work", hours: 1) { _ in "." }.contains("the last hour:"))
        #expect(HistoryText.hidden(1).contains("1 earlier entry;"))
    }

    private static func source(_ path: String) throws -> String {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { root.deleteLastPathComponent() }
        return try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }
}
