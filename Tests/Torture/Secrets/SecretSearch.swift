/// Looks for secrets in bytes: for each of them whole, and for any piece of one.
struct SecretSearch {
    /// What tells a secret that nobody has noted: our server's tokens, private keys, and all that is signed by one (a JWT begins with the
    /// Base64 of `{"alg":` or `{"typ":`).
    private static let marks = ["demo-at-", "demo-rt-", "PRIVATE KEY", "eyJhbGciOi", "eyJ0eXAiOi"]
    /// So long a piece of one is one: 56 bits of a hexadecimal token, and more than chance brings together.
    private static let pieceLength = 14

    /// Pieces by their first eight bytes, which are looked for as a number.
    private var pieces: [UInt64: [[UInt8]]] = [:]
    /// The last two of those eight bytes: most places in a file are ruled out by these alone.
    private var tails = [Bool](repeating: false, count: 1 << 16)
    private(set) var count = 0

    init() {
        for mark in Self.marks { add(piece: Array(mark.utf8)[...]) }
    }

    /// - Parameter secret: shorter than a piece, it is looked for as a whole; of less than eight bytes, not at all.
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

    /// How many pieces of secrets there are in `bytes`; those of one secret that stands there whole are many.
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
