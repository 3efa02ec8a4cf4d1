import AuthRefreshInterface
import RefreshCore
import Testing

@testable import authrefreshd

/// Which calls of a program mean that a server has refused its token.
struct TokenHoldsTests {
    private let rig = Rig()
    private let issue = Timestamp(microseconds: 7)

    /// The holds behind a reference, because an expectation cannot change a value.
    private final class Rig {
        var holds = TokenHolds()

        func isRefused(_ hold: TokenHold, _ issue: Timestamp, _ now: Moment) -> Bool {
            holds.isRefused(hold, issue, now)
        }

        func note(_ hold: TokenHold?, _ issue: Timestamp, _ end: Timestamp, _ now: Moment) -> Int64? {
            holds.note(hold, issue, end, now)
        }
    }

    private func at(_ seconds: Int64) -> Moment {
        Moment(
            wall: Timestamp(microseconds: 1_000_000_000 + seconds * 1_000_000),
            boot: BootTime(bootID: 1, microseconds: seconds * 1_000_000)
        )
    }

    private func hold(
        _ process: String?,
        use: String? = "a",
        account: Int64 = 1,
        from caller: Int32 = 1
    ) throws -> TokenHold {
        let holder = TokenHolder(process: process, use: use)
        let call = AcquireToken.Parameters(account: "work", holder: holder)
        return try #require(TokenHold(holder, of: AccountID(account), for: nil, call, from: caller))
    }

    @Test func `the time until which a token is kept is 60 s before its end, or a tenth of what is left`() throws {
        let hold = try hold("1.2")
        #expect(rig.note(hold, issue, at(3600).wall, at(0)) == at(3540).wall.microseconds)
        #expect(rig.note(hold, issue, at(100).wall, at(0)) == at(90).wall.microseconds)
        #expect(rig.note(hold, issue, at(5).wall, at(0)) == at(4).wall.microseconds, "whole seconds")
        #expect(rig.note(nil, issue, at(100).wall, at(0)) == nil)
    }

    @Test func `a process that asks again too early reports its token, once a minute`() throws {
        let first = try hold("1.2")
        let other = Timestamp(microseconds: 8)
        #expect(!rig.isRefused(first, issue, at(0)), "it has no token yet")
        _ = rig.note(first, issue, at(3600).wall, at(0))
        #expect(!rig.isRefused(first, other, at(1)), "the account has another token by now")
        #expect(rig.isRefused(first, issue, at(1)))
        #expect(!rig.isRefused(first, issue, at(60)))
        #expect(rig.isRefused(first, issue, at(61)))
        #expect(!rig.isRefused(first, issue, at(3540)), "the time until which it keeps the token is over")
    }

    @Test func `another process, cluster or account, and an unknown process, report nothing`() throws {
        _ = rig.note(try hold("1.2"), issue, at(3600).wall, at(0))
        #expect(!rig.isRefused(try hold("1.3"), issue, at(1)))
        #expect(!rig.isRefused(try hold("1.2", use: "b"), issue, at(1)))
        #expect(!rig.isRefused(try hold("1.2", account: 2), issue, at(1)))
        let unknown = try hold(nil)
        _ = rig.note(unknown, issue, at(3600).wall, at(0))
        #expect(!rig.isRefused(unknown, issue, at(1)))
    }

    @Test func `a program that names many holders loses its own oldest uses, and nobody else's`() throws {
        _ = rig.note(try hold("1.2", from: 2), issue, at(3600).wall, at(0))
        for number in 0...TokenHolds.tokenHoldsMax {
            _ = rig.note(try hold("3.\(number)", from: 3), issue, at(3600).wall, at(1))
        }
        #expect(rig.isRefused(try hold("1.2", from: 4), issue, at(2)), "the next authctl of the first program")
        let kept = try (0...TokenHolds.tokenHoldsMax).filter { rig.isRefused(try hold("3.\($0)"), issue, at(2)) }
        #expect(kept.count == TokenHolds.tokenHoldsMax / 2)
        #expect(kept.contains(TokenHolds.tokenHoldsMax), "the newest")
    }

    @Test func `of many programs with one use each, the oldest gives way`() throws {
        let count = TokenHolds.tokenHoldsMax
        for number in 0...count {
            let hold = try hold("\(number).1", from: Int32(number + 1))
            _ = rig.note(hold, issue, at(3600).wall, at(Int64(number)))
        }
        #expect(!rig.isRefused(try hold("0.1"), issue, at(Int64(count) + 1)))
        #expect(rig.isRefused(try hold("\(count).1"), issue, at(Int64(count) + 1)))
        #expect(rig.isRefused(try hold("\(count / 2).1"), issue, at(Int64(count) + 1)))
    }

    @Test func `a holder's name has a limit`() throws {
        let long = TokenHolder(process: String(repeating: "a", count: 101))
        let call = AcquireToken.Parameters(account: "work", holder: long)
        #expect(TokenHold(long, of: AccountID(1), for: nil, call, from: 1) == nil)
    }
}
