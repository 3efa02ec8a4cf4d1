internal import CommandLineProgram
internal import Glibc
internal import StandardDescriptors

StandardDescriptors.fillGaps()
// A daemon that goes away must be an error message, not a silent death; StandardOutput gives a closed pipe its usual end.
_ = signal(SIGPIPE, SIG_IGN)
if let command = ProgramName.command { exit(Authctl.run([command] + ProgramArguments.all).rawValue) }
exit(Authctl.run(ProgramArguments.all).rawValue)
