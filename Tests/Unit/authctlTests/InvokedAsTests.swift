import Basics
import Testing

@testable import authctl

/// The name of this program that its texts tell people to type.
@Suite struct InvokedAsTests {
    /// - Parameter links: paths, and the programs that they point to.
    private func surroundings(path: String, links: [String: String]) -> Surroundings {
        Surroundings(
            user: 1000,
            environment: { $0 == "PATH" ? path : nil },
            file: { links[$0].map { _ in Surroundings.File(owner: 0, mode: 0o755, kind: .regular) } },
            text: { _ in nil },
            program: "/usr/bin/authrefreshctl",
            run: { _ in CommandOutput(end: .notStarted(2)) },
            target: { links[$0] ?? $0 }
        )
    }

    private static let second = ["/usr/bin/authrefreshctl": "/usr/bin/authrefreshctl"]

    @Test func `the name is authctl if a shell finds this program by it`() {
        let links = Self.second.merging(["/usr/bin/authctl": "/usr/bin/authrefreshctl"]) { first, _ in first }
        #expect(InvokedAs.choose(by: surroundings(path: "/bin:/usr/bin", links: links)) == .usual)
    }

    @Test func `the name is authrefreshctl if authctl is another project's or missing`() {
        let links = Self.second.merging(["/opt/bin/authctl": "/opt/bin/authctl"]) { first, _ in first }
        #expect(InvokedAs.choose(by: surroundings(path: "/opt/bin:/usr/bin", links: links)) == .unmistakable)
        #expect(InvokedAs.choose(by: surroundings(path: "/usr/bin", links: Self.second)) == .unmistakable)
    }

    @Test func `a program that a shell finds by no name keeps the default name`() {
        #expect(InvokedAs.choose(by: surroundings(path: "/bin", links: Self.second)) == .usual)
    }
}
