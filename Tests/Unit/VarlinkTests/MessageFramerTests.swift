import TestSupport
import Testing
import Varlink

@Suite struct MessageFramerTests {
    /// Feeds `chunks` one by one, and returns the frames; nil if one is too long.
    private func frames(_ chunks: [[UInt8]], limit: Int = 100) -> [[UInt8]]? {
        var framer = MessageFramer(messageBytesMax: limit)
        var messages: [[UInt8]] = []
        for chunk in chunks {
            framer.append(chunk)
            while let message = framer.next() { messages.append(message) }
            if framer.isTooLong { return nil }
        }
        return messages
    }

    @Test func `every split of a stream into two gives the same messages`() {
        let stream = Array("{\"a\":1}\0{}\0\0{\"longer\":[1,2,3]}\0rest".utf8)
        let expected = ["{\"a\":1}", "{}", "", "{\"longer\":[1,2,3]}"].map { Array($0.utf8) }
        for split in 0...stream.count {
            #expect(frames([Array(stream[..<split]), Array(stream[split...])]) == expected)
        }
    }

    @Test func `single bytes give the same messages as the whole`() {
        let stream = Array("one\0two\0\0".utf8)
        #expect(frames(stream.map { [$0] }) == frames([stream]))
    }

    @Test func `a message of exactly the limit passes and one byte more does not`() {
        #expect(frames([Array("12345\0".utf8)], limit: 5)?.count == 1)
        #expect(frames([Array("123456\0".utf8)], limit: 5) == nil)
    }

    @Test func `a message is refused as soon as it has passed the limit, not at its end`() {
        #expect(frames([Array("123456".utf8)], limit: 5) == nil)
    }

    @Test func `messages before an overlong one are returned`() {
        var framer = MessageFramer(messageBytesMax: 5)
        framer.append(Array("ok\0toolong".utf8))
        #expect(framer.next() == Array("ok".utf8))
        #expect(!framer.isTooLong)
        #expect(framer.next() == nil && framer.isTooLong)
    }

    @Test(arguments: 0..<50) func `random splits of random streams neither lose nor add anything`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let messages: [[UInt8]] = (0..<40).map { _ in
            (0..<Int.random(in: 0...90, using: &random)).map { _ in UInt8.random(in: 1...255, using: &random) }
        }
        var rest = Array(messages.map { $0 + [0] }.joined())[...]
        var chunks: [[UInt8]] = []
        while !rest.isEmpty {
            let count = Int.random(in: 1...200, using: &random)
            chunks.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        #expect(frames(chunks) == messages)
    }

    @Test func `returned messages are not kept while a later message is incomplete`() {
        var framer = MessageFramer(messageBytesMax: 1000)
        for _ in 0..<10_000 {
            framer.append(Array("0123456789\0x".utf8))
            #expect(framer.next() != nil)
            #expect(framer.bufferedBytes == 1)
            framer.append(Array("\0y".utf8))
            #expect(framer.next() != nil)
            framer.append(Array("\0".utf8))
            #expect(framer.next() == [UInt8(ascii: "y")])
        }
        #expect(framer.bufferedBytes == 0)
    }
}
