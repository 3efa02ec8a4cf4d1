internal import Basics

extension InvokedAs {
    /// The name on this machine. It is determined only when there is a text to show.
    static let here = choose(by: .real)

    /// Chooses the name.
    ///
    /// - Returns: `authrefreshctl` if a shell finds this program under that name, and not as `authctl`.
    static func choose(by surroundings: Surroundings) -> InvokedAs {
        func finds(_ called: InvokedAs) -> Bool {
            surroundings.program(named: called.name).map(surroundings.target) == surroundings.program
        }
        return !finds(.usual) && finds(.unmistakable) ? .unmistakable : .usual
    }
}
