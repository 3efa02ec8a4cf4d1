/// What `authctl status --watch` shows: a part of the accounts and notes, between what always stands there.
struct StatusScreen {
    /// The table's header; empty if there is no table.
    let header: [String]
    /// The accounts, then what is to be said about them.
    let body: [String]
    /// How many lines of the body are accounts.
    let rowCount: Int
    /// What sums it up.
    let end: [String]

    /// What is shown in so many lines.
    struct Page: Equatable {
        var lines: [String]
        /// The first line of the body that is shown.
        var offset: Int
        /// How many lines of the body are shown.
        var room: Int
        /// What is out of sight, and by what it can be had: `2 accounts out of sight; arrow keys scroll (3 lines above, 20 below)`; nil if
        /// nothing is.
        var hidden: String?
    }

    /// - Parameters:
    ///   - height: the lines that there are.
    ///   - offset: the first line of the body that is wanted; the nearest possible one is taken.
    func page(height: Int, offset: Int) -> Page {
        // A terminal of a few lines shows accounts rather than anything else.
        let fixed = header.count + end.count + 1 < height ? (header, end.isEmpty ? [] : [""] + end) : ([], [])
        let room = max(1, height - fixed.0.count - fixed.1.count)
        let first = max(0, min(offset, body.count - room))
        let last = min(body.count, first + room)
        let lines = fixed.0 + body[first..<last] + fixed.1
        return Page(lines: lines, offset: first, room: room, hidden: hidden(first..<last))
    }

    private func hidden(_ shown: Range<Int>) -> String? {
        let (above, below) = (shown.lowerBound, body.count - shown.upperBound)
        guard above + below > 0 else { return nil }
        let rows = rowCount - shown.clamped(to: 0..<rowCount).count
        return StatusWords.hidden(accounts: rows, above: above, below: below)
    }
}

/// The keys that scroll, as terminals send them.
struct ScrollKeys {
    enum Step: Equatable {
        case lines(Int)
        case pages(Int)
        case beginning
        case end
    }

    /// What has come of a key that is not complete yet.
    private var pending: [UInt8] = []

    /// The steps that the bytes mean, in their order.
    mutating func steps(in bytes: [UInt8]) -> [Step] {
        var rest = (pending + bytes)[...]
        pending = []
        var steps: [Step] = []
        while let first = rest.first {
            guard first == 0x1B else {
                rest.removeFirst()
                if let step = Self.letters[first] { steps.append(step) }
                continue
            }
            guard let length = Self.length(of: rest) else {
                pending = Array(rest)
                break
            }
            let key = String(decoding: rest.dropFirst(2).prefix(length - 2), as: UTF8.self)
            if let step = Self.sequences[key] { steps.append(step) }
            rest = rest.dropFirst(length)
        }
        return steps
    }

    /// As less(1) has them.
    private static let letters: [UInt8: Step] = [
        UInt8(ascii: "j"): .lines(1), UInt8(ascii: "k"): .lines(-1), UInt8(ascii: " "): .pages(1),
        UInt8(ascii: "b"): .pages(-1), UInt8(ascii: "g"): .beginning, UInt8(ascii: "G"): .end,
    ]

    /// Behind ESC [ or ESC O.
    private static let sequences: [String: Step] = [
        "A": .lines(-1), "B": .lines(1), "5~": .pages(-1), "6~": .pages(1), "H": .beginning, "F": .end,
        "1~": .beginning, "4~": .end,
    ]

    /// Bytes of the key that the bytes begin with; nil if more have to come. ECMA-48 §5.4: the last byte is 0x40 to 0x7E.
    private static func length(of bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.count >= 2 else { return nil }
        let second = bytes[bytes.startIndex + 1]
        // The key Escape, and another after it.
        guard second == UInt8(ascii: "[") || second == UInt8(ascii: "O") else { return 2 }
        let end = bytes.dropFirst(2).firstIndex { (0x40...0x7E).contains($0) }
        return end.map { $0 - bytes.startIndex + 1 }
    }
}
