/// How many bytes are held for processes, on all connections of each.
package struct HeldBytes {
    let ofProcessMax: Int
    let ofAllMax: Int
    private var ofProcess: [Int32: Int] = [:]
    private var ofAll = 0

    package init(ofProcessMax: Int, ofAllMax: Int) {
        self.ofProcessMax = ofProcessMax
        self.ofAllMax = ofAllMax
    }

    /// Notes that so many more bytes are held for `process`, or fewer.
    package mutating func count(_ change: Int, for process: Int32?) {
        guard let process else { return }
        ofAll += change
        let count = ofProcess[process, default: 0] + change
        ofProcess[process] = count > 0 ? count : nil
    }

    package enum Verdict: Equatable {
        case fits
        case tooManyOfProcess
        /// There would be room without those of the process that has the most.
        case tooManyOfAll(most: Int32)
    }

    /// Whether so many more bytes may be held for `process`.
    package func verdict(on bytes: Int, for process: Int32?) -> Verdict {
        guard let process else { return .fits }
        let mine = ofProcess[process, default: 0] + bytes
        guard mine <= ofProcessMax else { return .tooManyOfProcess }
        guard ofAll + bytes > ofAllMax else { return .fits }
        let most = ofProcess.max { $0.value < $1.value }
        return .tooManyOfAll(most: most.flatMap { $0.value > mine ? $0.key : nil } ?? process)
    }
}
