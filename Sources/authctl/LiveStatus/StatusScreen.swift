/// The screen of `authctl status --watch`: a part of the accounts and notes between fixed lines.
struct StatusScreen {
    /// The table's header; empty if there is no table.
    let header: [String]
    /// The accounts, then the notes about them.
    let body: [String]
    /// How many lines of the body are accounts.
    let rowCount: Int
    /// The summary.
    let end: [String]

    /// The visible part for a given number of lines.
    struct Page: Equatable {
        var lines: [String]
        /// The first visible line of the body.
        var offset: Int
        /// The number of visible lines of the body.
        var room: Int
        /// What is not visible, and how to reach it: `2 accounts out of sight; arrow keys scroll (3 lines above, 20
        /// below)`; nil if everything is visible.
        var hidden: String?
        /// The same for a narrow terminal: `2 hidden; 3 above, 20 below`.
        var hiddenBriefly: String?
    }

    /// The page for a screen.
    ///
    /// - Parameters:
    ///   - height: the number of lines on the screen.
    ///   - offset: the wanted first line of the body. The nearest possible one is used.
    func page(height: Int, offset: Int) -> Page {
        // A terminal with only a few lines shows accounts before anything else.
        let fixed = header.count + end.count + 1 < height ? (header, end.isEmpty ? [] : [""] + end) : ([], [])
        let room = max(1, height - fixed.0.count - fixed.1.count)
        let first = max(0, min(offset, body.count - room))
        let last = min(body.count, first + room)
        var page = Page(lines: fixed.0 + body[first..<last] + fixed.1, offset: first, room: room)
        let below = body.count - last
        guard first + below > 0 else { return page }
        let rows = rowCount - (first..<last).clamped(to: 0..<rowCount).count
        page.hidden =
            (rows == 0 ? "" : "\(StatusView.accounts(rows)) out of sight; ")
            + "arrow keys scroll (\(first) above, \(below) below)"
        page.hiddenBriefly = (rows == 0 ? "" : "\(rows) hidden; ") + "\(first) above, \(below) below"
        return page
    }
}

/// The part of the accounts and notes that is shown. It moves by the keys that scroll, as terminals send them.
struct ScrollPosition {
    enum Step: Equatable {
        case lines(Int)
        case pages(Int)
        case beginning
        case end
    }

    private(set) var offset = 0
    private var room = 1
    /// The bytes of a key that is not complete yet.
    private var pending: [UInt8] = []

    /// Limits the requested position to the possible ones.
    mutating func settle(on page: StatusScreen.Page) {
        (offset, room) = (page.offset, page.room)
    }

    mutating func move(by bytes: [UInt8]) {
        for step in steps(in: bytes) {
            switch step {
            case .lines(let count): offset += count
            case .pages(let count): offset += count * max(1, room - 1)
            case .beginning: offset = 0
            // No screen has so many lines.
            case .end: offset = 1 << 30
            }
            offset = max(0, offset)
        }
    }

    /// The steps that the bytes mean, in order.
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

    /// The same letters as in less(1).
    private static let letters: [UInt8: Step] = [
        UInt8(ascii: "j"): .lines(1), UInt8(ascii: "k"): .lines(-1), UInt8(ascii: " "): .pages(1),
        UInt8(ascii: "b"): .pages(-1), UInt8(ascii: "g"): .beginning, UInt8(ascii: "G"): .end,
    ]

    /// The sequences after ESC [ or ESC O.
    private static let sequences: [String: Step] = [
        "A": .lines(-1), "B": .lines(1), "5~": .pages(-1), "6~": .pages(1), "H": .beginning, "F": .end,
        "1~": .beginning, "4~": .end,
    ]

    /// The length of the key at the start of the bytes; nil if it is not complete. ECMA-48 §5.4: the last byte is 0x40
    /// to 0x7E.
    private static func length(of bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.count >= 2 else { return nil }
        let second = bytes[bytes.startIndex + 1]
        // The Escape key, followed by another key.
        guard second == UInt8(ascii: "[") || second == UInt8(ascii: "O") else { return 2 }
        let end = bytes.dropFirst(2).firstIndex { (0x40...0x7E).contains($0) }
        return end.map { $0 - bytes.startIndex + 1 }
    }
}
