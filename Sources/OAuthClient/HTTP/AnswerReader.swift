import OAuthMessages

/// Collects one answer as it arrives, and says when it is all there.
struct AnswerReader {
    /// The longest head of an answer, with all interim ones, in bytes.
    static let headBytesMax = 64 << 10
    /// The most interim heads (status 1xx) before an answer.
    static let interimHeadsMax = 32
    /// The most bytes that are read from a connection, of any kind.
    static let wireBytesMax = 4 << 20

    /// The longest body that is read, in bytes.
    let bodyBytesMax: Int
    private var fields: [(name: String, value: String)] = []
    private var headBytes = 0
    private var heads = 0
    private var body: [UInt8] = []
    private var scan = ObjectScan()
    private var isTooLarge = false
    /// Whether the head and an object with a token or an error are there. Nothing that follows matters.
    private(set) var isConclusive = false

    init(bodyBytesMax: Int) {
        self.bodyBytesMax = bodyBytesMax
    }

    /// Takes the next line of a head.
    ///
    /// - Returns: false to end the reading, because the head is too long.
    mutating func takeHead(_ line: UnsafeRawBufferPointer) -> Bool {
        // The fields behind the last chunk say nothing that matters.
        guard body.isEmpty else { return true }
        headBytes += line.count
        guard headBytes <= Self.headBytesMax else { return false }
        let text = unsafe String(decoding: line, as: UTF8.self)
        if text.hasPrefix("HTTP/") {
            heads += 1
            fields = []
            return heads <= 1 + Self.interimHeadsMax
        }
        if text.first == " " || text.first == "\t", let last = fields.popLast() {
            // RFC 9112 §5.2: an answer's folded line continues the value.
            fields.append((last.name, last.value + " " + Self.trimmed(text[...])))
        } else if let colon = text.firstIndex(of: ":") {
            let value = text[text.index(after: colon)...]
            fields.append((name: Self.trimmed(text[..<colon]), value: Self.trimmed(value)))
        }
        return true
    }

    /// Takes the next part of the body.
    ///
    /// - Returns: false to end the reading, because the answer is complete or too long.
    mutating func takeBody(_ part: UnsafeRawBufferPointer) -> Bool {
        unsafe body.append(contentsOf: part)
        let wasOpen = scan.end == nil
        unsafe scan.take(part)
        if wasOpen, let end = scan.end { isConclusive = WholeAnswer.isConclusive(body, until: end) }
        isTooLarge = !isConclusive && body.count > bodyBytesMax
        return !isConclusive && !isTooLarge
    }

    /// The answer; nil if it is not whole.
    ///
    /// - Parameters:
    ///   - isEnded: whether the answer ended as its framing announced.
    ///   - trustsServer: whether the server is certainly the one that was asked.
    func answer(status: Int, isEnded: Bool, trustsServer: Bool) -> Answer? {
        guard status >= 100 else { return nil }
        var answer = Answer(status: status, headers: HeaderFields(fields))
        answer.isTooLarge = isTooLarge
        guard !isTooLarge else { return answer }
        let label = answer.headers.first(name: "content-encoding")
        switch Compression.text(in: body, label: label, limit: bodyBytesMax) {
        case .tooLarge:
            answer.isTooLarge = true
            return answer
        case .text(let text, isWhole: true) where isEnded && (isFramed(answer) || !WholeAnswer.isForm(text)):
            let mayHide = trustsServer && ObjectScan(text).end == nil
            answer.body = (mayHide ? WholeAnswer.trailingTokens(in: text) : nil) ?? text
            return answer
        case .text(let text, _):
            guard let part = WholeAnswer.part(of: text, trustsServer: trustsServer) else { return nil }
            answer.body = part
            return answer
        }
    }

    /// Whether the head says where the body ends. Else the connection's end does, which a cut connection has too.
    private func isFramed(_ answer: Answer) -> Bool {
        ["content-length", "transfer-encoding"].contains { answer.headers.first(name: $0) != nil }
    }

    private static func trimmed(_ text: Substring) -> String {
        let isBlank = { (character: Character) in character == " " || character == "\t" || character.isNewline }
        guard let last = text.lastIndex(where: { !isBlank($0) }) else { return "" }
        return String(text[...last].drop(while: isBlank))
    }
}
