/// Searches bytes for secrets: for complete ones, and for any piece of one.
struct SecretSearch {
    /// Marks of secrets that were not recorded: our server's tokens, private keys, and signed tokens (a JWT begins with
    /// the Base64 of `{"alg":` or `{"typ":`).
    private static let marks = ["demo-at-", "demo-rt-", "PRIVATE KEY", "eyJhbGciOi", "eyJ0eXAiOi"]
    /// The length of a piece that counts as a secret: 56 bits of a hexadecimal token, which do not occur by chance.
    private static let pieceLength = 14

    /// The pieces by their first eight bytes, which are searched for as a number.
    private var pieces: [UInt64: [[UInt8]]] = [:]
    /// The last two of those eight bytes. They alone exclude most places in a file.
    private var tails = [Bool](repeating: false, count: 1 << 16)
    private(set) var count = 0

    init() {
        for mark in Self.marks { add(piece: Array(mark.utf8)[...]) }
    }

    /// - Parameter secret: if it is shorter than a piece, it is searched for as a whole; if it has fewer than eight
    ///   bytes, it is not searched for.
    mutating func add(_ secret: some Collection<UInt8>) {
        let bytes = Array(secret)
        count += 1
        guard bytes.count > Self.pieceLength else { return add(piece: bytes[...]) }
        for start in 0...bytes.count - Self.pieceLength { add(piece: bytes[start..<start + Self.pieceLength]) }
    }

    private mutating func add(piece: ArraySlice<UInt8>) {
        guard piece.count >= 8 else { return }
        let head = piece.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        tails[Int(head & 0xffff)] = true
        pieces[head, default: []].append(Array(piece))
    }

    /// The number of pieces of secrets in `bytes`. A complete secret counts as many pieces.
    func hits(in bytes: [UInt8]) -> Int {
        var hits = 0
        var head: UInt64 = 0
        for (place, byte) in bytes.enumerated() {
            head = head << 8 | UInt64(byte)
            guard tails[Int(head & 0xffff)], place >= 7, let candidates = pieces[head] else { continue }
            if candidates.contains(where: { bytes[(place - 7)...].starts(with: $0) }) { hits += 1 }
        }
        return hits
    }

    func hits(in text: String) -> Int {
        hits(in: Array(text.utf8))
    }
}
