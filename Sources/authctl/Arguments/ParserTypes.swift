internal import ArgumentParser

extension TokenFormat: ExpressibleByArgument {}

extension SignInFlow: ExpressibleByArgument {}

extension GrantOption: ExpressibleByArgument {}

extension TokenTypeOption: ExpressibleByArgument {}

extension LengthOfTime: ExpressibleByArgument {
    init?(argument: String) {
        self.init(argument)
    }
}
