/// How many bytes are held for processes, on all connections of each.
struct HeldBytes {
    let ofProcessMax: Int
    let ofAllMax: Int
    private var ofProcess: [Int32: Int] = [:]
    private var ofAll = 0

    init(ofProcessMax: Int, ofAllMax: Int) {
        self.ofProcessMax = ofProcessMax
        self.ofAllMax = ofAllMax
    }

    /// Notes that so many more bytes are held for `process`, or fewer.
    mutating func count(_ change: Int, for process: Int32?) {
        guard let process else { return }
        ofAll += change
        let count = ofProcess[process, default: 0] + change
        ofProcess[process] = count > 0 ? count : nil
    }

    /// Whether so many more bytes would be too many.
    func isTooMuch(_ bytes: Int, for process: Int32?) -> Bool {
        guard let process else { return false }
        return ofProcess[process, default: 0] + bytes > ofProcessMax || ofAll + bytes > ofAllMax
    }
}
