// Nothing is declared here: the linker takes what this target defines in place of the Swift runtime's and the C library's own.
