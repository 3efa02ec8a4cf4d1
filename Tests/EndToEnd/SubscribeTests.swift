import AuthRefreshInterface
import DemoIssuer
import Foundation
import TestSupport
import Testing

@testable import authrefreshd

/// Following changes.
struct SubscribeTests {
    /// Nothing holds the socket between the two, as systemd would.
    @Test func `authctl watch continues with the next daemon`() async throws {
        let stage = try DaemonStage()
        let first = try await stage.start()
        let watch = try Program("authctl", ["watch", "--json"], environment: stage.environment)
        defer { watch.signal(SIGKILL) }
        try await watch.output.first("the present state") { $0.contains(#""event":"ready""#) }
        #expect(try await first.terminate() == .exited(0))
        try await watch.errors.first("the missing daemon") { $0.contains("waiting at most 10 s for the next one") }
        let second = try await stage.start()
        try await watch.output.first("the present state again", from: 1) { $0.contains(#""event":"ready""#) }
        #expect(watch.isRunning)
        #expect(try await second.terminate() == .exited(0))
        // None comes after this one.
        #expect(try await watch.ended() == .exited(69))
        #expect(watch.errorText.contains("no daemon answers"))
    }

    @Test func `the initial state comes first, then every change in order`() async throws {
        let stage = try DaemonStage(hasOwnClock: true)
        try await withIssuer(now: stage.now) { issuer, url in
            let daemon = try await stage.start()
            try await stage.add("first", issuer: url)
            let feed = try await ChangeFeed(stage)
            let all = feed.changes.all
            #expect(all.map(\.event) == ["present", "ready"])
            #expect(all.first?.accounts.map(\.account) == ["first"])

            var families: [String: Int] = [:]
            for number in 0..<6 {
                let grant = try await issuer.issueGrant(clientID: "app")
                families["a\(number)"] = grant.family
                try await stage.add("a\(number)", issuer: url, grant: grant)
            }
            for generation in Int64(2)...4 {
                if generation > 2 {
                    try await stage.pass(until: stage.statuses().compactMap(\.nextAttemptAtUSec).max())
                }
                for name in families.keys {
                    try await feed.changes.first("generation \(generation) of \(name)") {
                        $0.event == "token-refreshed" && $0.account == name
                            && $0.accounts.first?.generation == generation
                    }
                }
            }
            let entries = await issuer.entries()
            for (name, family) in families {
                let told = feed.afterReady.filter { $0.account == name }
                #expect(told.prefix(2).map(\.event) == ["account-added", "grant-imported"])
                // Each refresh is reported twice, as begun and as done, and none is left out.
                let done = told.filter { $0.event == "token-refreshed" }.compactMap { $0.accounts.first?.generation }
                #expect(done == [2, 3, 4])
                #expect(entries.filter { $0.family == family && $0.outcome == .rotated }.count == 3)
                let events = told.dropFirst(2).map(\.event)
                #expect(events.enumerated().allSatisfy { $1 == ($0 % 2 == 0 ? "refresh-started" : "token-refreshed") })
            }
            let times = feed.changes.all.map(\.atUSec)
            #expect(times == times.sorted())
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `a subscriber to some accounts gets no changes of others`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            try await stage.add("mine", issuer: url)
            try await stage.add("other", issuer: url)
            let feed = try await ChangeFeed(stage, accounts: ["mine"])
            try await stage.importGrant(issuer.issueGrant(clientID: "app"), into: "other")
            try await stage.acquire("other")
            try await stage.importGrant(issuer.issueGrant(clientID: "app"), into: "mine")
            try await feed.next("token-refreshed", of: "mine")
            #expect(Set(feed.afterReady.map(\.account)) == ["mine"])
            #expect(feed.changes.all.first?.accounts.map(\.account) == ["mine"])
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `a subscriber that does not read is dropped with an error, and delays nobody`() async throws {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        // A long issuer makes long changes.
        try await stage.add("account-0", issuer: "http://127.0.0.1:9/" + String(repeating: "x", count: 15_000))
        let (slow, _) = try await onOwnThread { [socket = stage.socket] in
            let connection = try RawConnection(socket)
            try connection.send("{\"method\":\"io.authrefresh.Subscribe\",\"more\":true}\0")
            return (connection, try connection.receive())
        }
        let feed = try await ChangeFeed(stage)
        let start = feed.changes.count
        // Each renaming sends every subscriber 15 KB. `undrainedBytesMax` may be pending for one of them, in addition
        // to what its socket holds.
        var rounds = 0
        // It has ten seconds to read the rest from then on.
        while rounds < 5_000, !daemon.log.all.contains(where: { $0.contains("a caller was refused") }) {
            let parameters = RenameAccount.Parameters(
                account: rounds % 2 == 0 ? "account-0" : "renamed",
                newName: rounds % 2 == 0 ? "renamed" : "account-0"
            )
            _ = try await stage.ask(.renameAccount, parameters, for: RenameAccount.Reply.self)
            rounds += 1
        }
        let received = try await onOwnThread {
            var received: [String] = []
            while case let message = try slow.receive(), !message.isEmpty { received.append(message) }
            return received
        }
        // Some hundred changes, then the error instead of the next change.
        #expect(received.last?.contains(#""error":"io.authrefresh.SubscriberFellBehind""#) == true)
        #expect(received.last?.contains(#""unreadBytesMax":8388608"#) == true)
        let told = received.dropLast().drop { !$0.contains(#""event":"account-renamed""#) }
        #expect((500...rounds).contains(told.count), "\(told.count)")
        let names = told.map { $0.contains(#""account":"renamed""#) ? "renamed" : "account-0" }
        #expect(names == (0..<told.count).map { $0 % 2 == 0 ? "renamed" : "account-0" })
        try await feed.changes.first("the last renaming", from: start + rounds - 1) { _ in true }
        try await daemon.log.first("the refusal") { $0.contains("a caller was refused") }
        #expect(try await daemon.terminate() == .exited(0))
    }

    @Test func `a slow subscriber gets the initial state at its speed, and no change is lost`()
        async throws
    {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        // With such long issuers, the daemon has to wait for the reader during these accounts.
        let names = (0..<400).map { "account-\($0)" }
        let issuer = "http://127.0.0.1:9/" + String(repeating: "x", count: 4000)
        for name in names { try await stage.add(name, issuer: issuer) }
        let slow = try await onOwnThread { [socket = stage.socket] in
            let connection = try RawConnection(socket)
            try connection.send("{\"method\":\"io.authrefresh.Subscribe\",\"more\":true}\0")
            return (connection, try connection.receive())
        }
        #expect(slow.1.contains(#""account":"account-0""#) && slow.1.contains(#""event":"present""#))
        for (old, new) in [("account-0", "early"), ("account-399", "late")] {
            let parameters = RenameAccount.Parameters(account: old, newName: new)
            _ = try await stage.ask(.renameAccount, parameters, for: RenameAccount.Reply.self)
        }
        _ = try await stage.ask(
            .removeAccount,
            RemoveAccount.Parameters(account: "account-398"),
            for: RemoveAccount.Reply.self
        )
        let messages = try await onOwnThread {
            var messages = [slow.1]
            while messages.last?.contains(#""event":"ready""#) == false { messages.append(try slow.0.receive()) }
            return messages
        }
        let told = try messages.map { try JSONDecoder().decode(Message.self, from: Data($0.utf8)).parameters }
        let pages = told.filter { $0.event == "present" }.map(\.accounts)
        #expect(pages.allSatisfy { $0.count <= CallerLimits.presentPage })
        let present = pages.joined().map(\.account)
        // Accounts that were already sent are followed by their changes. The others are sent in their new state.
        #expect(present == Array(names.dropLast(2)) + ["late"])
        #expect(told.filter { $0.event != "present" }.map(\.event) == ["account-renamed", "ready"])
        #expect(told.first { $0.event == "account-renamed" }?.account == "early")
        #expect(try await daemon.terminate() == .exited(0))
    }

    private struct Message: Decodable {
        let parameters: Subscribe.Reply
    }

    @Test func `a call without more gets an error that asks for it`() async throws {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        await #expect(throws: TestFault.self) {
            try await stage.ask(.subscribe, Subscribe.Parameters(), for: Subscribe.Reply.self)
        }
        #expect(try await daemon.terminate() == .exited(0))
    }
}
