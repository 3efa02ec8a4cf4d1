internal import Terminal

/// Where the viewer looks: a picture redrawn in place on a terminal, or a line for each report.
struct Screen {
    private static let hideCursor = "\u{1B}[?25l"
    private static let showCursor = "\u{1B}[?25h"
    private static let clear = "\u{1B}[H\u{1B}[2J"
    private static let eraseToEndOfLine = "\u{1B}[K"
    private static let eraseBelow = "\u{1B}[J"

    /// Whether there is a picture; otherwise reports are all there is.
    let isDrawn: Bool
    private var drawnLines = 0
    private(set) var isBroken = false

    /// - Parameter wantsLines: print lines even where a picture could be drawn.
    init(wantsLines: Bool) {
        isDrawn = !wantsLines && TerminalStyle.standardOutput.canDraw
        if isDrawn { write(Self.hideCursor) }
    }

    /// Tells a report that `scene` has taken in already.
    mutating func show(_ report: Report, in scene: Scene) {
        guard !isDrawn else { return draw(scene) }
        write("\(WallClock.stamp(report.atUSec)) \(report.mark) \(report.text)\n")
    }

    /// Draws the scene anew, as of now; nothing where lines are printed.
    mutating func draw(_ scene: Scene) {
        guard isDrawn else { return }
        let lines = Picture(scene: scene, style: .standardOutput, nowUSec: WallClock.nowUSec).lines
        let home = drawnLines > 0 ? "\u{1B}[\(drawnLines)A\r" : ""
        // One write a frame: the terminal never shows half of one.
        write(home + lines.map { $0 + Self.eraseToEndOfLine + "\n" }.joined() + Self.eraseBelow)
        drawnLines = lines.count
    }

    /// A terminal that changes its width breaks lines anew: only a clean sheet helps.
    mutating func resize(_ scene: Scene) {
        guard isDrawn else { return }
        write(Self.clear)
        drawnLines = 0
        draw(scene)
    }

    /// Gives the terminal back as it was; the last picture stays.
    mutating func close() {
        if isDrawn { write(Self.showCursor) }
    }

    private mutating func write(_ text: String) {
        if !isBroken, !StandardOutput.write(text) { isBroken = true }
    }
}
