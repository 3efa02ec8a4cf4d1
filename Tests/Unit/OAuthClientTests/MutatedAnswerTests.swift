import Foundation
import Glibc
import RefreshCore
import TestSupport
import Testing

@testable import OAuthClient
@testable import OAuthMessages

/// Answers with tokens in every framing that libcurl reads, cut, split and damaged at random places.
struct MutatedAnswerTests {
    /// How many are tried: a part of the 100,000 that were tried when this was written.
    private static let count = Int(ProcessInfo.processInfo.environment["AUTHREFRESH_ANSWERS"] ?? "") ?? 10_000
    /// How many tasks try them.
    private static let width = 8

    @Test func `of thousands of mutated answers, no token is lost that stood whole, and none is made up`() async throws
    {
        let server = try MutatedAnswerServer(threads: Self.width)
        defer { server.stop() }
        let chosen = ProcessInfo.processInfo.environment["AUTHREFRESH_ANSWER_SEED"]
        let first = chosen.flatMap { UInt64($0) } ?? .random(in: 0..<1 << 48)
        try await withClient { client in
            let transport = client.servers.transport
            await withTaskGroup { group in
                for start in 0..<Self.width {
                    group.addTask {
                        for number in stride(from: start, to: Self.count, by: Self.width) {
                            let seed = first + UInt64(number)
                            let flaw = await flaw(of: seed, at: server.origin, transport)
                            if let flaw { Issue.record("AUTHREFRESH_ANSWER_SEED=\(seed): \(flaw)") }
                        }
                    }
                }
            }
        }
    }

    /// What was wrong with how the answer with this seed was read; nil if nothing was.
    private func flaw(of seed: UInt64, at origin: String, _ transport: HTTPTransport) async -> String? {
        guard let endpoint = Endpoint("\(origin)/\(seed)") else { return "no endpoint" }
        let expected = MutatedAnswer(seed: seed)
        let outcome: Result<Answer, TransportFailure>
        do throws(TransportFailure) {
            let request = HTTPTransport.Request(endpoint: endpoint, headers: [:], body: Array("a=b".utf8))
            outcome = .success(try await transport.send(request, before: .now + .seconds(120)))
        } catch {
            outcome = .failure(error)
        }
        let text = String(decoding: expected.bytes, as: UTF8.self).debugDescription
        switch outcome {
        case .failure(let failure) where failure.cause == .timeLimit: return "it hangs: \(text)"
        case .failure(let failure): return expected.isWhole ? "\(failure.cause): \(text)" : nil
        case .success(let answer):
            let token = JSONTree.object(inAnswer: answer.body)?["refresh_token"]?.text
            if expected.isWhole { return token == expected.token ? nil : "lost: \(text)" }
            return expected.isCut && token != nil ? "made up: \(text)" : nil
        }
    }
}

/// One answer, the same for the same seed.
private struct MutatedAnswer {
    let token: String
    private(set) var bytes: [UInt8]
    /// Whether the object is in it to its end, behind a head that libcurl takes.
    private(set) var isWhole = true
    /// Whether it ends before the object does.
    private(set) var isCut = false
    /// How the connection ends: closed, reset, or held open until the client closes.
    let end: Int
    /// The sizes of the parts in which it is written.
    let parts: [Int]

    init(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        token = "r\(seed)"
        let object = Self.object(token, &random)
        let junk = (0..<Int.random(in: 0...60, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        let before = Array(["", " ", "\r\n\t", "\u{feff}"].randomElement(using: &random)?.utf8 ?? "".utf8)
        let (head, body) = Self.framed(before + object, junk, &random)
        let start = Array(Self.interim(&random).utf8) + head
        bytes = start + body.text
        let objectEnd = start.count + body.objectEnd
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            let length = Int.random(in: 0...bytes.count, using: &random)
            bytes = Array(bytes.prefix(length))
            (isWhole, isCut) = (length >= objectEnd, length < objectEnd)
        case 1:
            // Damage behind the object, which must not matter.
            for index in objectEnd..<bytes.count where Bool.random(using: &random) {
                bytes[index] = .random(in: 0...255, using: &random)
            }
        case 2:
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            isWhole = false
        default: break
        }
        end = Int.random(in: 0..<(isWhole ? 3 : 2), using: &random)
        var left = bytes.count
        var sizes: [Int] = []
        while left > 0, sizes.count < 5 {
            sizes.append(sizes.count == 4 ? left : Int.random(in: 1...left, using: &random))
            left -= sizes.last ?? 0
        }
        parts = sizes
    }

    private static func object(_ token: String, _ random: inout SplitMix64) -> [UInt8] {
        let others = [
            #""scope":"a {b} \"c\" \\""#, #""x":{"y":[1,{"z":"}"}]}"#, #""name":"\u00e9é\/""#, #""expires_in":3600"#,
            #""n":null"#,
        ].shuffled(using: &random)
        let fields = [#""access_token":"a""#, #""refresh_token":"\#(token)""#]
        let all = (fields + others.prefix(Int.random(in: 0...others.count, using: &random))).shuffled(using: &random)
        let blank = ["", " ", "\n  "].randomElement(using: &random) ?? ""
        return Array(("{" + blank + all.joined(separator: "," + blank) + blank + "}").utf8)
    }

    private static func interim(_ random: inout SplitMix64) -> String {
        let head = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
        return String(repeating: head, count: Int.random(in: 0...3, using: &random))
    }

    /// Head and body, and where in the body the object ends.
    private static func framed(
        _ object: [UInt8],
        _ junk: [UInt8],
        _ random: inout SplitMix64
    ) -> (head: [UInt8], body: (text: [UInt8], objectEnd: Int)) {
        var fields = ["Content-Type: application/json"]
        var body = (text: object + junk, objectEnd: object.count)
        let length = "Content-Length: \(object.count)"
        switch Int.random(in: 0..<8, using: &random) {
        case 0: fields.append(length)
        case 1: fields.append("Content-Length: \(object.count + Int.random(in: 1...5000, using: &random))")
        case 2: fields += [length, length]
        case 3: fields += [length, "Transfer-Encoding: chunked"]; body = chunked(object, junk, &random)
        case 4, 5: fields.append("Transfer-Encoding: chunked"); body = chunked(object, junk, &random)
        case 6: fields += [length, "Content-Encoding: gzip"]
        default: break
        }
        let more = ["X-Note: one\r\n two", "X-Note : one", "X-Empty:", "Connection: keep-alive"]
        fields += more.shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random))
        let lineEnd = Bool.random(using: &random) ? "\r\n" : "\n"
        let text = (["HTTP/1.1 200 OK"] + fields).joined(separator: lineEnd) + lineEnd + lineEnd
        return (Array(text.utf8), body)
    }

    private static func chunked(
        _ object: [UInt8],
        _ junk: [UInt8],
        _ random: inout SplitMix64
    ) -> (text: [UInt8], objectEnd: Int) {
        var text: [UInt8] = []
        var rest = object[...]
        var end = 0
        while !rest.isEmpty {
            let part = rest.prefix(Int.random(in: 1...rest.count, using: &random))
            rest = rest.dropFirst(part.count)
            let marks = Bool.random(using: &random) ? ";x=\"y\"" : ""
            text += Array((String(part.count, radix: 16) + marks + "\r\n").utf8) + part
            end = text.count
            text += Array("\r\n".utf8)
        }
        let ends = ["0\r\n\r\n", "", "0\r\nX-Trailer: 1\r\n\r\n", "zz\r\n", "0\r\n"]
        return (text + Array((ends.randomElement(using: &random) ?? "").utf8) + junk, end)
    }
}

/// Answers the request for `/SEED` with the answer of that seed, on threads that block.
private final class MutatedAnswerServer: Sendable {
    let origin: String
    private let listener: Int32

    init(threads: Int) throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = listener
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(descriptor, pointer, size) == 0 && listen(descriptor, 1024) == 0
                    && getsockname(descriptor, pointer, &size) == 0
            }
        }
        try #require(isBound)
        origin = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
        for _ in 0..<threads {
            Thread.detachNewThread {
                while true {
                    let connection = accept(descriptor, nil, nil)
                    guard connection >= 0 else { return }
                    Self.serve(connection)
                }
            }
        }
    }

    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    private static func serve(_ connection: Int32) {
        defer { close(connection) }
        // A part that the kernel still holds back would be thrown away by a reset.
        var noDelay: Int32 = 1
        unsafe setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &noDelay, socklen_t(MemoryLayout<Int32>.size))
        var request: [UInt8] = []
        while !request.suffix(7).elementsEqual("\r\n\r\na=b".utf8) {
            guard let part = bytes(from: connection) else { return }
            request += part
        }
        let line = String(decoding: request.prefix { $0 != 0x0d }, as: UTF8.self)
        let path = line.split(separator: " ").dropFirst().first
        guard let seed = path.flatMap({ UInt64($0.dropFirst()) }) else { return }
        let answer = MutatedAnswer(seed: seed)
        var rest = answer.bytes[...]
        for size in answer.parts {
            let part = Array(rest.prefix(size))
            rest = rest.dropFirst(size)
            // The client may have closed, because it has read enough.
            guard unsafe send(connection, part, part.count, Int32(MSG_NOSIGNAL)) == part.count else { return }
        }
        switch answer.end {
        case 0: break
        case 1:
            var linger = linger(l_onoff: 1, l_linger: 0)
            unsafe setsockopt(connection, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
        default: while bytes(from: connection) != nil {}
        }
    }

    /// The next bytes; nil at the end.
    private static func bytes(from connection: Int32) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe recv(connection, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer.prefix(count)) : nil
    }
}
