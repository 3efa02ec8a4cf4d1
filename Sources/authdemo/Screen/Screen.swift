internal import Basics

/// The viewer's output: a picture that is redrawn in place on a terminal, or a line for each report.
struct Screen {
    private static let hideCursor = "\u{1B}[?25l"
    private static let showCursor = "\u{1B}[?25h"
    private static let clear = "\u{1B}[H\u{1B}[2J"
    private static let eraseToEndOfLine = "\u{1B}[K"
    private static let eraseBelow = "\u{1B}[J"

    /// Whether a picture is drawn. If not, only reports are printed.
    let isDrawn: Bool
    private var drawnLines = 0
    private(set) var isBroken = false

    /// Creates the screen.
    ///
    /// - Parameter wantsLines: whether to print lines even on a terminal.
    init(wantsLines: Bool) {
        isDrawn = !wantsLines && TerminalStyle.standardOutput.canDraw
        if isDrawn { write(Self.hideCursor) }
    }

    /// Shows a report that `scene` already contains.
    mutating func show(_ report: Report, in scene: Scene) {
        guard !isDrawn else { return draw(scene) }
        write("\(WallClock.stamp(report.atUSec)) \(report.mark) \(report.text)\n")
    }

    /// Redraws the scene; does nothing if lines are printed.
    mutating func draw(_ scene: Scene) {
        guard isDrawn else { return }
        let lines = Picture(scene: scene, style: .standardOutput, nowUSec: WallClock.nowUSec).lines
        let home = drawnLines > 0 ? "\u{1B}[\(drawnLines)A\r" : ""
        // One write per frame, so that the terminal never shows half of one.
        write(home + lines.map { $0 + Self.eraseToEndOfLine + "\n" }.joined() + Self.eraseBelow)
        drawnLines = lines.count
    }

    /// Clears the screen and redraws it, because a terminal wraps lines differently after its width has changed.
    mutating func resize(_ scene: Scene) {
        guard isDrawn else { return }
        write(Self.clear)
        drawnLines = 0
        draw(scene)
    }

    /// Restores the terminal. The last picture stays.
    mutating func close() {
        if isDrawn { write(Self.showCursor) }
    }

    private mutating func write(_ text: String) {
        if !isBroken, !StandardOutput.write(text) { isBroken = true }
    }
}
