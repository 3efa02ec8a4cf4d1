package import NIOCore

/// Cuts a stream of bytes into messages that each end with a NUL.
///
/// The work is linear in the number of bytes, however they are split: no byte is searched twice, and consumed bytes are
/// moved out of the way only when they are at least half of the buffer.
package struct MessageFramer {
    /// A message is longer than the limit; the stream cannot be followed any further.
    package struct MessageTooLong: Error, Equatable {}

    private let messageBytesMax: Int
    private var buffer = ByteBuffer()
    /// Readable bytes, from the front, that are known to hold no NUL.
    private var searched = 0

    package init(messageBytesMax: Int) {
        self.messageBytesMax = messageBytesMax
    }

    /// Bytes fed and not yet given out.
    package var bufferedBytes: Int { buffer.readableBytes }

    /// Takes `bytes` in; `next()` gives out what they complete.
    package mutating func append(_ bytes: ByteBuffer) {
        guard buffer.readableBytes > 0 else {
            buffer = bytes
            searched = 0
            return
        }
        if buffer.readerIndex > buffer.capacity / 2 {
            buffer.discardReadBytes()
        }
        buffer.writeImmutableBuffer(bytes)
    }

    /// The next complete message without its NUL; nil if its end has not come yet.
    ///
    /// - Throws: `MessageTooLong`, as soon as it is certain; the connection must then be closed.
    package mutating func next() throws(MessageTooLong) -> [UInt8]? {
        let unsearched = buffer.readableBytesView.dropFirst(searched)
        guard let end = unsearched.firstIndex(of: 0) else {
            searched = buffer.readableBytes
            guard searched <= messageBytesMax else { throw MessageTooLong() }
            return nil
        }
        let length = end - buffer.readerIndex
        guard length <= messageBytesMax, let message = buffer.readBytes(length: length) else {
            throw MessageTooLong()
        }
        buffer.moveReaderIndex(forwardBy: 1)
        searched = 0
        if buffer.readableBytes == 0 {
            buffer = ByteBuffer()
        }
        return message
    }
}
