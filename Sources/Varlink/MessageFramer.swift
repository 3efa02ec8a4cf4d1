/// Cuts a stream of bytes into messages that each end with a NUL.
///
/// The work is linear in the number of bytes, however they are split: no byte is searched twice, and consumed bytes are
/// moved out of the way only when they are at least half of the buffer.
package struct MessageFramer {
    /// A message is longer than the limit; the stream cannot be followed any further.
    package struct MessageTooLong: Error, Equatable {}

    private let messageBytesMax: Int
    private var buffer: [UInt8] = []
    /// Where what has not been given out begins.
    private var start = 0
    /// Up to where it is known to hold no NUL.
    private var searched = 0

    package init(messageBytesMax: Int) {
        self.messageBytesMax = messageBytesMax
    }

    /// Bytes fed and not yet given out.
    package var bufferedBytes: Int { buffer.count - start }

    /// Takes `bytes` in; `next()` gives out what they complete.
    package mutating func append(_ bytes: [UInt8]) {
        guard bufferedBytes > 0 else {
            buffer = bytes
            (start, searched) = (0, 0)
            return
        }
        if start > buffer.count / 2 {
            buffer.removeFirst(start)
            searched -= start
            start = 0
        }
        buffer += bytes
    }

    /// The next complete message without its NUL; nil if its end has not come yet.
    ///
    /// - Throws: `MessageTooLong`, as soon as it is certain; the connection must then be closed.
    package mutating func next() throws(MessageTooLong) -> [UInt8]? {
        guard let end = buffer[searched...].firstIndex(of: 0) else {
            searched = buffer.count
            guard bufferedBytes <= messageBytesMax else { throw MessageTooLong() }
            return nil
        }
        guard end - start <= messageBytesMax else { throw MessageTooLong() }
        defer { (start, searched) = buffer.isEmpty ? (0, 0) : (end + 1, end + 1) }
        guard end == buffer.count - 1 else { return Array(buffer[start..<end]) }
        // The last of the buffer, and nearly always the only one: it becomes the message, uncopied.
        var message = buffer
        buffer = []
        message.removeLast()
        if start > 0 { message.removeFirst(start) }
        return message
    }
}
