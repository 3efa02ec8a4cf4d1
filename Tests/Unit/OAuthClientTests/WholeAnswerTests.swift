import Foundation
import RefreshCore
import TestSupport
import Testing

@testable import OAuthClient
@testable import OAuthMessages

/// Answers whose framing is broken. They may hold the only refresh token that the server still accepts.
struct WholeAnswerTests {
    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    private static let length = "Content-Length: \(issuedTokens.utf8.count)\r\n"
    private static let chunk = String(issuedTokens.utf8.count, radix: 16) + "\r\n" + issuedTokens + "\r\n"

    private func outcome(
        _ steps: [LoopbackServer.Step],
        limit: Duration = .seconds(120)
    ) async throws -> (outcome: RefreshOutcome, requests: Int) {
        try await withServer({ _, _ in steps }) { server in
            let outcome = try await withClient({ ($0.totalTimeout, $0.answerTimeout) = (limit, limit) }) {
                await $0.refresh(try refreshRequest(to: server.origin))
            }
            return (outcome, server.requests.count)
        }
    }

    /// Each is written as it stands, and the connection stays open or ends as the name says.
    private static let taken: [(name: String, text: String)] = [
        ("a length that is too large", head + "Content-Length: 5000\r\n\r\n" + issuedTokens),
        ("a last chunk that is missing", head + "Transfer-Encoding: chunked\r\n\r\n" + chunk),
        ("a chunk that ends too early", head + "Transfer-Encoding: chunked\r\n\r\nfff\r\n" + issuedTokens),
        ("junk after the chunk", head + "Transfer-Encoding: chunked\r\n\r\n" + chunk + "zzzz\r\n"),
        ("no length", head + "\r\n" + issuedTokens),
        ("the length twice", head + length + length + "\r\n" + issuedTokens),
        ("a length beside chunks", head + length + "Transfer-Encoding: chunked\r\n\r\n" + chunk + "0\r\n\r\n"),
        ("a folded header", head + "X-Note: one\r\n two\r\n" + length + "\r\n" + issuedTokens),
        ("a space before a colon", head + "X-Note : one\r\n" + length + "\r\n" + issuedTokens),
        ("bare line feeds", (head + length).replacingOccurrences(of: "\r\n", with: "\n") + "\n" + issuedTokens),
        ("a gzip label on plain text", head + "Content-Encoding: gzip\r\n" + length + "\r\n" + issuedTokens),
        ("text after the object", head + "\r\n" + issuedTokens + "\n<!-- served by proxy -->"),
        ("a byte order mark", head + "\r\n\u{feff}" + issuedTokens),
        ("interim heads", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + head + length + "\r\n" + issuedTokens),
    ]

    @Test(arguments: 0..<taken.count, ["open", "closed", "reset"])
    func `a whole answer with tokens is taken, whatever its framing says`(_ row: Int, _ end: String) async throws {
        let (name, text) = Self.taken[row]
        let ends: [String: [LoopbackServer.Step]] = ["closed": [.close], "reset": [.resetAfterReading]]
        let (outcome, requests) = try await outcome([.send(text)] + (ends[end] ?? []))
        #expect(outcome.response?.refreshToken == RefreshToken(Secret("r2")), "\(name), \(end)")
        #expect(requests == 1)
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n" + issuedTokens.dropLast(),
        "HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\naccess_token=a1&refresh_token=r2",
        "HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n<p>{\"access_token\":\"a1\"",
    ])
    func `a cut object is never taken, nor a form whose framing is broken`(_ text: String) async throws {
        let (outcome, _) = try await outcome([.send(text), .close])
        #expect(outcome.failure?.failureClass == .unanswered)
    }

    /// The page "The answer is read by libcurl" lists these.
    @Test(arguments: ["no colon here\r\n", "Content-Length: many\r\n"])
    func `a head that libcurl refuses leaves the request unanswered`(_ line: String) async throws {
        let (outcome, _) = try await outcome([.send(Self.head + line + "\r\n" + issuedTokens), .close])
        #expect(outcome.failure?.failureClass == .unanswered)
    }

    @Test func `a whole error ends the reading, too`() async throws {
        let text = "HTTP/1.1 400 Bad Request\r\nContent-Length: 5000\r\n\r\n{\"error\":\"invalid_grant\"}"
        let (outcome, _) = try await outcome([.send(text)])
        #expect(outcome.failure?.detail.oauthError == "invalid_grant")
    }

    @Test(arguments: [
        "<br />\n<b>Warning</b>: Undefined {index} in <b>x.php</b> \"<br />\n",
        "<!doctype html><script>f({a: 1})</script>",
        "Notice: {\"a\": {\"b\": 1}}\n",
    ])
    func `an object with tokens behind a notice is taken of a server on this machine`(_ notice: String) async throws {
        let (outcome, _) = try await outcome([LoopbackServer.answer(200, [:], notice + issuedTokens + "\n")])
        #expect(outcome.response?.refreshToken == RefreshToken(Secret("r2")))
    }

    @Test(arguments: ["<p>" + issuedTokens + "</p>", "<script>f({\"a\":1})</script>", #"<p>{"error":"x"}"#])
    func `a page that does not end with tokens is no answer`(_ page: String) {
        #expect(WholeAnswer.trailingTokens(in: Array(page.utf8)) == nil)
        #expect(WholeAnswer.part(of: Array(page.utf8), trustsServer: true) == nil)
    }

    @Test func `tokens behind a notice are not taken of a server that nothing vouches for`() {
        #expect(WholeAnswer.part(of: Array(("<br>" + issuedTokens).utf8), trustsServer: false) == nil)
    }

    /// Behind a page of two MiB full of brackets, the search has the same end.
    @Test func `the search behind a page is bounded`() {
        let page = Array((String(repeating: "{\"a\":", count: 400_000) + issuedTokens).utf8)
        #expect(WholeAnswer.trailingTokens(in: page) == Array(issuedTokens.utf8))
    }

    @Test(arguments: ["HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n"])
    func `interim heads without end are cut off`(_ interim: String) async throws {
        let (outcome, _) = try await outcome([.flood(interim, limit: 200_000_000)])
        #expect(outcome.failure?.failureClass == .unanswered)
    }

    @Test func `headers without end are cut off`() async throws {
        let (outcome, _) = try await outcome([.send("HTTP/1.1 200 OK\r\n"), .flood("X-A: b\r\n", limit: 200_000_000)])
        #expect(outcome.failure?.failureClass == .unanswered)
    }

    @Test(arguments: [
        "1;" + String(repeating: "x", count: 8000) + "\r\n \r\n",
        "1\r\n \r\n",
    ])
    func `chunks whose extensions or number have no end are cut off`(_ chunk: String) async throws {
        let text = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
        let part = String(repeating: chunk, count: 65_536 / chunk.utf8.count + 1)
        try await withServer({ _, _ in [.send(text), .flood(part, limit: 400_000_000)] }) { server in
            let outcome = try await withClient({ ($0.totalTimeout, $0.answerTimeout) = (.seconds(120), .seconds(120)) })
            {
                await $0.refresh(try refreshRequest(to: server.origin))
            }
            #expect(outcome.failure?.failureClass == .unanswered)
            // The limit, what lay in the sockets' buffers, and what was read in one turn.
            #expect(server.floodedBytes < 60_000_000)
        }
    }
}

/// The end of the object with which a text begins.
struct ObjectScanTests {
    @Test(arguments: [
        ("{}", 2), (" {} ", 3), (#"{"a":"}"}x"#, 9), (#"{"a":"\"}"}"#, 11), (#"{"a":[{}]}{"#, 10), ("[{}]", nil),
        ("x{}", nil),
        ("{", nil), (#"{"a":"}"#, nil), ("", nil),
    ])
    func `the end is found in one pass, in parts of any length`(_ text: String, _ end: Int?) {
        #expect(ObjectScan(Array(text.utf8)).end == end)
        var scan = ObjectScan()
        for byte in text.utf8 { scan.take(CollectionOfOne(byte)) }
        #expect(scan.end == end)
    }
}
