import Testing

@testable import authrefreshd

struct CallQueueTests {
    @Test func `a process with many waiting calls delays another by only one of them`() {
        let queue = CallQueue<String>()
        #expect(queue.add("a1", of: 1))
        for number in 2...100 { #expect(!queue.add("a\(number)", of: 1)) }
        #expect(!queue.add("b1", of: 2))
        #expect(queue.next() == "a1")
        #expect(queue.next() == "b1")
        #expect(!queue.add("b2", of: 2))
        #expect(queue.next() == "a2")
        #expect(queue.next() == "b2")
        for number in 3...100 { #expect(queue.next() == "a\(number)") }
        #expect(queue.next() == nil)
        // Its place is free, because nobody serves it any more.
        #expect(queue.add("c1", of: 3))
    }
}
