import Systemd
import Testing

@Suite struct MessageIDTests {
    @Test func `an ID is written with 32 lower-case digits, including leading zeros`() {
        #expect(
            MessageID(0x00ab_cdef_0123_4567, 0x0000_0000_0000_00ff).description == "00abcdef0123456700000000000000ff"
        )
        #expect(MessageID(0, 0).description == String(repeating: "0", count: 32))
        #expect(MessageID(.max, .max).description == String(repeating: "f", count: 32))
    }

    @Test func `text and id are each other's inverse`() {
        let text = "98befa1e1e1e4c3ab05f2d7c06d8f01a"
        #expect(MessageID(text: text)?.description == text)
        #expect(MessageID(text: text.uppercased())?.description == text)
    }

    @Test(arguments: [
        "", "98befa1e1e1e4c3ab05f2d7c06d8f01", "98befa1e1e1e4c3ab05f2d7c06d8f01a0", "g8befa1e1e1e4c3ab05f2d7c06d8f01a",
        "+8befa1e1e1e4c3ab05f2d7c06d8f01a", "98befa1e1e1e4c3a-05f2d7c06d8f01a",
        "９8befa1e1e1e4c3ab05f2d7c06d8f01a", "98befa1e-1e1e-4c3a-b05f-2d7c06d8f01a",
    ])
    func `text that is not 32 hexadecimal digits is not an ID`(text: String) {
        #expect(MessageID(text: text) == nil)
    }
}
