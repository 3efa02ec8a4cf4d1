import CCurl

/// Bodies that a server compresses without being asked.
enum Compression {
    enum Text {
        /// The text, and whether the compressed stream came to its end.
        case text([UInt8], isWhole: Bool)
        /// It is longer than the limit.
        case tooLarge
    }

    /// The text in `body`. What is compressed is told by its first bytes, because labels are often wrong: gzip (RFC
    /// 1952), zlib (RFC 1950). Only the raw stream (RFC 1951), which some servers call `deflate`, needs the label.
    static func text(in body: [UInt8], label: String?, limit: Int) -> Text {
        guard let format = format(of: body, label: label) else { return .text(body, isWhole: true) }
        return inflated(body, format, limit)
    }

    /// zlib's `windowBits`; nil if the body is not compressed.
    private static func format(of body: [UInt8], label: String?) -> Int32? {
        guard body.count >= 2 else { return nil }
        if body[0] == 0x1f, body[1] == 0x8b { return 16 + MAX_WBITS }
        if body[0] == 0x78, (Int(body[0]) << 8 | Int(body[1])) % 31 == 0 { return MAX_WBITS }
        let isText = body[0] == UInt8(ascii: "{") || body[0] == UInt8(ascii: "<") || body[0] <= 0x20
        return label?.lowercased() == "deflate" && !isText ? -MAX_WBITS : nil
    }

    private static func inflated(_ body: [UInt8], _ format: Int32, _ limit: Int) -> Text {
        var stream = unsafe z_stream()
        guard unsafe inflateInit2_(&stream, format, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            return .text([], isWhole: false)
        }
        defer { unsafe _ = inflateEnd(&stream) }
        var input = body
        var text: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 16 << 10)
        return unsafe input.withUnsafeMutableBufferPointer { input in
            unsafe stream.next_in = input.baseAddress
            unsafe stream.avail_in = UInt32(input.count)
            while true {
                let (status, count) = unsafe part.withUnsafeMutableBufferPointer { part in
                    unsafe stream.next_out = part.baseAddress
                    unsafe stream.avail_out = UInt32(part.count)
                    let status = unsafe inflate(&stream, Z_NO_FLUSH)
                    return (status, unsafe part.count - Int(stream.avail_out))
                }
                text += part[..<count]
                if text.count > limit { return .tooLarge }
                // Without progress, the stream is broken or cut.
                guard status == Z_OK, count > 0 else { return .text(text, isWhole: status == Z_STREAM_END) }
            }
        }
    }
}
