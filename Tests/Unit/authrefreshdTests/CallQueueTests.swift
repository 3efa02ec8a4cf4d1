import Testing

@testable import authrefreshd

struct CallQueueTests {
    @Test func `a process with many waiting calls delays another by only one of them`() {
        var queue = CallQueue<String>()
        func add(_ call: String, of process: Int32) -> Bool { queue.add(call, of: process) }
        func next() -> String? { queue.next() }
        #expect(add("a1", of: 1))
        for number in 2...100 { #expect(!add("a\(number)", of: 1)) }
        #expect(!add("b1", of: 2))
        #expect(next() == "a1")
        #expect(next() == "b1")
        #expect(!add("b2", of: 2))
        #expect(next() == "a2")
        #expect(next() == "b2")
        for number in 3...100 { #expect(next() == "a\(number)") }
        #expect(next() == nil)
        // Its place is free, because nobody serves it any more.
        #expect(add("c1", of: 3))
    }
}
