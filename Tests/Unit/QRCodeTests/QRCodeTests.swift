import Testing

@testable import Basics

@Suite struct QRCodeTests {
    /// How many bytes versions 1, 2, … can hold (ISO/IEC 18004 table 7).
    @Test func `each version holds as many bytes as the standard says`() {
        let low = [17, 32, 53, 78, 106, 134, 154, 192, 230, 271, 321, 367, 425]
        let medium = [14, 26, 42, 62, 84, 106, 122, 152, 180, 213, 251, 287, 331]
        #expect(QRVersion.all.map { $0.byteCapacity(.low) } == low)
        #expect(QRVersion.all.map { $0.byteCapacity(.medium) } == medium)
        #expect(QRCode.bytesMax == 425)
    }

    /// ISO/IEC 18004 table 1.
    @Test func `each version has as many codewords as the standard says`() {
        let counts = [26, 44, 70, 100, 134, 172, 196, 242, 292, 346, 404, 466, 532]
        #expect(QRVersion.all.map(\.codewordCount) == counts)
    }

    /// ISO/IEC 18004 annex E.
    @Test func `alignment patterns stand where the standard puts them`() {
        #expect(QRVersion(number: 1).alignmentCentres == [])
        #expect(QRVersion(number: 2).alignmentCentres == [6, 18])
        #expect(QRVersion(number: 7).alignmentCentres == [6, 22, 38])
        #expect(QRVersion(number: 13).alignmentCentres == [6, 34, 62])
    }

    /// ISO/IEC 18004 annex I: "01234567" as version 1-M.
    @Test func `correction codewords are those of the standard's example`() {
        let data: [UInt8] = [
            0x10, 0x20, 0x0C, 0x56, 0x61, 0x80, 0xEC, 0x11, 0xEC, 0x11, 0xEC, 0x11, 0xEC, 0x11, 0xEC, 0x11,
        ]
        let correction: [UInt8] = [0xA5, 0x24, 0xD4, 0xC1, 0xED, 0x36, 0xC7, 0x87, 0x2C, 0x55]
        #expect(ReedSolomon(degree: 10).correction(for: data) == correction)
    }

    /// ISO/IEC 18004 annexes C and D.
    @Test func `format and version information are those of the standard's examples`() {
        #expect(ModuleGrid.format(0b101, .medium) == 0b100_0000_1100_1110)
        #expect(QRVersion(number: 7).versionInformation == 0b00_0111_1100_1001_0100)
        #expect(QRVersion(number: 6).versionInformation == nil)
    }

    @Test func `bytes follow mode and count, and padding fills the rest`() {
        let short = QRVersion(number: 1).data(Array("ab".utf8), .medium)
        #expect(short.prefix(6) == [0x40, 0x26, 0x16, 0x20, 0xEC, 0x11])
        #expect(short.count == 16)
        let full = QRVersion(number: 1).data(Array(repeating: 0xFF, count: 14), .medium)
        #expect(full == [0x40, 0xEF] + Array(repeating: 0xFF, count: 13) + [0xF0])
    }

    @Test func `the symbol is as small as can be, and as robust as its size allows`() {
        #expect(QRCode("")?.size == 21)
        #expect(QRCode(Array(repeating: 0, count: 14))?.correction == .medium)
        #expect(QRCode(Array(repeating: 0, count: 15))?.correction == .low)
        #expect(QRCode(Array(repeating: 0, count: 17))?.size == 21)
        #expect(QRCode(Array(repeating: 0, count: 18))?.size == 25)
        #expect(QRCode(Array(repeating: 0, count: 425))?.size == 69)
        #expect(QRCode(Array(repeating: 0, count: 426)) == nil)
    }

    @Test func `everything outside of the symbol is light`() throws {
        let code = try #require(QRCode("x"))
        #expect(code.isDark(row: 0, column: 0))
        #expect(!code.isDark(row: -1, column: 0))
        #expect(!code.isDark(row: 0, column: code.size))
    }

    /// Each rule alone, on symbols whose other modules alternate.
    @Test func `patterns that could mislead a reader cost the standard's penalty points`() throws {
        let grid = ModuleGrid(QRVersion(number: 1), QRVersion(number: 1).codewords(of: Array("x".utf8), .medium))
        let penalties = ModuleGrid.maskNumbers.map { grid.masked(by: $0, .medium).penalty }
        let best = grid.masked(.medium)
        #expect(penalties.min() == best.penalty)
        #expect(Set(penalties).count > 1)
        // The three finders alone give six penalties for lines that look like a finder: each in two directions.
        #expect(penalties.allSatisfy { $0 >= 6 * 40 })
    }

    /// The result of qrencode 4.1.1 for "Hello" in byte mode, version 1-M.
    @Test func `a whole symbol equals another encoder's`() {
        let picture = """
            #######..####.#######
            #.....#.....#.#.....#
            #.###.#.#.#.#.#.###.#
            #.###.#.#.#...#.###.#
            #.###.#.##..#.#.###.#
            #.....#.##.#..#.....#
            #######.#.#.#.#######
            ........#.#..........
            #.#####..#.#..#####..
            ...#....#..####..##.#
            ..#####..##.#.##.###.
            ..#..#.##.#####..##..
            .###..#####.#..#....#
            ........#...#..#.#...
            #######..#.#.#..#.##.
            #.....#.#.#....#####.
            #.###.#.#..#.#..#..#.
            #.###.#.##.#####.#...
            #.###.#.##..#.##..#..
            #.....#..#.####.###..
            #######.##..#...#..#.
            """
        let version = QRVersion(number: 1)
        let grid = ModuleGrid(version, version.codewords(of: Array("Hello".utf8), .medium))
        let same = ModuleGrid.maskNumbers.filter { number in
            let masked = grid.masked(by: number, .medium)
            let rows = (0..<masked.size).map { row in
                String((0..<masked.size).map { masked[row, $0] ? "#" : "." })
            }
            return rows.joined(separator: "\n") == picture
        }
        #expect(same.count == 1)
    }
}
