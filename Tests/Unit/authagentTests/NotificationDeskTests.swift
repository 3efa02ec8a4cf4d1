import Basics
import AuthRefreshInterface
import Testing

@testable import authagent

/// Which notifications are shown after actions of the daemon, the notification server and the person.
@Suite struct NotificationDeskTests {
    private var desk = NotificationDesk()

    private static func needy(_ account: String, since: Int64 = 1, _ summary: String = "the grant has ended")
        -> AccountStatus
    {
        AccountStatus(
            account: account,
            state: "interaction-required",
            issuer: "https://as.example/realm",
            generation: 1,
            failures: 1,
            sinceUSec: since,
            failure: FailureReport(summary: summary)
        )
    }

    private static func well(_ account: String) -> AccountStatus {
        AccountStatus(account: account, state: "fresh", issuer: "https://as.example", generation: 2, failures: 0)
    }

    private mutating func tell(_ event: String, _ accounts: AccountStatus...) -> [NotificationDesk.Effect] {
        desk.apply(Subscribe.Reply(event: event, atUSec: 0, accounts: accounts, account: accounts.first?.account))
        return desk.takeEffects()
    }

    /// The notifications that `effects` show. Each gets as number the place of its letter in the alphabet.
    private mutating func show(_ effects: [NotificationDesk.Effect]) -> [String] {
        effects.compactMap { effect in
            guard case .show(let account, _, _) = effect else { return nil }
            desk.noteShown(account, id: Self.id(account))
            return account
        }
    }

    private static func id(_ account: String) -> UInt32 { UInt32(account.unicodeScalars.first?.value ?? 0) }

    @Test mutating func `an account that needs its user is shown once, and withdrawn when it is fresh`() {
        let effects = tell("interaction-required", Self.needy("a"))
        #expect(effects.count == 1)
        #expect(show(effects) == ["a"])
        #expect(tell("refresh-failed", Self.needy("a")) == [])
        #expect(tell("token-refreshed", Self.well("a")) == [.withdraw(id: Self.id("a"))])
        #expect(tell("token-refreshed", Self.well("a")) == [])
    }

    private static func ending(_ account: String, at end: Int64, state: String = "refresh-token-expiring")
        -> AccountStatus
    {
        var status = Self.well(account)
        (status.state, status.grantEndsAtUSec, status.signOutAtUSec) = (state, end, end)
        return status
    }

    @Test mutating func `a grant that ends soon has one quiet notification, and so has the sign-out at that time`() {
        let effects = tell("sign-out-near", Self.ending("a", at: 100))
        guard case .show("a", let text, replaces: 0) = effects.first else {
            Issue.record("\(effects)")
            return
        }
        #expect(text.isQuiet && text.offersSignIn && text.summary == "a will need you")
        desk.noteShown("a", id: Self.id("a"))
        #expect(tell("token-refreshed", Self.ending("a", at: 100)) == [])
        let over = Subscribe.Reply(
            event: "signed-out",
            atUSec: 101,
            accounts: [Self.ending("a", at: 100, state: "signed-out")],
            account: "a"
        )
        desk.apply(over)
        guard case .show("a", let later, replaces: Self.id("a")) = desk.takeEffects().first else {
            Issue.record("the sign-out is not told")
            return
        }
        #expect(later.isQuiet && later.summary == "a is signed out")
        desk.noteShown("a", id: Self.id("a"))
        #expect(tell("signed-in", Self.well("a")) == [.withdraw(id: Self.id("a"))])
    }

    @Test mutating func `a sign-out by a person is not told`() {
        #expect(show(tell("sign-out-near", Self.ending("a", at: 100))) == ["a"])
        #expect(tell("signed-out", Self.ending("a", at: 100, state: "signed-out")) == [.withdraw(id: Self.id("a"))])
    }

    @Test mutating func `only a few notifications are shown, and the next when there is room`() {
        let all = ["a", "b", "c", "d", "e"].map { Self.needy($0) }
        desk.apply(Subscribe.Reply(event: "present", atUSec: 0, accounts: all))
        #expect(show(desk.takeEffects()) == ["a", "b", "c"])
        #expect(desk.takeEffects() == [])
        desk.noteClosed(id: Self.id("b"), byPerson: true)
        #expect(show(desk.takeEffects()) == ["d"])
        #expect(show(tell("signed-in", Self.well("a"))) == ["e"])
    }

    @Test mutating func `all accounts of a store from another machine have one notification`() {
        func parked(_ account: String, _ reason: String?) -> AccountStatus {
            var status = Self.well(account)
            (status.state, status.reason) = ("parked", reason)
            return status
        }
        desk.beginPresentState()
        let present = [parked("a", "otherMachine"), parked("b", "otherMachine"), parked("c", nil), Self.needy("d")]
        desk.apply(Subscribe.Reply(event: "present", atUSec: 0, accounts: present))
        #expect(show(desk.takeEffects()) == ["d"])
        let ready = tell("ready")
        guard case .show("", .parked, replaces: 0) = ready.first, ready.count == 1 else {
            Issue.record("\(ready)")
            return
        }
        desk.noteShown("", id: 9)
        #expect(tell("account-resumed", Self.well("a")) == [])
        // It does not return after the agent has lost the daemon, as the person has seen it.
        desk.noteClosed(id: 9, byPerson: true)
        desk.beginPresentState()
        desk.apply(Subscribe.Reply(event: "present", atUSec: 0, accounts: [parked("b", "otherMachine")]))
        #expect(tell("ready") == [.withdraw(id: Self.id("d"))])
        #expect(tell("account-resumed", Self.well("b")) == [])
        #expect(tell("account-parked", parked("b", "otherMachine")).count == 1)
        desk.noteShown("", id: 10)
        desk.apply(Subscribe.Reply(event: "account-removed", atUSec: 0, accounts: [], account: "b"))
        #expect(desk.takeEffects() == [.withdraw(id: 10)])
    }

    @Test mutating func `a dismissed notification returns only with a new need`() {
        _ = show(tell("interaction-required", Self.needy("a")))
        desk.noteClosed(id: Self.id("a"), byPerson: true)
        #expect(desk.takeEffects() == [])
        #expect(tell("refresh-failed", Self.needy("a", "the server says so again")) == [])
        #expect(show(tell("interaction-required", Self.needy("a", since: 2))) == ["a"])
    }

    @Test mutating func `a new reason replaces the shown one`() {
        _ = show(tell("interaction-required", Self.needy("a")))
        let effects = tell("interaction-required", Self.needy("a", "consent is missing"))
        guard case .show("a", let text, replaces: Self.id("a")) = effects.first else {
            Issue.record("\(effects)")
            return
        }
        #expect(text.body == "as.example wants you to sign in again: consent is missing")
    }

    @Test mutating func `the button signs in, and a sign-in that fails says why`() {
        _ = show(tell("interaction-required", Self.needy("a")))
        desk.noteInvoked(id: Self.id("a"), activationToken: "click")
        #expect(
            desk.takeEffects() == [.withdraw(id: Self.id("a")), .signIn(account: "a", activationToken: "click")]
        )
        // The server also reports the withdrawal. A second click has no notification.
        desk.noteClosed(id: Self.id("a"), byPerson: true)
        desk.noteInvoked(id: Self.id("a"))
        #expect(desk.takeEffects() == [])
        desk.noteSignInEnded("a", problem: "the sign-in of 'a' timed out")
        guard case .show("a", let text, replaces: 0) = desk.takeEffects().first else {
            Issue.record("nothing is shown")
            return
        }
        #expect(text.markup(hasActions: true, command: "").hasPrefix("the sign-in of 'a' timed out\n"))
    }

    @Test mutating func `a successful sign-in shows nothing more`() {
        _ = show(tell("interaction-required", Self.needy("a")))
        desk.noteInvoked(id: Self.id("a"))
        _ = desk.takeEffects()
        #expect(tell("signed-in", Self.well("a")) == [])
        desk.noteSignInEnded("a", problem: nil)
        #expect(desk.takeEffects() == [])
    }

    @Test mutating func `a new notification server gets all needed notifications`() {
        _ = show(tell("interaction-required", Self.needy("a")))
        _ = show(tell("interaction-required", Self.needy("b")))
        desk.noteClosed(id: Self.id("b"), byPerson: true)
        desk.noteServerChanged()
        #expect(show(desk.takeEffects()) == ["a"])
    }

    @Test mutating func `a notification that the desktop removed returns with the next server or a new need`() {
        _ = show(tell("interaction-required", Self.needy("a")))
        desk.noteClosed(id: Self.id("a"), byPerson: false)
        #expect(desk.takeEffects() == [])
        desk.noteServerChanged()
        #expect(show(desk.takeEffects()) == ["a"])
        desk.noteClosed(id: Self.id("a"), byPerson: false)
        #expect(show(tell("interaction-required", Self.needy("a", since: 2))) == ["a"])
    }

    @Test mutating func `a server that shows nothing is not asked repeatedly`() {
        #expect(tell("interaction-required", Self.needy("a")).count == 1)
        #expect(desk.takeEffects() == [])
        #expect(tell("refresh-failed", Self.needy("a")) == [])
        desk.noteServerChanged()
        #expect(show(desk.takeEffects()) == ["a"])
    }

    @Test mutating func `an account that is renamed, removed, or gone after a restart is withdrawn`() {
        for account in ["a", "b", "c"] { _ = show(tell("interaction-required", Self.needy(account))) }
        desk.apply(
            Subscribe.Reply(
                event: "account-renamed",
                atUSec: 0,
                accounts: [Self.well("x")],
                account: "x",
                previousName: "a"
            )
        )
        #expect(desk.takeEffects() == [.withdraw(id: Self.id("a"))])
        desk.apply(Subscribe.Reply(event: "account-removed", atUSec: 0, accounts: [], account: "b"))
        #expect(desk.takeEffects() == [.withdraw(id: Self.id("b"))])
        desk.beginPresentState()
        desk.apply(Subscribe.Reply(event: "ready", atUSec: 0, accounts: []))
        #expect(desk.takeEffects() == [.withdraw(id: Self.id("c"))])
    }

    @Test func `a notification names the account, the server and the reason`() throws {
        let text = try #require(NotificationText(Self.needy("work", "the grant has expired")))
        #expect(text.summary == "Sign in to work")
        #expect(text.body == "as.example wants you to sign in again: the grant has expired")
    }

    @Test func `foreign text is neither markup nor a line of ours`() throws {
        let text = try #require(NotificationText(Self.needy("a", "<b>no</b>\n& more")))
        #expect(
            text.markup(hasActions: false, command: "authctl login a")
                == "as.example wants you to sign in again: &lt;b&gt;no&lt;/b&gt;&amp; more\nauthctl login a"
        )
    }

    @Test func `no preceding scalar hides a special character`() throws {
        for before in ["\u{D4E}", "\u{600}", "\u{1F1E6}", "\u{200D}", "\u{61C}", "\r", "a\u{301}"] {
            let text = try #require(NotificationText(Self.needy("a", "\(before)<b>\(before)&")))
            let markup = text.markup(hasActions: true, command: "").unicodeScalars
            #expect(!markup.contains("<") && !markup.contains(">"), "\(before.unicodeScalars)")
            #expect(markup.count { $0 == "&" } == 3)
            #expect(!markup.contains { $0.isSteering })
        }
    }
}
