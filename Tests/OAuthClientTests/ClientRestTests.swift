import NIOCore
import OAuthMessages
import TestSupport
import Testing

@testable import OAuthClient

/// HTTP clients that nobody uses any more.
struct ClientRestTests {
    private let rests: AsyncStream<Void>
    private let configuration: OAuthClientConfiguration

    init() {
        let (rests, rest) = AsyncStream.makeStream(of: Void.self)
        var configuration = OAuthClientConfiguration()
        configuration.proxy = .direct
        configuration.clientRest = .milliseconds(20)
        configuration.onRest = { rest.yield() }
        (self.rests, self.configuration) = (rests, configuration)
    }

    @Test func `clients that nobody uses are released, and later ones too`() async throws {
        let clients = HTTPClients(configuration: configuration)
        let endpoint = try #require(Endpoint("http://127.0.0.1:1/token"))
        var resting = rests.makeAsyncIterator()
        for _ in 0..<2 {
            _ = try await clients.client(for: endpoint, caFile: nil)
            await resting.next()
            #expect(clients.count == 0)
        }
        try await clients.shutDown()
    }

    @Test func `a client that is used again and again stays`() async throws {
        let clients = HTTPClients(configuration: configuration)
        let endpoint = try #require(Endpoint("http://127.0.0.1:1/token"))
        let first = try await clients.client(for: endpoint, caFile: nil)
        let begin = ContinuousClock.now
        var last = begin
        while begin.duration(to: last) < .milliseconds(200) {
            let asked = ContinuousClock.now
            let next = try await clients.client(for: endpoint, caFile: nil)
            // On a machine that stops the test for so long, another client is right.
            guard last.duration(to: .now) < .milliseconds(20) else { break }
            #expect(next === first)
            last = asked
        }
        try await clients.shutDown()
    }

    @Test func `a client with a running request is kept until the request ends`() async throws {
        let clients = HTTPClients(configuration: configuration)
        let endpoint = try #require(Endpoint("http://127.0.0.1:1/token"))
        var resting = rests.makeAsyncIterator()
        // A request holds its client in this way.
        var held: RoutedClient? = try await clients.client(for: endpoint, caFile: nil)
        // The timers of an event loop run in their order: by then, the clients were looked through.
        try await clients.eventLoop.scheduleTask(in: .milliseconds(100)) {}.futureResult.get()
        #expect(clients.count == 1)
        withExtendedLifetime(held) {}
        held = nil
        await resting.next()
        #expect(clients.count == 0)
        try await clients.shutDown()
    }
}
