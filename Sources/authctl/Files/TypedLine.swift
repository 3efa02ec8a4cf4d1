internal import Glibc

/// A line as it is typed, key by key; the keys that mend it are those of the user's terminal.
struct TypedLine {
    private let settings: termios
    /// What was typed and not taken back, without the line's end.
    private(set) var bytes: [UInt8] = []
    /// Whether the user ended the input where no line had begun.
    private(set) var hasEnded = false

    /// - Parameter settings: of the terminal as the user has it.
    init(_ settings: termios) {
        self.settings = settings
    }

    /// Has reads from a terminal that is not canonical wait for one byte, however long that takes.
    static func waitForEachByte(_ settings: inout termios) {
        set(VMIN, 1, in: &settings)
        set(VTIME, 0, in: &settings)
    }

    /// Takes one byte; whether it ends the line.
    mutating func take(_ byte: UInt8) -> Bool {
        // Ctrl-C and its like are the terminal's own still, and come as signals.
        switch byte {
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"): return true
        case key(VEOF):
            hasEnded = bytes.isEmpty
            return true
        // Terminals disagree on what backspace sends: either will do.
        case key(VERASE), 0x08, 0x7F: removeCharacter()
        // Nobody sees the words of a secret: both keys begin anew.
        case key(VKILL), key(VWERASE): bytes = []
        default: bytes.append(byte)
        }
        return false
    }

    /// The last character of UTF-8, which may be several bytes.
    private mutating func removeCharacter() {
        while let byte = bytes.popLast(), byte & 0xC0 == 0x80 {}
    }

    /// The byte of a key; nil if the user has switched it off.
    private func key(_ index: Int32) -> UInt8? {
        let byte = unsafe withUnsafeBytes(of: settings.c_cc) { unsafe $0[Int(index)] }
        // _POSIX_VDISABLE
        return byte == 0 ? nil : byte
    }

    private static func set(_ index: Int32, _ value: UInt8, in settings: inout termios) {
        unsafe withUnsafeMutableBytes(of: &settings.c_cc) { unsafe $0[Int(index)] = value }
    }
}
