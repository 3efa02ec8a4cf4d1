import Testing

@testable import authagent

struct ReconnectionTests {
    private let start = ContinuousClock.now

    @Test func `a daemon that has answered is tried again at once, then less and less often`() {
        var reconnection = Reconnection()
        #expect(reconnection.isDue(at: start))
        reconnection.noteAnswer()
        var isTold = [reconnection.noteFailure(at: start)]
        #expect(reconnection.isDue(at: start))
        var (now, pauses) = (start, [Int32]())
        for _ in 0..<9 {
            isTold.append(reconnection.noteFailure(at: now))
            pauses.append(reconnection.milliseconds(from: now) / 1000)
            #expect(!reconnection.isDue(at: now))
            now += .seconds(pauses.last ?? 0)
            #expect(reconnection.isDue(at: now))
        }
        #expect(pauses == [5, 10, 20, 40, 80, 160, 300, 300, 300])
        // The restart is not reported, and of several failures in a row only the first.
        #expect(isTold == [false, true] + Array(repeating: false, count: 8))
    }

    @Test func `an answer ends the back-off`() {
        var reconnection = Reconnection()
        for _ in 0..<5 { _ = reconnection.noteFailure(at: start) }
        #expect(!reconnection.isDue(at: start + .seconds(30)))
        reconnection.noteAnswer()
        #expect(reconnection.isDue(at: start))
        let isTold = [reconnection.noteFailure(at: start), reconnection.noteFailure(at: start)]
        #expect(isTold == [false, true])
        #expect(reconnection.milliseconds(from: start) == 5000)
    }
}
