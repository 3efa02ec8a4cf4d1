import Glibc
import Synchronization
import Testing

@testable import OAuthClient
@testable import OAuthMessages

/// Look-ups of names that hang, and of others at the same time.
struct NameResolutionTests {
    /// A resolver whose look-ups of `hangs…` end when the test releases them.
    private final class Resolver: Sendable {
        private let asked = Mutex<[String]>([])
        private let isLetGo = Atomic(false)

        var names: [String] { asked.withLock { $0 } }

        func letGo() {
            isLetGo.store(true, ordering: .sequentiallyConsistent)
        }

        func find(_ host: String) -> Bool {
            asked.withLock { $0.append(host) }
            while host.hasPrefix("hangs"), !isLetGo.load(ordering: .sequentiallyConsistent) { usleep(1000) }
            return !host.hasPrefix("missing")
        }
    }

    private static let soon = Duration.milliseconds(200)
    private static let late = Duration.seconds(60)

    private func failure(_ gate: NameResolution, _ host: String, within limit: Duration) async -> TransportCause? {
        do {
            try await gate.pass(host, before: .now + limit)
            return nil
        } catch {
            #expect(!error.wasSent)
            return error.cause
        }
    }

    @Test func `a name that hangs does not delay others, and ends at its time limit`() async {
        let resolver = Resolver()
        let gate = NameResolution(isFound: resolver.find)
        #expect(await failure(gate, "hangs.example", within: Self.soon) == .timeLimit)
        #expect(await failure(gate, "quick.example", within: Self.late) == nil)
        // The second request waits for the first look-up, and no further one is begun.
        #expect(await failure(gate, "hangs.example", within: Self.soon) == .timeLimit)
        #expect(resolver.names.filter { $0 == "hangs.example" }.count == 1)
        resolver.letGo()
        #expect(await failure(gate, "hangs.example", within: Self.late) == nil)
    }

    @Test func `a cancelled request ends at once, and is no longer held by the name that hangs`() async {
        let resolver = Resolver()
        let gate = NameResolution(isFound: resolver.find)
        let task = Task { await failure(gate, "hangs.example", within: Self.late) }
        task.cancel()
        #expect(await task.value == .timeLimit)
        #expect(await failure(gate, "hangs.example", within: .milliseconds(1)) == .timeLimit)
        #expect(gate.waiting(for: "hangs.example") == 0)
        resolver.letGo()
        #expect(await failure(gate, "hangs.example", within: Self.late) == nil)
    }

    @Test func `a found name is not looked up again until it is forgotten`() async {
        let resolver = Resolver()
        let gate = NameResolution(isFound: resolver.find)
        for _ in 1...3 { #expect(await failure(gate, "a.example", within: Self.late) == nil) }
        #expect(resolver.names.count == 1)
        gate.forget("a.example")
        #expect(await failure(gate, "a.example", within: Self.late) == nil)
        #expect(resolver.names.count == 2)
    }

    @Test func `a name that does not exist is reported, and looked up each time`() async {
        let resolver = Resolver()
        let gate = NameResolution(isFound: resolver.find)
        for _ in 1...2 { #expect(await failure(gate, "missing.example", within: Self.late) == .nameResolution) }
        #expect(resolver.names.count == 2)
    }

    @Test func `if as many look-ups hang as are allowed, the next waits until one ends`() async {
        let resolver = Resolver()
        let gate = NameResolution(isFound: resolver.find)
        let hanging = (0..<NameResolution.lookUpsMax).map { number in
            Task { await failure(gate, "hangs\(number).example", within: Self.late) }
        }
        while resolver.names.count < NameResolution.lookUpsMax { await Task.yield() }
        #expect(await failure(gate, "quick.example", within: Self.soon) == .timeLimit)
        resolver.letGo()
        for task in hanging { #expect(await task.value == nil) }
        #expect(await failure(gate, "quick.example", within: Self.late) == nil)
    }
}
